"""`Sieve(fdr=q)`: what is selected, what is said of it, and what goes not together."""

import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from fedsieve import Sieve, evaluate
from fedsieve.errors import DataError, FedSieveWarning, ParameterError

QUICK = {"n_bootstraps": 0, "n_trees": 5, "ranges": "federated"}


@pytest.fixture(scope="module")
def federation():
    """Ten of fifteen features help with each of five labels."""
    rng = np.random.default_rng(4)
    sites = [rng.standard_normal((100, 15)) for _ in range(3)]
    X = rng.standard_normal((80, 15))
    Y = (X[:, :10] @ rng.choice([-1, 1], (10, 5)) + rng.standard_normal((80, 5)) > 0).astype(int)
    return X, Y, sites


@pytest.fixture(scope="module")
def fitted(federation):
    X, Y, sites = federation
    return Sieve(fdr=0.3, **QUICK).fit(X, Y, clients=sites)


def test_those_that_help_are_selected_and_come_first(fitted):
    found = fitted.fdr_
    assert found["selected"].tolist() == fitted.get_support(indices=True).tolist() == list(range(10))
    assert sorted(fitted.order_[:10].tolist()) == list(range(10))
    assert found["exact"]
    assert found["doubts"] == ()
    assert found["words"].startswith("At a false discovery rate of 0.3, 10 of 15 features are selected")
    assert (found["e_values"] >= found["threshold"]).tolist() == fitted.support_.tolist()
    assert found["W"].shape == (15,)
    first, last = fitted.explain()[0], fitted.explain()[-1]
    assert first["why"].startswith("selected as 1st of 10 at a false discovery rate of 0.3: ")
    assert last["why"].startswith("not selected at a false discovery rate of 0.3: ")
    assert first["e_value"] >= found["threshold"] > last["e_value"]


def test_the_partition_plays_no_part(federation, fitted):
    X, Y, sites = federation
    whole = np.concatenate(sites)
    other = Sieve(fdr=0.3, **QUICK).fit(X, Y, clients=[whole[:7], whole[7:]])
    assert other.fdr_["W"] == pytest.approx(fitted.fdr_["W"], abs=1e-9)
    assert other.order_.tolist() == fitted.order_.tolist()


def test_nothing_is_an_answer_and_is_said(federation):
    X, Y, sites = federation
    selector = Sieve(fdr=0.3, **QUICK).fit(X, np.random.default_rng(1).permutation(Y), clients=sites)
    assert not selector.support_.any()
    assert selector.fdr_["threshold"] == np.inf
    assert "no feature is selected. This is an answer" in selector.fdr_["words"]
    assert not [row["why"] for row in selector.explain() if "nothing chosen" in row["why"]]  # as nothing is chosen
    assert len(selector.order_) == 15
    assert selector.influence_ is None
    assert all(not row["selected"] for row in selector.explain())


def test_another_rate_or_a_number_from_the_same_totals(fitted):
    assert fitted.rerank(None, fdr=0.4).fdr_["q"] == 0.4
    by_number = fitted.rerank(3)
    assert (int(by_number.support_.sum()), by_number.fdr_, by_number.fdr) == (3, None, None)
    back = by_number.rerank(None, fdr=0.3)
    assert back.fdr_["e_values"].tolist() == fitted.fdr_["e_values"].tolist()


def test_it_is_a_parameter_like_others_and_is_pickled(fitted):
    assert clone(fitted).fdr == 0.3
    again = pickle.loads(pickle.dumps(fitted))
    assert again.fdr_["selected"].tolist() == list(range(10))
    assert "e_value" in again.explain()[0]


def test_groups_and_codes_are_selected_as_a_whole(federation):
    X, Y, sites = federation
    tables = [np.column_stack([rows, rows[:, 14] > 0]) for rows in (X, *sites)]
    selector = Sieve(fdr=0.4, groups=[[0, 1], [13, 14]], nominal=[15], **QUICK)
    selector.fit(tables[0], Y, clients=tables[1:])
    assert selector.support_[0]
    assert selector.support_[0] == selector.support_[1]
    assert selector.support_[13] == selector.support_[14]
    assert selector.fdr_["e_values"][0] == selector.fdr_["e_values"][1]
    n_features, n_units = selector.support_.sum(), np.delete(selector.support_, [1, 14]).sum()
    assert f"{n_units} of 14 units ({n_features} features) are selected" in selector.fdr_["words"]


