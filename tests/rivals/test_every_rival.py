"""What holds of every rival in one place: the contract, planted and degenerate tables, permutations, bad input.

A law that some method cannot obey, by its formula, names that method; its own file then says what it does instead.
"""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from fedsieve import rivals
from fedsieve.catalog import registry
from fedsieve.errors import DataError, ParameterError
from fedsieve.ordering import ranked

ENTRIES = {name: entry for name, entry in registry().items() if not entry.federated and not entry.control}
SEMI_SUPERVISED = {"SFSS", "CSFS", "RLSR", "SCFC", "SFAM"}
SUPERVISED = set(ENTRIES) - SEMI_SUPERVISED


def every_method(*, but=(), of=ENTRIES):
    """One test per method, with a seed where it draws."""
    return pytest.mark.parametrize("name", [name for name in ENTRIES if name in set(of) - set(but)])


def build(name, *args, **parameters):
    factory = ENTRIES[name].factory
    if "random_state" in inspect.signature(factory).parameters:
        parameters = {"random_state": 0, **parameters}
    return factory(*args, **parameters)


def fit(name, X, Y, *args, **parameters):
    return build(name, *args, **parameters).fit(X, Y)


def order(name, X, Y, **parameters):
    return fit(name, X, Y, **parameters).order_.tolist()


def known(name, Y):
    """The labels as the method may see them: a semi-supervised one sees those of 3 rows in 10."""
    if name in SUPERVISED:
        return Y
    hidden = np.arange(len(Y)) % 10 >= 3
    return np.where(hidden[:, None], -1, Y)


@pytest.fixture
def noise(rng):
    """Noise, and labels of which none is as frequent as another."""
    return rng.random((200, 12)), (rng.random((200, 3)) < [0.3, 0.5, 0.4]).astype(float)


@pytest.fixture
def informative(noise, rng):
    """Features that tell more or less of a label."""
    X, Y = noise
    return X + Y[:, rng.integers(0, 3, 12)] * rng.random(12), Y


VARIANTS = [
    rivals.SFSS(1, mu=0.1, gamma=10.0, n_neighbors=2, unlabeled_weight=0.0, tol=0.0, max_iter=3),
    rivals.RLSR(1, soft_labels="box", n_inner=1),
    rivals.SCFC(1, refresh=True),
    rivals.D2F(1, n_bins=3),
    rivals.FSNM(1, gamma=0.1, fit_intercept=True, tol=0.0, max_iter=3),
    rivals.RFNMIFS(1, n_neighbors=2, gain=0.0),
    rivals.FIMF(1, n_bins=3, n_labels=2),
    rivals.MLFSNRS(1, keep=0.5),
    rivals.MLNRS(1, radius=0.4),
    rivals.MLFRS(1, n_neighbors=1, gain=0.0),
    rivals.BMFS(1, constant="published"),
    rivals.MGFS(1, constant="published"),
    rivals.MLACO(1, n_cycles=3, n_ants=2, decay=0.5, beta=2.0),
    rivals.GRMFS(2, mode="code", n_neighbors=1),
]


@parametrize_with_checks([rivals.D2F(), rivals.CSFS()])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks(
    [*(entry.factory() for entry in ENTRIES.values()), *VARIANTS],
    expected_failed_checks=lambda estimator: (
        {"check_transformer_n_iter": "the shared PageRank does not count its sweeps"}
        if isinstance(estimator, rivals.GRMFS)
        else {}
    ),
)
def test_scikit_learn_s_checks_in_full(estimator, check):
    check(estimator)


def test_the_registry_tells_what_they_need_and_how_sure_they_are():
    assert {name for name, entry in ENTRIES.items() if entry.supervision == "semi-supervised"} == SEMI_SUPERVISED
    assert {name for name, entry in ENTRIES.items() if entry.supervision == "supervised"} == SUPERVISED
    assert {entry.factory.__name__ for entry in ENTRIES.values()} < set(rivals.__all__)
    sure = {"text": {"SFSS"}, "our reading": {"SCFC", "SFAM", "RFNMIFS", "MLFS-NRS", "MLNRS", "MLFRS"}}
    for name, entry in ENTRIES.items():
        assert entry.fidelity == next((how for how, names in sure.items() if name in names), "code")


