"""Methods whose sites hold labels: one rule per parameter, one sentence each; what is asked in which round."""

import numpy as np
import pytest
from scipy.stats import norm

from fedsieve.errors import DataError, ParameterError
from fedsieve.methods import FedCMFSMethod, FMLFSMethod, causal_search
from fedsieve.protocol import Labeled, federated_selection
from protocol.federation import drive
from protocol.supervised import PLANS, supervised_example

FEATURES, LABELS = ("a", "b", "c"), ("y", "z")
SHARED = [
    ({"labels": ()}, "needs at least one label; got none."),
    ({"labels": ("y", "y")}, "labels and features must differ; 'y' occurs twice."),
    ({"labels": ("y", "b")}, "labels and features must differ; 'b' occurs twice."),
    ({"nominal": ("a",)}, "takes no nominal features; got 'a'. Encode them."),
    ({"nominal": ("q",)}, "nominal names no such feature: 'q'."),
    ({"missing": "unrelated"}, "missing must be one of 'error'; got 'unrelated'."),
    ({"features": ()}, "needs at least one feature; got none."),
    (
        {"n_features_to_select": 4},
        "n_features_to_select must be a whole number in [1, n_features=3], or a share between 0 and 1; got 4.",
    ),
    ({"ranges": "local"}, "ranges must be 'federated', 'robust' or {name: (low, high)}; got 'local'."),
    ({"ranges": {"a": (0, 1), "b": (0, 1)}}, "ranges declares no range for 'c'. Declare all features."),
    (
        {"ranges": dict.fromkeys(FEATURES, (1, 0))},
        "ranges['a'] must be finite with low <= high; got (1.0, 0.0).",
    ),
    ({"bounds": {"a": (0, 1)}}, "bounds are for ranges='robust'; got ranges='federated'."),
    ({"ranges": "robust", "bounds": {"q": (0, 1)}}, "bounds name no such feature: 'q'."),
    ({"ranges": "robust", "bounds": {"a": (1, 1)}}, "bounds['a'] must be finite with low < high; got (1.0, 1.0)."),
    ({"ranges": "robust", "bounds": {"a": 7}}, "bounds['a'] must be (low, high); got 7."),
    ({"on_bad_client": "forgive"}, "on_bad_client must be one of 'raise', 'drop'; got 'forgive'."),
    ({"max_message_bytes": 0}, "max_message_bytes must be a whole number of at least 1; got 0."),
]
OWN = [
    (FMLFSMethod, {"n_bins": 1}, "n_bins must be a whole number of at least 2; got 1."),
    (FMLFSMethod, {"n_bins": True}, "n_bins must be a whole number of at least 2; got True."),
    (FMLFSMethod, {"weighting": None}, "weighting must be one of 'rows', 'plain'; got None."),
    (FMLFSMethod, {"relevance": "sum"}, "relevance must be one of 'mean', 'max'; got 'sum'."),
    (FedCMFSMethod, {"alpha": float("nan")}, "alpha must be in [0, 1]; got nan."),
    (FedCMFSMethod, {"alpha": 2}, "alpha must be in [0, 1]; got 2."),
    (FedCMFSMethod, {"max_conditioning": 1.5}, "max_conditioning must be a whole number in [0, 5]; got 1.5."),
    (FedCMFSMethod, {"max_pool": 0}, "max_pool must be a whole number of at least 1; got 0."),
    (FedCMFSMethod, {"combine": "sum"}, "combine must be one of 'p-values', 'votes', 'pooled'; got 'sum'."),
    (FedCMFSMethod, {"wire": "auto"}, "wire must be one of 'statistics', 'tests'; got 'auto'."),
    (
        FedCMFSMethod,
        {"combine": "pooled", "wire": "tests"},
        "combine='pooled' adds up the sites' statistics, which wire='tests' does not send. Use wire='statistics'.",
    ),
]
CASES = [*((method, *case) for method in (FMLFSMethod, FedCMFSMethod) for case in SHARED), *OWN]


@pytest.mark.parametrize(("method", "wrong", "said"), CASES, ids=[f"{one.name}: {said}" for one, _, said in CASES])
def test_a_parameter_outside_its_rule_is_named(method, wrong, said):
    method(FEATURES, labels=LABELS)
    with pytest.raises(ParameterError) as refused:
        method(**{"features": FEATURES, "labels": LABELS, **wrong})
    assert str(refused.value) == f"{method.name}: {said}"