def test_within_sites_a_shift_of_sites_plays_no_part(federation):
    X, Y, sites = federation
    moved = [rows + 2 * number for number, rows in enumerate(sites)]
    ranges = {f"x{i}": (-20.0, 20.0) for i in range(15)}
    how = {"fdr": 0.3, "center": "sites", **QUICK, "ranges": ranges}
    one, other = Sieve(**how).fit(X, Y, clients=sites), Sieve(**how).fit(X, Y, clients=moved)
    assert other.fdr_["W"] == pytest.approx(one.fdr_["W"], abs=1e-6)
    assert not one.fdr_["exact"]


@pytest.mark.filterwarnings("ignore::fedsieve.errors.SiteShiftWarning")
def test_it_warns_of_what_it_can_see(federation):
    X, Y, sites = federation
    with pytest.warns(FedSieveWarning, match="elsewhere than all rows in 'x4'.*center='sites'"):
        Sieve(fdr=0.3, **QUICK).fit(X, Y, clients=[rows + 2 * (np.arange(15) == 4) for rows in sites])
    with pytest.warns(FedSieveWarning, match="spread wider than all rows in 'x0', .*center='sites' takes deviations"):
        Sieve(fdr=0.3, **QUICK).fit(2 * X, Y, clients=sites)
    with pytest.warns(FedSieveWarning, match="at fdr=0.05 nothing can be selected: .* at least 27 features, of 15"):
        Sieve(fdr=0.05, **QUICK).fit(X, Y, clients=sites)
    with pytest.warns(FedSieveWarning, match="not sure: 20 unlabeled rows are few for 15 columns"):
        Sieve(fdr=0.3, **QUICK).fit(X, Y, clients=[rows[:10] for rows in sites[:2]])
    rare = [np.where(np.arange(15) == 6, rows > 2, rows) for rows in (X, *sites)]
    with pytest.warns(FedSieveWarning, match="far from Gaussian, .*: 'x6'"):
        Sieve(fdr=0.3, **QUICK).fit(rare[0], Y, clients=rare[1:])


@pytest.mark.parametrize(
    ("ranges", "factor", "exact"),
    [("robust", 1.0, False), ("federated", 1.0, True), ("declared", 1.0, True), ("declared", 2.0, False)],
)
def test_knockoffs_are_called_exact_only_where_no_value_was_clipped(federation, ranges, factor, exact):
    """Robust ranges leave out some of the values of a Gaussian, which is then none."""
    X, Y, sites = (federation[0] * factor, federation[1], [rows * factor for rows in federation[2]])
    agreed = {f"x{i}": (-5.0, 5.0) for i in range(15)} if ranges == "declared" else ranges
    fitted = Sieve(fdr=0.3, **{**QUICK, "ranges": agreed}).fit(X, Y, clients=sites)
    assert fitted.fdr_["exact"] == exact


def test_robust_ranges_that_hold_all_values_leave_knockoffs_exact(federation):
    levels = [np.digitize(rows, [-0.7, 0.0, 0.7]).astype(float) for rows in (federation[0], *federation[2])]
    fitted = Sieve(fdr=0.3, **{**QUICK, "ranges": "robust"}).fit(levels[0], federation[1], clients=levels[1:])
    assert fitted.fdr_["exact"]


@pytest.mark.filterwarnings("ignore::fedsieve.errors.FedSieveWarning")
@pytest.mark.parametrize(
    ("of_values", "how"),
    [
        (lambda x: (x > 0) * 1.0, {}),
        (lambda x: np.digitize(x, [-0.7, 0.7]) * 1.0, {"nominal": [0]}),
        (lambda x: np.exp(2 * x), {}),
        (lambda x: np.where(x > 1.5, np.nan, x), {}),
    ],
)
def test_knockoffs_of_rows_that_cannot_be_gaussian_are_not_called_exact(federation, of_values, how):
    """0/1 columns, codes, far outliers, and gaps that a mean stands in for; all were called exact."""
    X, Y, sites = federation
    tables = [np.column_stack([of_values(rows[:, 0]), rows[:, 1:]]) for rows in (X, *sites)]
    fitted = Sieve(fdr=0.3, **QUICK, **how).fit(tables[0], Y, clients=tables[1:])
    assert not fitted.fdr_["exact"]


@pytest.mark.filterwarnings("ignore::fedsieve.errors.FedSieveWarning")
@pytest.mark.parametrize("center", ["federation", "sites"])
def test_columns_that_do_not_vary_are_an_answer(federation, center):
    """They were an index that is out of bounds."""
    X, Y, sites = federation
    still = np.ones_like(X)
    clients = sites if center == "sites" else [np.ones_like(rows) for rows in sites]
    selector = Sieve(fdr=0.3, center=center, **QUICK).fit(still, Y, clients=clients)
    assert not selector.support_.any()
    assert selector.fdr_["words"].endswith("This is an answer: no feature varies in the rows that it is told from.")


