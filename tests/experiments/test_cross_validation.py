"""`fedsieve.evaluate`: against loops, no row of a fold is looked at before it is tested, and noise stays noise."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB

import fedsieve
from fedsieve import SSFMLFS, MLkNN, Sieve, partition
from fedsieve.catalog import ALL_FEATURES, RANDOM
from fedsieve.errors import DataError, FedSieveWarning, ParameterError
from reference import evaluation_loops


class Correlated(BaseEstimator):
    """Features by their largest correlation with a label: quick, and eager to find something in noise."""

    def __init__(self, k=2):
        self.k = k

    def fit(self, X, Y):
        X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
        d = X.shape[1]
        self.order_ = np.argsort(-np.abs(np.nan_to_num(np.corrcoef(X.T, Y.T)))[:d, d:].max(axis=1), kind="stable")
        return self

    def get_support(self):
        return np.isin(np.arange(len(self.order_)), self.order_[: self.k])


class Watched(Correlated):
    """Keeps what it was given; a selector is cloned, so the notes belong to the class."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, Y, clients=None):
        type(self).seen.append((np.asarray(X)[:, 0].astype(int), np.asarray(Y), clients))
        return super().fit(np.asarray(X), np.where(np.asarray(Y) < 0, 0, Y))


@pytest.fixture
def table(rng):
    X = rng.random((60, 6))
    return X, np.column_stack([X[:, 1] > 0.5, X[:, 1] + X[:, 4] > 1, X[:, 4] > 0.7]).astype(int)


def by_ml_knn(X, Y, queries):
    return MLkNN(n_neighbors=10).fit(X, Y).predict_proba(queries).tolist()


def correlated(k):
    return lambda X, Y: Correlated(k).fit(X, Y).order_[:k].tolist()


def ap(found, method, size):
    rows = [row for row in found.rows if row["method"] == method and row["n_features"] == size]
    return [row["average_precision"] for row in rows]


def test_values_and_intervals_are_those_of_the_loops(table):
    X, Y = table
    found = fedsieve.evaluate(Correlated(2), X, Y, classifiers=["ML-kNN"], sizes=[4], n_repeats=2, n_folds=3, n_draws=2)
    folds = [fold for repeat in (0, 1) for fold in partition.stratified_folds(Y, 3, [0, repeat])]
    given = X.tolist(), Y.tolist()
    expected = {size: evaluation_loops.judged(*given, correlated(size), by_ml_knn, folds) for size in (2, 4)}
    for size, values in expected.items():
        assert ap(found, "Correlated", size) == pytest.approx(values, abs=1e-12)
    everything = evaluation_loops.judged(*given, lambda *_: range(6), by_ml_knn, folds)
    assert ap(found, ALL_FEATURES, 6) == pytest.approx(everything, abs=1e-12)
    gains = [ours - theirs for ours, theirs in zip(expected[2], everything, strict=True)]
    told = found.gain(ALL_FEATURES, "ML-kNN")
    assert (told.low, told.high) == pytest.approx(evaluation_loops.interval(gains, 3), abs=1e-9)
    assert told.mean == pytest.approx(np.mean(gains), abs=1e-9)


def by_bayes(X, Y, queries):
    return np.asarray(OneVsRestClassifier(GaussianNB()).fit(X, Y).predict_proba(queries)).tolist()


