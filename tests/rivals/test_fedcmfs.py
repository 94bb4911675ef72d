"""FedCMFS: the three steps against plain loops, wire forms, pooled statistics, planted and degenerate tables."""

import os

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks

from fedsieve import datasets
from fedsieve.errors import ParameterError
from fedsieve.methods import causal_search
from fedsieve.rivals.fedcmfs import FedCMFS
from reference.rivals.fedcmfs_loops import fedcmfs_loops
from sites_with_labels import fit, pooled, sites_with_labels, split

STEPS = ("found", "recovered", "kept")
SEARCH = {
    "alpha": st.sampled_from([None, 0.001, 0.2, 1.0]),
    "max_conditioning": st.integers(0, 3),
    "max_pool": st.integers(1, 10),
}
PARAMETERS = st.fixed_dictionaries({**SEARCH, "combine": st.sampled_from(["p-values", "votes", "pooled"])})
SEARCHES = st.fixed_dictionaries(SEARCH)


@pytest.mark.full
@parametrize_with_checks([FedCMFS(), FedCMFS(1, combine="pooled", alpha=0.2, max_pool=2)])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def assert_as_by_loops(sites, parameters):
    found, slow = fit(FedCMFS(**parameters), sites), fedcmfs_loops(sites, **parameters)
    n_features = sites[0][0].shape[1]
    for step in STEPS:
        mask = [[feature in near for near in slow[step]] for feature in range(n_features)]
        assert getattr(found, f"{step}_").tolist() == mask, step
    assert found.order_.tolist() == slow["order"]
    assert found.n_kept_ == len(set().union(*slow["kept"]))


def assert_same(first, second):
    for step in STEPS:
        assert_array_equal(getattr(first, f"{step}_"), getattr(second, f"{step}_"))
    assert_array_equal(first.order_, second.order_)
    assert_allclose(first.scores_, second.scores_, atol=1e-9)


@given(sites_with_labels(), PARAMETERS)
def test_every_step_and_the_order_are_those_of_plain_loops(sites, parameters):
    assert_as_by_loops(sites, parameters)


@given(sites_with_labels(kinds=("noise", "of a label", "of a feature"), min_rows=30, max_rows=60), PARAMETERS)
def test_every_step_is_that_of_plain_loops_where_sites_see_what_separates_what(sites, parameters):
    assert_as_by_loops(sites, parameters)


@pytest.mark.skipif("FEDSIEVE_DATA" not in os.environ, reason="FEDSIEVE_DATA names no local mirror")
@pytest.mark.parametrize(
    "parameters", [{}, {"combine": "pooled", "max_pool": 4}, {"alpha": 0.01, "max_conditioning": 1}], ids=str
)
def test_emotions_at_four_sites_are_searched_as_by_plain_loops(parameters):
    data = datasets.load("emotions")
    assert_as_by_loops(split(data.X[:, ::4], data.Y, [300, 150, 100, 43]), parameters)


@given(sites_with_labels(), PARAMETERS, st.randoms(use_true_random=False))
def test_neither_the_clients_order_nor_their_names_matter(sites, parameters, random):
    (X, Y), *others = sites
    before = FedCMFS(**parameters).fit(X, Y, clients=others)
    random.shuffle(others)
    after = FedCMFS(**parameters).fit(X, Y, clients=dict(zip(["zoo", "a b", "größe"], others, strict=False)))
    assert_same(after, before)


@given(sites_with_labels(kinds=("noise", "of a label"), min_rows=6), PARAMETERS, st.randoms(use_true_random=False))
def test_permuted_features_have_permuted_results(sites, parameters, random):
    """Without ties, which go to the smaller index; of two rows, all columns are correlated alike."""
    moved = list(range(sites[0][0].shape[1]))
    random.shuffle(moved)
    before = fit(FedCMFS(**parameters), sites)
    assume(len(np.unique(before.relevance_.round(9))) == len(moved))
    after = fit(FedCMFS(**parameters), [(X[:, moved], Y) for X, Y in sites])
    for step in STEPS:
        assert_array_equal(getattr(after, f"{step}_"), getattr(before, f"{step}_")[moved])
    assert_array_equal(np.array(moved)[after.order_], before.order_)


@settings(max_examples=40)
@given(sites_with_labels(), SEARCHES, st.data())
def test_pooled_the_result_does_not_depend_on_who_holds_which_rows(sites, parameters, data):
    X, Y = pooled(sites)
    here = FedCMFS(**parameters).fit(X, Y)
    assert_same(fit(FedCMFS(combine="pooled", **parameters), sites), here)
    n_rows = len(X)
    order = np.array(data.draw(st.permutations(range(n_rows))))
    first = data.draw(st.integers(2, n_rows - 4))
    second = data.draw(st.integers(2, n_rows - first - 2))
    others = split(X[order], Y[order], [first, second, n_rows - first - second])
    assert_same(fit(FedCMFS(combine="pooled", **parameters), others), here)