@every_method()
def test_the_contract_of_a_fit(name, informative):
    X, Y = informative
    before = X.copy(), Y.copy()
    fitted = fit(name, X, known(name, Y), 4)
    assert fitted.scores_.shape == (12,)
    assert np.isfinite(fitted.scores_).all()
    assert fitted.order_.dtype == np.int64
    assert_array_equal(fitted.order_, ranked(fitted.scores_))
    assert_array_equal(fitted.ranking_[fitted.order_], np.arange(1, 13))
    assert_array_equal(np.flatnonzero(fitted.support_), np.sort(fitted.order_[:4]))
    assert_array_equal(fitted.transform(X), X[:, np.sort(fitted.order_[:4])])
    assert build(name).fit(X, known(name, Y)).get_support().sum() == 5  # 0.4 of 12
    assert_array_equal(X, before[0])
    assert_array_equal(Y, before[1])


@every_method(but={"MLFRS", "MLACO"})
def test_blurred_copies_of_the_labels_are_on_top(name, noise, rng):
    X, Y = noise
    X[:, [1, 4, 8]] = Y + 0.2 * rng.random(Y.shape)
    assert set(order(name, X, known(name, Y))[:3]) == {1, 4, 8}


@every_method(but={"MLFRS", "MLFS-NRS"})
def test_copies_of_the_labels_with_wrong_bits_are_on_top(name, noise, rng):
    X, Y = noise
    X[:, [2, 5, 7]] = np.abs(Y - (rng.random(Y.shape) < 0.1))
    assert set(order(name, X, known(name, Y))[:3]) == {2, 5, 7}


@every_method(but={"MLFRS"})
def test_so_they_are_among_0_1_features(name, rng):
    X, Y = rng.integers(0, 2, (200, 20)).astype(float), rng.integers(0, 2, (200, 3))
    X[:, [2, 7, 15]] = np.abs(Y - (rng.random(Y.shape) < 0.05))
    assert set(order(name, X, known(name, Y))[:3]) == {2, 7, 15}


@every_method(but={"MLFRS", "BMFS"})
def test_a_feature_that_is_a_label_comes_first(name, noise):
    X, Y = noise
    X[:, 8] = Y[:, 1]
    assert order(name, X, known(name, Y))[0] == 8


@every_method(but={"MLFRS", "BMFS", "FSNM", "MLACO"})
def test_so_does_the_opposite_of_a_label(name, noise):
    X, Y = noise
    X[:, 8] = Y[:, 1]
    assert order(name, X, known(name, 1 - Y))[0] == 8


@every_method(but={"MLFRS"})
def test_more_features_than_rows(name, rng):
    X, Y = rng.random((60, 100)), rng.integers(0, 2, (60, 3)).astype(float)
    X[:, [20, 50, 70]] = Y
    assert set(order(name, X, known(name, Y))[:3]) == {20, 50, 70}


@every_method(but={"MLACO"})
@pytest.mark.parametrize("n_rows", [20, 200])
def test_permuted_features_permute_the_order(name, informative, rng, n_rows):
    X, Y = (part[:n_rows] for part in informative)
    moved = rng.permutation(12)
    there, here = fit(name, X[:, moved], known(name, Y)), fit(name, X, known(name, Y))
    assert moved[there.order_].tolist() == here.order_.tolist()


@every_method(but={"FSNM", "MLACO"})
def test_scale_and_offset_do_not_matter(name, rng):
    X, Y = rng.integers(0, 17, (60, 6)) / 16, rng.integers(0, 2, (60, 3))
    X[0], X[1] = 0.0, 1.0
    assert order(name, X * [1, 2, 4, 8, 16, 32] - 3, known(name, Y)) == order(name, X, known(name, Y))