def test_noise_is_no_better_than_random_unless_the_selection_has_seen_the_test_rows():
    """Pure noise and random labels: the leaky twin finds something there, the evaluation does not."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X, Y = rng.random((60, 500)), rng.integers(0, 2, (60, 3))
        how = {"classifiers": [GaussianNB()], "sizes": [10], "n_repeats": 3, "n_draws": 2, "random_state": seed}
        found = fedsieve.evaluate(Correlated(10), X, Y, **how)
        assert not found.gain(RANDOM, "GaussianNB").low > 0
        folds = [fold for repeat in range(3) for fold in partition.stratified_folds(Y, 5, [seed, repeat])]
        leaky = evaluation_loops.judged(X.tolist(), Y.tolist(), correlated(10), by_bayes, folds, leaky=True)
        gains = np.subtract(leaky, ap(found, RANDOM, 10))
        assert evaluation_loops.interval(gains, 5)[0] > 0
        # An order that was found on the same rows is such a leak, which is why the result says so.
        given = fedsieve.evaluate(Correlated(10).fit(X, Y).order_[:10], X, Y, **how)
        assert ap(given, "given order", 10) == pytest.approx(leaky, abs=1e-9)


def test_sieve_finds_nothing_in_noise_either(rng):
    X, Y = rng.random((50, 60)), rng.integers(0, 2, (50, 2))
    found = fedsieve.evaluate(Sieve(6, n_bootstraps=0, n_trees=20), X, Y, sizes=[6], n_repeats=1, n_folds=4)
    assert all(found.gain(RANDOM, classifier).low <= 0 for classifier in found.classifiers)
    assert found.verdict[3].startswith("Not ")


def test_no_selector_sees_a_row_of_its_fold_and_clients_come_whole(table):
    X, Y = table
    X = np.column_stack([np.arange(60), X])
    clients = {"a": np.full((5, 7), 900.0), "b": np.full((4, 7), 901.0)}
    Watched.seen = []
    how = {"classifiers": ["ML-kNN"], "sizes": [3], "n_draws": 1}
    fedsieve.evaluate(Watched(3), X, Y, clients=clients, n_repeats=2, n_folds=4, **how)
    folds = [fold for repeat in (0, 1) for fold in partition.stratified_folds(Y, 4, [0, repeat])]
    assert len(Watched.seen) == 8
    for (rows, labels, brought), fold in zip(Watched.seen, folds, strict=True):
        assert sorted(rows) == sorted(set(range(60)) - set(fold.tolist()))
        assert np.array_equal(labels, Y[rows])
        assert {name: len(table) for name, table in brought.items()} == {"a": 5, "b": 4}


def test_unlabeled_rows_help_in_every_fold_and_are_tested_in_none(table):
    X, Y = table
    X, Y = np.column_stack([np.arange(60), X]), np.where(np.arange(60)[:, None] % 4 == 0, -1, Y)
    Watched.seen = []
    found = fedsieve.evaluate(Watched(3), X, Y, classifiers=["ML-kNN"], n_repeats=1, n_folds=3)
    assert found.n_rows == 45
    tested = [set(range(60)) - set(rows.tolist()) for rows, _, _ in Watched.seen]
    assert sorted(row for rows in tested for row in rows) == [row for row in range(60) if row % 4]


@pytest.mark.parametrize("selector", [Sieve(2, n_trees=20, n_bootstraps=0), SSFMLFS(2)], ids=["Sieve", "SSFMLFS"])
def test_with_files_of_sites_methods_of_every_kind_can_be_compared(table, rng, selector):
    X, Y = table
    names = [f"f{i}" for i in range(6)]
    sites = {name: pd.DataFrame(rng.random((20, 6)), columns=names)[names[::-1]] for name in ("north", "south")}
    others = ["GRMFS", "rlsr", "FMLFS", "largest deviation", "random"]
    found = fedsieve.evaluate(
        selector, pd.DataFrame(X, columns=names), Y, sites, against=others, n_repeats=1, n_folds=2, n_draws=1, sizes=[2]
    )
    assert found.others == (RANDOM, ALL_FEATURES, "GRMFS", "RLSR", "FMLFS", "largest deviation")
    assert {row["method"] for row in found.summary} == {found.method, *found.others}
    assert found.chosen["f1"] == 1.0
    assert str(found).startswith(f"{type(selector).__name__}: 2 of 6 features, judged in 2 folds of 60 labeled")


def test_a_federated_method_whose_clients_hold_labels_gets_them(table, rng):
    X, Y = table
    pairs = {name: (rng.random((20, 6)), rng.integers(0, 2, (20, 3))) for name in ("north", "south")}
    how = {"n_repeats": 1, "n_folds": 2, "n_draws": 1, "sizes": [2], "classifiers": ["ML-kNN"]}
    with_labels = fedsieve.evaluate(fedsieve.FMLFS(2), X, Y, pairs, against=["SSFMLFS"], **how)
    alone = fedsieve.evaluate(fedsieve.FMLFS(2), X, Y, **how)
    assert with_labels.chosen != alone.chosen or with_labels.rows != alone.rows


@pytest.mark.parametrize("name", [name for name in fedsieve.registry() if name not in (RANDOM, ALL_FEATURES)])
@pytest.mark.parametrize("sites", ["none", "labeled"])
def test_every_method_selects_where_a_value_is_missing(table, rng, name, sites):
    """Methods in one place get means; of federated ones whose clients hold labels, these have gaps as well."""
    X, Y = table
    X = np.where(np.arange(X.size).reshape(X.shape) == 7, np.nan, X)
    pairs = {site: (X[:30] + 0.01 * rng.random((30, 6)), Y[:30]) for site in ("north", "south")}
    selector = fedsieve.registry()[name].factory
    way = {"SSFMLFS": {"missing": "unrelated"}}.get(name, {})
    found = fedsieve.evaluate(
        selector(**way), X, Y, pairs if sites == "labeled" else None,
        n_repeats=1, n_folds=2, n_draws=1, sizes=[2], classifiers=["logistic"],
    )  # fmt: skip
    assert sum(found.chosen.values()) > 0


def test_where_clients_have_no_labels_it_is_said_which_method_made_nothing_of_them(table, rng):
    X, Y = table
    sites = {name: rng.random((40, 6)) for name in ("a", "b")}
    usual = {"sizes": [3], "n_folds": 3, "n_repeats": 1, "classifiers": ["logistic"]}
    beside = fedsieve.evaluate(Correlated(), X, Y, sites, against=["FMLFS", "MGFS"], **usual)
    assert beside.notes == (
        "FMLFS: its clients hold labels, and these have none, so that it selected from the labeled rows alone.",
    )
    assert beside.verdict[-1] == beside.notes[0]
    assert not fedsieve.evaluate(Correlated(), X, Y, against=["FMLFS"], **usual).notes  # there are no clients


def test_text_codes_and_gaps_reach_selector_and_classifier(table, rng):
    X, Y = table
    color = np.where(X[:, 1] > 0.5, "red", "blue").astype(object)
    frame = pd.DataFrame({"color": color, "ward": rng.integers(0, 3, 60) * 7, "dose": X[:, 4], "x": rng.random(60)})
    frame.loc[3, "dose"] = np.nan
    frame.loc[5, "color"] = None
    selector = Sieve(2, nominal=["ward"], n_trees=20, n_bootstraps=0)
    how = {"n_repeats": 1, "n_folds": 3, "n_draws": 1, "sizes": [1]}
    found = fedsieve.evaluate(selector, frame, Y, against=["D2F"], **how)
    assert (found.chosen["color"], found.chosen["dose"]) == (1.0, 1.0)
    assert found.mean("Sieve", "logistic", "own") > 0.9


def test_a_column_that_names_the_rows_is_no_feature(table):
    X, Y = table
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(patient_id=np.arange(60) + 100_000)
    selector = Sieve(2, n_trees=10, n_bootstraps=0)
    with pytest.warns(FedSieveWarning, match="columns are left out: 'patient_id'"):
        found = fedsieve.evaluate(selector, frame, Y, sizes=[6], n_repeats=1, n_folds=2, classifiers=["ML-kNN"])
    assert found.n_features == 6
    assert found.chosen["patient_id"] == 0
    for method in (RANDOM, ALL_FEATURES):
        assert ap(found, method, 6) == pytest.approx(ap(found, "Sieve", 6), abs=1e-12)


def test_codes_are_told_apart_not_ordered(rng):
    """Of codes 0, 1, 2 the middle one has the label: as a number the column says nothing to a linear model."""
    code = np.arange(90) % 3
    X = np.column_stack([code, rng.random(90)])
    Y = np.column_stack([code == 1, code != 1]).astype(int)
    numbers, codes = (
        fedsieve.evaluate(
            Sieve(1, nominal=nominal, n_trees=20, n_bootstraps=0),
            *(X, Y),
            classifiers=["logistic"],
            n_repeats=1,
            n_folds=3,
            n_draws=1,
        ).mean(ALL_FEATURES, "logistic", "own")
        for nominal in ((), (0,))
    )
    assert codes == 1.0
    assert numbers < 0.9


def test_an_order_is_judged_as_it_is_and_the_result_says_so(table):
    X, Y = table
    names = list("abcdef")
    frame = pd.DataFrame(X, columns=names)
    how = {"n_repeats": 1, "n_folds": 3, "classifiers": ["ML-kNN"]}
    by_name = fedsieve.evaluate(["b", "e", "a"], frame, Y, sizes=[1, 5], **how)
    by_index = fedsieve.evaluate(np.array([1, 4, 0]), X, Y, sizes=[1, 5], **how)
    assert by_name.rows == by_index.rows
    assert by_name.method == "given order"
    assert by_name.sizes == (1,)  # of five features it says nothing
    assert by_name.mean("given order", "ML-kNN", "own", "n_features") == 3
    assert "may be the same as these" in by_name.verdict[-1]
    whole = fedsieve.evaluate([1, 4, 0, 2, 3, 5], X, Y, **how)
    assert whole.mean("given order", "ML-kNN", "own", "n_features") == 2  # the default of six


def test_the_number_that_auto_chooses_is_its_own_in_every_fold(rng):
    X = rng.random((90, 10))
    Y = np.column_stack([X[:, 1] > 0.5, X[:, 4] > 0.7]).astype(int)
    selector = Sieve("auto", n_trees=10, n_bootstraps=0)
    found = fedsieve.evaluate(selector, X, Y, n_repeats=1, n_folds=3, classifiers=["ML-kNN"], sizes=[9], n_draws=1)
    folds = partition.stratified_folds(Y, 3, [0, 0])
    sizes = []
    for fold in folds:
        train = np.delete(np.arange(90), fold)
        sizes.append(int(Sieve("auto", n_trees=10, n_bootstraps=0).fit(X[train], Y[train]).support_.sum()))
    own = [row["n_features"] for row in found.rows if row["method"] == "Sieve" and row["own"]]
    assert own == sizes
    assert found.mean(RANDOM, "ML-kNN", "own", "n_features") == pytest.approx(np.mean(sizes))


def test_any_classifier_of_scikit_learn_judges(table):
    X, Y = table
    judges = {"forest": RandomForestClassifier(3, random_state=0), "ridge": RidgeClassifier(), "bayes": GaussianNB()}
    judges |= {"line": LogisticRegression(), "ours": "ML-kNN"}
    found = fedsieve.evaluate([1, 4], X, Y, classifiers=judges, n_repeats=1, n_folds=2, n_draws=2, sizes=[2])
    assert found.classifiers == tuple(judges)
    for name in judges:
        assert found.mean("given order", name, "own") > found.mean(RANDOM, name, "own")
        assert 0.5 < found.mean("given order", name, "own", "micro_f1") <= 1


def test_classes_in_one_column_are_labels_too(table):
    X, _ = table
    y = np.where(X[:, 1] > 0.5, "high", "low")
    found = fedsieve.evaluate([1, 4], X, y, n_repeats=1, n_folds=3, n_draws=1, sizes=[2])
    assert found.n_labels == 2
    assert found.mean("given order", "logistic", "own") > 0.95


def test_what_folds_warn_of_is_said_once(table):
    X, Y = table

    class Loud(Correlated):
        def fit(self, X, Y):
            warnings.warn("look here", FedSieveWarning, stacklevel=2)
            return super().fit(X, Y)

    with pytest.warns(FedSieveWarning, match="look here") as caught:
        fedsieve.evaluate(Loud(2), X, Y, classifiers=["ML-kNN"], sizes=[2], n_repeats=1)
    assert len(caught) == 1


def test_it_follows_its_seed(table):
    X, Y = table
    how = {"classifiers": ["ML-kNN"], "sizes": [2], "n_repeats": 1, "n_folds": 3}
    first, again, other = (fedsieve.evaluate(Correlated(), X, Y, random_state=seed, **how).rows for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_folds_are_told_while_it_runs(table, capsys):
    X, Y = table
    fedsieve.evaluate([1], X, Y, classifiers=["ML-kNN"], sizes=[1], n_repeats=1, n_folds=2, verbose=1)
    assert capsys.readouterr().out == "[evaluate] fold 1 of 2\n[evaluate] fold 2 of 2\n"


class Mute(BaseEstimator):
    def fit(self, X, Y):  # noqa: ARG002
        return self


BAD = [
    ({"n_folds": 1}, r"evaluate: n_folds must be a whole number in \[2, labeled rows=60\]; got 1\.$"),
    ({"n_repeats": 0}, "evaluate: n_repeats must be a whole number of at least 1; got 0"),
    ({"n_draws": 0}, "evaluate: n_draws must be a whole number of at least 1; got 0"),
    ({"random_state": None}, "evaluate: random_state must be a whole number of at least 0; got None"),
    ({"sizes": [7]}, r"evaluate: each of sizes must be a whole number in \[1, n_features=6\]; got 7"),
    ({"sizes": 3}, "evaluate: sizes must be a list of numbers of features; got 3"),
    ({"against": "GRMFS"}, "evaluate: against must be a list of names of methods, or a dict of selectors; got 'GRMFS'"),
    ({"against": ["GRMFFS"]}, "evaluate: against must be one of 'Sieve', .*; got 'GRMFFS'"),
    ({"against": {"random": Correlated()}}, "evaluate: against has a second 'random'. Give it a name of its own"),
    ({"against": {"Correlated": Correlated(3)}}, "evaluate: against has a second 'Correlated'"),
    ({"classifiers": "ML-kNN"}, "evaluate: classifiers must be a list or a dict by name; got 'ML-kNN'"),
    ({"classifiers": []}, "evaluate: needs a classifier; there are 'ML-kNN', 'logistic'"),
    (
        {"classifiers": ["ML-KNN"]},
        "evaluate: a classifier must be one of 'ML-kNN', 'logistic', 'random forest', 'boosted trees'; got 'ML-KNN'",
    ),
    ({"classifiers": [Correlated()]}, r"evaluate: a classifier must be one of scikit-learn's kind; got Correlated\(\)"),
    ({"classifiers": [GaussianNB(), GaussianNB()]}, "different names; 'GaussianNB' occurs twice. Give a dict"),
    ({"selector": "Sieve"}, "evaluate: needs a selector, or an order of features, by name or index; got 'Sieve'"),
    ({"selector": Correlated}, r"evaluate: Correlated is a class; give a selector: Correlated\(\)\.$"),
    ({"against": {"other": Correlated}}, "evaluate: Correlated is a class; give a selector"),
    ({"classifiers": [GaussianNB]}, "evaluate: a classifier must be one of scikit-learn's kind; got <class"),
    ({"selector": [1, 1]}, "evaluate: a feature has one place in an order; 'x1' occurs twice"),
    ({"selector": [1, 6]}, "evaluate: the order names no such feature: '6'"),
    ({"selector": []}, "evaluate: the order is empty"),
    ({"selector": fedsieve.registry()[RANDOM].factory()}, "evaluate: 'random' is what a selection is compared with"),
    ({"selector": fedsieve.registry()[ALL_FEATURES].factory()}, "evaluate: 'all features' is what a selection is"),
    ({"selector": Mute()}, "evaluate: Mute has no order_ after fit"),
    ({"Y": None}, "evaluate: Y is None; a selection is judged by labels"),
    ({"Y": np.full((60, 2), -1)}, "evaluate: Y has 0 labeled rows; cross-validation needs two or more"),
    ({"Y": np.where(np.arange(60)[:, None] > 0, -1, [0, 1])}, "evaluate: Y has 1 labeled row; cross"),
    ({"Y": np.ones((59, 3))}, "evaluate: X has 60 rows and Y 59; they must be the same rows"),
    ({"Y": np.full((60, 2), 2)}, "evaluate: labels must be 0 or 1; got another number in row 0"),
    ({"X": np.full((60, 6), np.inf)}, "evaluate: X has .*infinite"),
    (
        {"Y": np.where(np.arange(60)[:, None] < 44, -1, [0, 1]), "n_folds": 2},
        "evaluate: 8 rows to learn from are too few: MLkNN: n_neighbors must be below the number of training rows, 8.*"
        "In more folds each learns from more rows; or choose other classifiers",
    ),
    ({"n_folds": 60}, "evaluate: a fold of 1 row is too small: .* Take fewer folds"),
]


@pytest.mark.parametrize(("change", "words"), BAD, ids=[words[:60] for _, words in BAD])
def test_what_cannot_be_is_said(table, change, words):
    X, Y = table
    given = {"selector": Correlated(2), "X": X, "Y": Y, "classifiers": ["ML-kNN"], "sizes": [2], "n_repeats": 1}
    with pytest.raises((DataError, ParameterError), match=words):
        fedsieve.evaluate(**{**given, **change})


def test_with_clients_unlabeled_rows_have_no_place_here(table):
    X, Y = table
    Y = Y.copy()
    Y[7] = -1
    with pytest.raises(DataError, match=r"evaluate: 1 unlabeled row \(-1\) in Y\. With clients"):
        fedsieve.evaluate(Sieve(2), X, Y, clients=[X, X])


def test_a_fitted_selector_is_fitted_anew_and_stays_as_it_was(table):
    X, Y = table
    fitted = Correlated(2).fit(X, Y)
    order = fitted.order_.copy()
    how = {"classifiers": ["ML-kNN"], "sizes": [2], "n_repeats": 1, "n_folds": 3}
    assert fedsieve.evaluate(fitted, X, Y, **how).rows == fedsieve.evaluate(Correlated(2), X, Y, **how).rows
    assert np.array_equal(fitted.order_, order)