@given(sites_with_labels(), SEARCHES)
def test_sites_that_make_the_tests_themselves_find_the_same_to_the_last_bit(sites, parameters):
    statistics = fit(FedCMFS(**parameters), sites)
    tests = fit(FedCMFS(wire="tests", **parameters), sites)
    assert_same(tests, statistics)
    assert_array_equal(tests.scores_, statistics.scores_)


@pytest.mark.filterwarnings("ignore::fedsieve.errors.SiteShiftWarning")  # which it deserves
def test_one_site_s_outlier_costs_the_others_no_digit(rng):
    """Correlations are of one site's rows, scaled by its own ranges, however far another site's values reach."""
    X, Y = rng.random((60, 2)), rng.integers(0, 2, (60, 2))
    X[:20, 0] = 0.0  # constant at the first site, which then tells nothing of it
    sites = split(X, Y, [20] * 3)
    constant = fit(FedCMFS(), sites)
    far = [
        (own + np.array([1e9, 0.0]), labels) if number == 0 else (own, labels)
        for number, (own, labels) in enumerate(sites)
    ]
    assert_allclose(fit(FedCMFS(), far).relevance_, constant.relevance_, rtol=1e-12)


def test_sites_that_see_nothing_outvote_others_only_with_more_rows(rng):
    """The feature decides the label at two sites and is noise at the third, which alone spoils a mean of p-values."""

    def sites(n_noise):
        X = rng.normal(size=(80 + n_noise, 1))
        Y = (X > 0).astype(np.int64)
        X[80:] = np.resize([[0], [1], [1], [0]], (n_noise, 1))
        Y[80:] = np.resize([[0], [0], [1], [1]], (n_noise, 1))
        return split(X, Y, [40, 40, n_noise])

    few, as_many, more = sites(20), sites(80), sites(84)
    assert not fit(FedCMFS(), few).found_.any()
    for wire in ("statistics", "tests"):
        assert fit(FedCMFS(combine="votes", wire=wire), few).found_.all()
        assert fit(FedCMFS(combine="votes", wire=wire), as_many).found_.all()
        assert not fit(FedCMFS(combine="votes", wire=wire), more).found_.any()


def test_a_wire_form_sends_what_it_says(rng):
    X, Y = rng.random((60, 4)), rng.integers(0, 2, (60, 2))
    forms = {
        FedCMFS(): ["Covariances"],
        FedCMFS(combine="pooled"): ["Ranges", "Covariances"],
        FedCMFS(wire="tests"): ["PartialCorrelations"],
    }
    for method, kinds in forms.items():
        found = fit(method, split(X, Y, [20] * 3))
        sent = dict.fromkeys(entry.kind for entry in found.transcript_ if entry.sender != "server")
        assert list(sent) == kinds


@settings(max_examples=20)
@given(sites_with_labels(), SEARCHES, st.integers(1, 9))
def test_how_many_tests_go_out_together_changes_nothing(sites, parameters, n_tests):
    whole = fit(FedCMFS(wire="tests", **parameters), sites)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(causal_search, "MAX_TESTS", n_tests)
        assert_same(fit(FedCMFS(wire="tests", **parameters), sites), whole)


@given(sites_with_labels(), PARAMETERS)
def test_the_order_is_by_labels_then_by_association_and_scores_say_so(sites, parameters):
    found = fit(FedCMFS(**parameters), sites)
    n_labels, strongest = found.kept_.sum(axis=1)[found.order_], found.relevance_[found.order_]
    assert np.all(np.diff(n_labels) <= 0)
    same = np.diff(n_labels) == 0
    assert np.all(np.diff(strongest)[same] <= 1e-9)
    assert np.all(np.diff(found.scores_[found.order_]) <= 1e-9)
    assert np.all((found.relevance_ >= 0) & (found.relevance_ <= 1 + 1e-9))


@given(sites_with_labels(), SEARCHES)
def test_what_is_recovered_was_not_found_and_what_is_kept_was_one_of_them(sites, parameters):
    found = fit(FedCMFS(**parameters), sites)
    assert np.all(found.recovered_ | ~found.found_)
    assert np.all(found.recovered_ | ~found.kept_)


@pytest.fixture
def noise(rng):
    return rng.random((300, 12)), rng.integers(0, 2, (300, 3)).astype(float)


def test_noisy_copies_of_the_labels_are_on_top(noise, rng):
    X, Y = noise
    X[:, [2, 5, 7]] = np.abs(Y - (rng.random(Y.shape) < 0.1)) + 0.2 * rng.random(Y.shape)
    found = fit(FedCMFS(), split(X, Y, [100] * 3))
    assert set(found.order_[:3]) == {2, 5, 7}
    assert_array_equal(found.kept_[[2, 5, 7]], np.eye(3, dtype=bool))


def test_a_feature_that_is_a_label_comes_first_with_all_association(noise):
    X, Y = noise
    X[:, 8] = 1 - Y[:, 1]
    found = fit(FedCMFS(), split(X, Y, [100] * 3))
    assert found.order_[0] == 8
    assert found.relevance_[8] == pytest.approx(1)
    assert found.kept_[8].tolist() == [False, True, False]