@every_method()
def test_constant_features_follow_what_tells_a_label_in_index_order(name, rng):
    X, Y = rng.random((60, 6)), rng.integers(0, 2, (60, 3))
    X[:, [1, 3]] = 0.0 if name in {"FSNM", "MLACO"} else 7.0
    X[:, 4] = Y[:, 0]
    ranks = order(name, X, known(name, Y))
    assert ranks.index(4) < ranks.index(1) < ranks.index(3)


@every_method(but={"MLACO"})
def test_constant_features_alone_keep_their_order(name, rng):
    assert order(name, np.ones((9, 4)), known(name, rng.integers(0, 2, (9, 2)))) == [0, 1, 2, 3]


@every_method()
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_labels_are_ranked_by_all_the_same(name, rng, value):
    X = rng.random((30, 5))
    X[:, 2] = 7.0
    fitted = fit(name, X, known(name, np.full((30, 3), value)))
    assert sorted(fitted.order_) == [0, 1, 2, 3, 4]
    assert np.isfinite(fitted.scores_).all()


@every_method(of=("D2F", "FIMF", "MGFS"))
def test_constant_labels_leave_the_order_of_the_columns(name, rng):
    assert order(name, rng.random((30, 20)), np.ones((30, 3))) == list(range(20))


@every_method(but={"MLACO"})
def test_a_copy_of_a_feature_comes_behind_it(name, noise):
    X, Y = noise
    X[:, 9] = X[:, 4] if name == "FSNM" else 3 * X[:, 4] + 1
    ranks = order(name, X, known(name, Y))
    assert ranks.index(4) < ranks.index(9)


@every_method(of=("FIMF", "FSNM", "MGFS", "GRMFS", *SEMI_SUPERVISED))
@pytest.mark.parametrize("n_rows", [20, 200])
def test_copies_of_a_label_rank_side_by_side(name, noise, n_rows):
    X, Y = (part[:n_rows] for part in noise)
    X[:, [3, 8]] = Y[:, [1, 1]]
    fitted = fit(name, X, known(name, Y))
    assert fitted.scores_[3] == pytest.approx(fitted.scores_[8], rel=1e-9)
    assert fitted.ranking_[8] == fitted.ranking_[3] + 1


@every_method()
def test_one_label_in_either_form(name, noise):
    X, Y = noise
    y = Y[:, 0]
    X[:, 4] = y
    in_one_column = known(name, y[:, None])
    classes = in_one_column[:, 0] if name in SEMI_SUPERVISED else np.where(y == 1, "yes", "no")
    assert order(name, X, in_one_column) == order(name, X, classes)
    # Two classes are two labels, of which BMFS gives the feature to one.
    assert 4 in order(name, X, classes)[: 2 if name == "BMFS" else 1]


@every_method()
def test_more_labels_than_features_and_than_bits_of_a_word(name, rng):
    Y = (rng.random((80, 90)) < 0.1).astype(float)
    assert sorted(order(name, rng.random((80, 3)), known(name, Y))) == [0, 1, 2]


@every_method(of=("D2F", "FIMF", "MGFS", "MLACO", *SEMI_SUPERVISED))
def test_of_few_features_one_tells_one_of_many_labels(name, rng):
    Y = rng.integers(0, 2, (80, 9))
    X = rng.random((80, 8 if name == "MLACO" else 3))
    X[:, 1] = Y[:, 3]
    assert order(name, X, known(name, Y))[0] == 1


@every_method()
def test_two_rows_and_one_feature(name, rng):
    for Y in ([[1, 0], [0, 1]], [[1, 0], [1, 0]]):
        assert sorted(order(name, [[0.0, 1.0], [1.0, 1.0]], Y)) == [0, 1]
    assert order(name, rng.random((30, 1)), rng.integers(0, 2, (30, 5))) == [0]