@pytest.mark.parametrize("wrong", [{"lam": 1.0}, {"n_bins": 3, "alpha": 0.1}])
def test_a_parameter_of_another_method_is_none_of_its_own(wrong):
    for method in (FMLFSMethod, FedCMFSMethod):
        with pytest.raises(TypeError, match="unexpected keyword"):
            method(FEATURES, labels=LABELS, **wrong)


class OneSite:
    """A site that answers every test with the same correlation."""

    def __init__(self, n_rows, correlation):
        self._answer = [(n_rows, np.array([correlation]))]

    def correlations(self, _tests):
        yield from ()
        return self._answer


def verdict(alpha, n_rows, correlation):
    """Whether two variables of this correlation count as dependent, and as independent."""
    search = causal_search.CausalSearch(OneSite(n_rows, correlation), alpha, 2, 10, 10**6)
    steps = search.judge(causal_search.Tests(np.array([0]), np.array([1]), np.empty((1, 0), dtype=np.int64)))
    with pytest.raises(StopIteration) as finished:
        next(steps)
    found = finished.value.value
    return bool(found.dependent[0]), bool(found.independent[0])


@pytest.mark.parametrize(("alpha", "n_rows", "level"), [(None, 5000, 0.05), (None, 5001, 0.01), (0.2, 5001, 0.2)])
def test_the_level_is_the_method_s_or_follows_from_the_number_of_rows(alpha, n_rows, level):
    for p, expected in ((0.999 * level, (True, False)), (1.001 * level, (False, True))):
        correlation = np.tanh(norm.isf(p / 2) / np.sqrt(n_rows - 3))  # Fisher's z
        assert verdict(alpha, n_rows, correlation) == expected


def test_an_alpha_of_0_is_one():
    assert verdict(0, 30, 0.9) == (False, True)
    assert verdict(None, 30, 0.9) == (True, False)


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: Labeled(rows.X, rows.Y[:, :2]), "the labeled rows have 2 labels, the plan 3."),
        (lambda rows: Labeled(rows.X[:, :2], rows.Y), "the labeled rows have 2 columns, the plan 4 features."),
        (lambda rows: Labeled(rows.X, rows.Y[1:]), "the labels have shape (11, 3); need one row for each of 12"),
        (lambda rows: Labeled(np.where(rows.X > 2, np.inf, rows.X), rows.Y), "the labeled rows have "),
    ],
)
def test_labeled_rows_that_do_not_fit_the_plan_are_refused_before_anybody_is_asked(name, change, said):
    case = supervised_example()
    with pytest.raises(DataError) as refused:
        next(federated_selection(case.plan(name), change(case.rows), case.sites))
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("FMLFS", ["AskRanges", "AskInformation"]),
        ("FedCMFS, statistics", ["AskCovariances"]),
        ("FedCMFS, pooled", ["AskRanges", "AskCovariances"]),
    ],
)
def test_what_is_asked_in_how_many_rounds(name, kinds):
    case = supervised_example()
    _, asked = drive(case.plan(name), case.rows, case.sites)
    assert [type(question.request).__name__ for question in asked] == kinds
    assert [question.round for question in asked] == list(range(1, len(kinds) + 1))


def test_tests_take_a_round_for_each_number_given_in_each_search():
    """Of each label, then of each feature: given nothing, one, two. In between, what may be recovered."""
    case = supervised_example()
    _, asked = drive(case.plan("FedCMFS, tests"), case.rows, case.sites)
    given = [question.request.given.shape[1] for question in asked]
    assert len(given) <= 9
    assert given[0] == 0
    assert max(given) <= 2
    _, asked = drive(case.plan("FedCMFS, tests", max_conditioning=0), case.rows, case.sites)
    assert [question.request.given.shape[1] for question in asked] == [0, 0]


def test_a_record_s_columns_and_facts_are_what_the_method_found():
    case = supervised_example()
    fronts, _ = drive(case.plan("FMLFS"), case.rows, case.sites)
    assert list(fronts.columns()) == ["scores", "relevance", "apart", "front"]
    assert fronts.facts() == {}
    causes, _ = drive(case.plan("FedCMFS, statistics"), case.rows, case.sites)
    assert list(causes.columns()) == ["scores", "relevance", "n_labels"]
    steps = (causes.found, causes.recovered, causes.kept)
    assert list(causes.facts()) == ["n_found", "n_recovered", "n_kept"]
    assert list(causes.facts().values()) == [mask.any(axis=1).sum() for mask in steps]