@pytest.mark.parametrize("combine", ["p-values", "votes", "pooled"])
def test_a_constant_feature_is_near_no_label_and_comes_last(noise, combine):
    X, Y = noise
    X[:, 4] = 0.1  # whose mean is not 0.1 in floating point
    found = fit(FedCMFS(combine=combine, alpha=1.0), split(X, Y, [97, 101, 102]))
    assert not found.found_[4].any()
    assert (found.relevance_[4], found.order_[-1]) == (0, 4)


def test_of_duplicates_the_first_stays(noise):
    X, Y = noise
    X[:, 6] = Y[:, 0] + 0.5 * X[:, 6]
    X[:, 9] = X[:, 6]
    found = fit(FedCMFS(), split(X, Y, [100] * 3))
    assert found.kept_[[6, 9], 0].tolist() == [True, False]
    assert found.order_[0] == 6


@given(st.integers(0, 2**32 - 1))
def test_of_copies_in_other_units_the_first_stays_whatever_rounding_makes_of_them(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(90) % 2
    x = y + 0.5 * rng.normal(size=90)
    found = fit(FedCMFS(), split(x[:, None] * rng.normal(size=6), y, [30] * 3))
    assert found.kept_.ravel().tolist() == [True] + [False] * 5
    assert found.order_.tolist() == list(range(6))


def test_more_labels_than_features(rng):
    Y = rng.integers(0, 2, (90, 9)).astype(float)
    X = np.stack([rng.random(90), Y[:, 3] + 0.1 * rng.random(90)], axis=1)
    found = fit(FedCMFS(), split(X, Y, [30] * 3))
    assert found.order_.tolist() == [1, 0]
    assert found.kept_.shape == (2, 9)


def test_a_site_where_a_label_never_varies_has_no_say_about_it(noise):
    X, Y = noise
    X[:, 3] = Y[:, 0] + 0.1 * X[:, 3]
    Y[100:, 0] = 1.0
    sites = split(X, Y, [100] * 3)
    found = fit(FedCMFS(), sites)
    assert found.kept_[3, 0]
    assert found.relevance_[3] == pytest.approx(fit(FedCMFS(), [sites[0]] * 3).relevance_[3] / 3)


def test_sites_of_too_few_rows_cannot_tell_and_nothing_is_found(rng):
    Y = rng.integers(0, 2, (9, 2)).astype(float)
    found = fit(FedCMFS(alpha=1.0), split(np.hstack([Y, Y]), Y, [3] * 3))
    assert found.n_kept_ == 0
    assert FedCMFS(alpha=1.0).fit(np.hstack([Y, Y]), Y).n_kept_ > 0


@pytest.mark.parametrize(("n_rows", "level"), [(5000, 0.05), (5001, 0.01)])
def test_chance_is_judged_more_strictly_above_five_thousand_rows(n_rows, level):
    y = np.arange(n_rows) % 2
    agrees = np.arange(n_rows) < 0.5154 * n_rows  # a correlation of 0.031, whose p-value is 0.03
    found = FedCMFS().fit(np.where(agrees, y, 1 - y)[:, None], y)
    assert found.found_.item() == (level >= 0.03)


@pytest.mark.parametrize("wire", ["statistics", "tests"])
def test_one_label_in_either_form_is_one_label(noise, wire):
    X, Y = noise
    X[:, 4] = Y[:, 0] + X[:, 4]
    column = fit(FedCMFS(wire=wire), split(X, Y[:, [0]], [100] * 3))
    assert (column.order_[0], column.kept_.shape, column.n_kept_ > 0) == (4, (12, 1), True)
    words = np.where(Y[:, 0] == 1, "yes", "no")
    assert_same(fit(FedCMFS(wire=wire), split(X, words, [100] * 3)), column)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"alpha": -0.1}, "alpha must be in [0, 1]; got -0.1."),
        ({"alpha": 1.5}, "alpha must be in [0, 1]; got 1.5."),
        ({"alpha": "strict"}, "alpha must be in [0, 1]; got 'strict'."),
        ({"alpha": True}, "alpha must be in [0, 1]; got True."),
        ({"max_conditioning": -1}, "max_conditioning must be a whole number in [0, 5]; got -1."),
        ({"max_pool": 0}, "max_pool must be a whole number of at least 1; got 0."),
        ({"combine": "vote"}, "combine must be one of 'p-values', 'votes', 'pooled'; got 'vote'."),
        ({"wire": "vectors"}, "wire must be one of 'statistics', 'tests'; got 'vectors'."),
        (
            {"combine": "pooled", "wire": "tests"},
            "combine='pooled' adds up the sites' statistics, which wire='tests' does not send. Use wire='statistics'.",
        ),
    ],
    ids=str,
)
def test_bad_parameters_are_named(noise, parameters, said):
    with pytest.raises(ParameterError) as refused:
        FedCMFS(**parameters).fit(*noise)
    assert str(refused.value) == f"FedCMFS: {said}"