@every_method()
def test_sparse_rows_give_the_dense_answer(name, rng):
    X = (rng.random((70, 80)) < 0.2).astype(float)
    Y = known(name, rng.integers(0, 2, (70, 3)))
    dense = order(name, X, Y)
    assert order(name, sparse.csr_array(X), Y) == order(name, sparse.csr_matrix(X), Y) == dense


@every_method()
def test_threads_change_nothing(name, monkeypatch, rng):
    X, Y = rng.random((150, 9)), known(name, rng.integers(0, 2, (150, 4)).astype(float))
    monkeypatch.setenv("FEDSIEVE_THREADS", "1")
    alone = fit(name, X, Y).scores_
    monkeypatch.setenv("FEDSIEVE_THREADS", "3")
    assert_array_equal(fit(name, X, Y).scores_, alone)


@every_method()
def test_labels_must_be_there_and_fit_the_rows(name, noise):
    X, Y = noise
    owner = ENTRIES[name].factory.__name__
    way_out = r"Rows without labels are -1\." if name in SEMI_SUPERVISED else r"It is a supervised method\."
    with pytest.raises(DataError, match=rf"^{owner}: requires y to be passed, but the target y is None\. {way_out}$"):
        build(name).fit(X)
    with pytest.raises(DataError, match=rf"^{owner}: X has 200 rows and y 199; they must be the same rows\.$"):
        build(name).fit(X, Y[1:])
    Y[3] = 1, -1, 0
    with pytest.raises(DataError, match=rf"^{owner}: labels must be 0 or 1; got -1 in row 3, label 1"):
        build(name).fit(X, Y)


@every_method(of=SUPERVISED)
def test_a_supervised_method_refuses_unlabeled_rows(name):
    owner = ENTRIES[name].factory.__name__
    with pytest.raises(DataError, match=rf"^{owner}: 1 unlabeled row \(-1\) in y\. It is a supervised method: give"):
        build(name).fit(np.eye(3), [[1, 0], [0, 1], [-1, -1]])


@every_method(of=SEMI_SUPERVISED)
@pytest.mark.parametrize("shape", [(200, 3), (200,)])
def test_a_semi_supervised_method_needs_some_labels(name, noise, shape):
    with pytest.raises(DataError, match=rf"^{name}: all rows of y are -1; at least some rows must be labeled\.$"):
        build(name).fit(noise[0], np.full(shape, -1))


@every_method()
@pytest.mark.parametrize("k", [0, 13])
def test_a_number_of_features_that_there_are_not_is_refused(name, noise, k):
    owner = ENTRIES[name].factory.__name__
    rule = r"a whole number in \[1, n_features=12\], or a share between 0 and 1"
    message = rf"^{owner}: n_features_to_select must be {rule}; got {k}\.$"
    with pytest.raises(ParameterError, match=message):
        build(name, k).fit(*noise)