def doubts(how, X, Y, sites):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FedSieveWarning)
        return " ".join(Sieve(**{"fdr": 0.3, **QUICK, **how}).fit(X, Y, clients=sites).fdr_["doubts"])


@pytest.mark.parametrize("center", ["federation", "sites"])
def test_few_unlabeled_rows_are_counted_against_columns_and_within_sites_too(center):
    """Of ten nominal columns of four codes there are thirty, not ten."""
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 4, (n, 10)).astype(float) for n in (80, 25, 25)]
    how = {"nominal": list(range(10)), "center": center}
    found = doubts(how, codes[0], rng.integers(0, 2, (80, 3)), codes[1:])
    assert "not sure: 50 unlabeled rows are few for 30 columns, with those of codes" in found


def test_too_few_labels_and_many_missing_values_are_told(federation):
    X, Y, sites = federation
    assert "little can be found: 49 labeled rows; with fewer than 50" in doubts({}, X[:49], Y[:49], sites)
    assert "labeled rows" not in doubts({}, X[:50], Y[:50], sites)
    rare = np.zeros((80, 5), dtype=int)
    for label, carriers in enumerate((14, 66, 14, 15, 15)):
        rare[:carriers, label] = 1
    assert "little can be found: 3 of 5 labels that vary have fewer than 15" in doubts({}, X, rare, sites)
    assert "of 5 labels" not in doubts({}, X, rare[:, [0, 1, 3, 4]], sites)
    gaps = [rows.copy() for rows in sites]
    for rows in gaps:
        rows[:40, 3] = np.nan
        rows[:20, 7] = np.nan
    assert "more than 20 % of the values are missing in 'x3'; what stands" in doubts({}, X, Y, gaps)


@pytest.mark.parametrize(
    ("rho", "share", "at_sites", "told"),
    [(0.7, 0.15, True, True), (0.7, 0.15, False, True), (0.7, 0.03, True, False), (0.0, 0.15, True, False)],
)
def test_missing_values_that_a_neighbor_tells_are_told_of(rho, share, at_sites, told):
    """A fourth of the selected was false at a rate of 0.2, and nothing was said below a fifth of the values."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((900, 10)) @ np.linalg.cholesky(rho * np.ones((10, 10)) + (1 - rho) * np.eye(10)).T
    Y = (rows[:300, :5] + rng.standard_normal((300, 5)) > 0).astype(int)
    gaps = rng.random(rows.shape) < share
    gaps[:, 1:] = False
    gaps[300:] &= at_sites
    rows[gaps] = np.nan
    said = doubts({}, rows[:300], Y, np.split(rows[300:], 3))
    assert ("tell what the values that are missing in 'x0' would have told" in said) == told


def test_bent_copies_are_named_and_a_group_of_them_is_not(federation):
    """Nearly all of the selected were false where columns had their absolute values beside them; nothing was said."""
    X, Y, sites = federation
    rng = np.random.default_rng(0)
    bent = [np.column_stack([rows, np.abs(rows[:, 3]) + 0.1 * rng.standard_normal(len(rows))]) for rows in (X, *sites)]
    assert "columns are bent functions of others, as squares and absolute values are: 'x3', 'x15'." in doubts(
        {}, bent[0], Y, bent[1:]
    )
    assert "bent" not in doubts({"groups": [[3, 15]]}, bent[0], Y, bent[1:])
    straight = [np.column_stack([rows, rows[:, 3] + 0.5 * rng.standard_normal(len(rows))]) for rows in (X, *sites)]
    assert "bent" not in doubts({}, straight[0], Y, straight[1:])


@pytest.mark.parametrize("center", ["federation", "sites"])
def test_correlations_of_labeled_rows_that_are_not_those_of_all_rows_are_told(federation, center):
    """Means and variances alone were compared: a rate of 0.1 was 0.17 where only labeled rows went with each other."""
    X, Y, sites = federation
    other = X.copy()
    other[:, 5] = 0.8 * X[:, 2] + 0.6 * X[:, 5]
    said = "in the labeled rows columns do not go with each other as in all rows: 'x2', 'x5'. Label rows that are like"
    assert said in doubts({"center": center}, other, Y, sites)
    assert "go with each other" not in doubts({"center": center}, X, Y, sites)


def test_near_copies_are_named_and_a_group_of_them_is_not(federation):
    """A true feature was not selected beside its near copy, and nothing was said."""
    X, Y, sites = federation
    rng = np.random.default_rng(0)
    X, *sites = (np.column_stack([rows, rows[:, 0] + 1e-3 * rng.standard_normal(len(rows))]) for rows in (X, *sites))
    said = "cannot be told from each other (|correlation| above 0.99): 'x0', 'x15'. Neither may be selected"
    assert said in doubts({}, X, Y, sites)
    assert doubts({"groups": [[0, 15]]}, X, Y, sites) == ""
    many = [rows[:, [*range(15), *range(6)]] for rows in (X, *sites)]
    assert "; 'x3', 'x18' and 2 more pairs. Neither" in doubts({}, many[0], Y, many[1:])


def test_features_that_follow_from_others_are_named_and_the_others_still_selected(federation):
    """Nothing was selected beside a sum of three columns, and the labeled rows were to blame."""
    X, Y, sites = federation
    tables = [np.column_stack([rows, rows[:, [0, 1, 12]].sum(axis=1)]) for rows in (X, *sites)]
    said = "little can be found of features that follow from others, as a sum does: 'x0', 'x1', 'x12', 'x15'. None of"
    with pytest.warns(FedSieveWarning, match=said):
        selector = Sieve(fdr=0.4, **QUICK).fit(tables[0], Y, clients=tables[1:])
    assert np.flatnonzero(selector.support_).tolist() == list(range(2, 10))
    assert "follow from others" not in doubts({"groups": [[0, 1, 12, 15]]}, tables[0], Y, tables[1:])


def test_where_all_features_follow_from_others_the_labeled_rows_are_not_to_blame():
    """All codes of a nominal column as 0/1 columns of their own: the selection was empty, for another reason."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (400, 6))
    dummies = np.hstack([codes == code for code in range(4)]).astype(float)
    Y = np.column_stack([codes[:100, i] >= 2 for i in range(6)]).astype(int)
    with pytest.warns(FedSieveWarning, match="declare codes as nominal"):
        selector = Sieve(fdr=0.3, **QUICK).fit(dummies[:100], Y, clients=np.split(dummies[100:], 3))
    assert "This is an answer: all 24 features follow from others" in selector.fdr_["words"]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 13, 14, 15, 17, 21, 30])