WHOLE = "a whole number of at least {}".format
NOT_NEGATIVE, FINITE = "a number of at least 0", "a number of at least 0, and finite"
AUTO_ABOVE, AUTO_FROM = 'a number above 0, or "auto"', 'a number of at least 0, or "auto"'
NAN, INF = float("nan"), float("inf")
NO_WEIGHTS = (-1.0, INF, NAN, "much", True, None)
RULES = [
    ("SFSS", "mu", AUTO_ABOVE, (0, *NO_WEIGHTS)),
    ("SFSS", "gamma", AUTO_ABOVE, (0, *NO_WEIGHTS)),
    ("SFSS", "n_neighbors", WHOLE(1), (0, 1.5)),
    ("SFSS", "unlabeled_weight", NOT_NEGATIVE, (-1, "auto")),
    ("CSFS", "alpha", AUTO_ABOVE, (0, *NO_WEIGHTS)),
    ("RLSR", "gamma", AUTO_ABOVE, (0, *NO_WEIGHTS)),
    ("RLSR", "soft_labels", "one of 'simplex', 'normalized', 'box'", ("hard",)),
    ("RLSR", "n_inner", WHOLE(1), (0,)),
    ("SCFC", "alpha", AUTO_FROM, NO_WEIGHTS),
    ("SCFC", "beta", AUTO_ABOVE, (0, *NO_WEIGHTS)),
    ("SCFC", "n_neighbors", WHOLE(1), (0,)),
    ("SFAM", "alpha", AUTO_FROM, NO_WEIGHTS),
    ("SFAM", "beta", AUTO_FROM, NO_WEIGHTS),
    ("SFAM", "gamma", AUTO_ABOVE, (0, *NO_WEIGHTS)),
    ("SFAM", "rho", "a number above 0", (0, "auto")),
    ("SFAM", "n_neighbors", WHOLE(1), (0,)),
    *((name, "tol", NOT_NEGATIVE, (-1e-3, "no")) for name in sorted(SEMI_SUPERVISED)),
    *((name, "max_iter", WHOLE(1), (0, 2.5)) for name in sorted(SEMI_SUPERVISED)),
    ("D2F", "n_bins", WHOLE(2), (1, 2.5, True, "many", None)),
    ("FIMF", "n_bins", WHOLE(2), (1, 2.5)),
    ("FIMF", "n_labels", WHOLE(1), (0,)),
    ("FSNM", "gamma", "a number above 0", (0, INF, "much")),
    ("FSNM", "tol", NOT_NEGATIVE, (-1e-3, NAN)),
    ("FSNM", "max_iter", WHOLE(1), (0, 2.5)),
    *((name, "gain", FINITE, (-1.0, NAN, INF)) for name in ("RFNMIFS", "MLFS-NRS", "MLNRS", "MLFRS")),
    *((name, "n_neighbors", WHOLE(1), (0, 2.5, True)) for name in ("RFNMIFS", "MLFRS")),
    ("MLFS-NRS", "keep", "a number in (0, 1]", (0.0, 1.5, NAN)),
    ("MLNRS", "radius", FINITE, (-0.1, INF)),
    ("BMFS", "constant", "one of 'last', 'published'", ("first",)),
    ("MGFS", "constant", "one of 'last', 'published'", ("first",)),
    ("MLACO", "n_cycles", WHOLE(1), (0, 2.5, True, "many", None)),
    ("MLACO", "n_ants", WHOLE(1), (0, 2.5, True, "many", None)),
    ("MLACO", "decay", "a number in [0, 1]", (-0.1, 1.5, "some")),
    ("MLACO", "beta", "a number in [0, 10]", (-1.0, 11, NAN)),
    ("GRMFS", "mode", "one of 'paper', 'code'", ("book",)),
    ("GRMFS", "lam", "a number above 0 and finite", (0.0, INF)),
    ("GRMFS", "n_neighbors", WHOLE(1), (0,)),
    ("GRMFS", "damping", "a number in [0, 1)", (1.0, -0.1)),
    ("GRMFS", "tol", "a number of at least 0, or None", (-1.0,)),
    ("GRMFS", "max_iter", WHOLE(1), (0,)),
]


@pytest.mark.parametrize(
    ("name", "parameter", "rule", "value"),
    [(name, parameter, rule, value) for name, parameter, rule, values in RULES for value in values],
)
def test_bad_parameters_are_named(name, parameter, rule, value, noise):
    with pytest.raises(ParameterError) as refused:
        build(name, **{parameter: value}).fit(*noise)
    assert str(refused.value) == f"{ENTRIES[name].factory.__name__}: {parameter} must be {rule}; got {value!r}."


@every_method()
def test_every_parameter_has_a_rule_here(name):
    """But flags, seeds and the number of features to select."""
    without = {"n_features_to_select", "random_state", "fit_intercept", "refresh"}
    parameters = set(inspect.signature(ENTRIES[name].factory).parameters) - without
    assert {parameter for method, parameter, _, _ in RULES if method == name} == parameters