def test_an_advised_rate_is_enough(n):
    rng = np.random.default_rng(n)
    federation = rng.standard_normal((60, n)), rng.integers(0, 2, (60, 2)), [rng.standard_normal((90, n))] * 2
    found = doubts({"fdr": 0.01}, *federation)
    if n <= 2:
        assert "No fdr selects from so few: leave it out, and give n_features_to_select." in found
    else:
        advised = float(re.search("a larger fdr, from (.*) on", found)[1])
        assert "nothing can be selected" not in doubts({"fdr": advised}, *federation)


@pytest.mark.parametrize("fdr", [1e-300, 5e-324])
def test_rates_near_nothing_are_told_in_words(federation, fdr):
    """A message had a number of 300 digits."""
    assert "a selection has over a million features, of 15." in doubts({"fdr": fdr}, *federation)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"fdr": 0}, "Sieve: fdr must be above 0 and below 1, or None; got 0"),
        ({"fdr": 1.5}, "fdr must be above 0 and below 1"),
        ({"fdr": "0.2"}, "fdr must be above 0 and below 1"),
        ({"fdr": 0.2, "n_features_to_select": 3}, "fdr=0.2 says how many .* n_features_to_select=3; leave one"),
        ({"fdr": 0.2, "n_features_to_select": "auto"}, "n_features_to_select='auto'; leave one of them out"),
        ({"fdr": 0.2, "epsilon": 1.0}, "fdr needs exact sums; leave it out, or epsilon"),
        ({"fdr": 0.2, "screen": 12}, "fdr compares all columns, and there are 15.* screen allows 12"),
    ],
)
def test_what_goes_not_together_is_refused(federation, parameters, words):
    X, Y, sites = federation
    with pytest.raises(ParameterError, match=words):
        Sieve(**parameters).fit(X, Y, clients=sites)


def test_weights_are_refused(federation):
    X, Y, sites = federation
    with pytest.raises(ParameterError, match=r"takes no sample_weight beside fdr: .* Leave one of them out"):
        Sieve(fdr=0.2).fit(X, Y, clients=sites, sample_weight=np.ones(80))


@pytest.mark.filterwarnings("ignore::fedsieve.errors.FedSieveWarning")
def test_nothing_cannot_be_judged(federation):
    X, Y, _ = federation
    with pytest.raises(DataError, match="Sieve selects no feature, so there is nothing to judge"):
        evaluate(Sieve(fdr=0.05, **QUICK), X, Y, n_repeats=1, n_folds=2)
