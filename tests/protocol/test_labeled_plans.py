"""Plans of methods whose sites hold labels: one rule per parameter, one sentence per rule."""

import numpy as np
import pytest

from fedsieve.errors import DataError, ParameterError
from fedsieve.protocol import FedCMFSPlan, FMLFSPlan, Labeled, federated_selection
from protocol.federation import drive
from protocol.labeled import PLANS, labeled_example

FEATURES, LABELS = ("a", "b", "c"), ("y", "z")
SHARED = [
    ({"labels": ()}, "needs at least one label; got none."),
    ({"labels": ("y", "y")}, "labels and features must differ; 'y' occur twice."),
    ({"labels": ("y", "b")}, "labels and features must differ; 'b' occur twice."),
    ({"nominal": ("a",)}, "takes no nominal features; got 'a'. Encode them."),
    ({"nominal": ("q",)}, "nominal names no such feature: 'q'."),
    ({"missing": "unrelated"}, "missing must be one of 'error'; got 'unrelated'."),
    ({"features": ()}, "needs at least one feature; got none."),
    ({"n_features_to_select": 4}, "n_features_to_select must be a whole number in [1, n_features=3]; got 4."),
    ({"on_bad_client": "forgive"}, "on_bad_client must be one of 'raise', 'drop'; got 'forgive'."),
    ({"max_message_bytes": 0}, "max_message_bytes must be a whole number of at least 1; got 0."),
]
OWN = [
    (FMLFSPlan, {"n_bins": 1}, "n_bins must be a whole number of at least 2; got 1."),
    (FMLFSPlan, {"n_bins": True}, "n_bins must be a whole number of at least 2; got True."),
    (FMLFSPlan, {"weighting": None}, "weighting must be one of 'rows', 'plain'; got None."),
    (FMLFSPlan, {"relevance": "sum"}, "relevance must be one of 'mean', 'max'; got 'sum'."),
    (FedCMFSPlan, {"alpha": float("nan")}, "alpha must be in [0, 1]; got nan."),
    (FedCMFSPlan, {"alpha": 2}, "alpha must be in [0, 1]; got 2."),
    (FedCMFSPlan, {"max_conditioning": 1.5}, "max_conditioning must be a whole number in [0, 5]; got 1.5."),
    (FedCMFSPlan, {"max_pool": 0}, "max_pool must be a whole number of at least 1; got 0."),
    (FedCMFSPlan, {"combine": "sum"}, "combine must be one of 'p-values', 'pooled'; got 'sum'."),
    (FedCMFSPlan, {"wire": "auto"}, "wire must be one of 'statistics', 'tests'; got 'auto'."),
    (
        FedCMFSPlan,
        {"combine": "pooled", "wire": "tests"},
        "combine='pooled' adds up the sites' statistics, which wire='tests' does not send. Use wire='statistics'.",
    ),
]
CASES = [*((plan, *case) for plan in (FMLFSPlan, FedCMFSPlan) for case in SHARED), *OWN]


@pytest.mark.parametrize(("plan", "wrong", "said"), CASES, ids=[f"{p.method}: {said}" for p, _, said in CASES])
def test_a_parameter_outside_its_rule_is_named(plan, wrong, said):
    plan(FEATURES, labels=LABELS)
    with pytest.raises(ParameterError) as refused:
        plan(**{"features": FEATURES, "labels": LABELS, **wrong})
    assert str(refused.value) == f"{plan.method}: {said}"


@pytest.mark.parametrize("wrong", [{"lam": 1.0}, {"n_bins": 3, "alpha": 0.1}, {"ranges": "local"}])
def test_a_parameter_of_another_method_is_none_of_its_own(wrong):
    for plan in (FMLFSPlan, FedCMFSPlan):
        with pytest.raises(TypeError, match="unexpected keyword"):
            plan(FEATURES, labels=LABELS, **wrong)


@pytest.mark.parametrize(("alpha", "n_rows", "level"), [(None, 5000, 0.05), (None, 5001, 0.01), (0.2, 5001, 0.2)])
def test_the_level_is_the_plan_s_or_follows_from_the_number_of_rows(alpha, n_rows, level):
    assert FedCMFSPlan(FEATURES, labels=LABELS, alpha=alpha).level(n_rows) == level


def test_an_alpha_of_0_is_one():
    assert FedCMFSPlan(FEATURES, labels=LABELS, alpha=0).level(10) == 0


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
    case = labeled_example()
    with pytest.raises(DataError) as refused:
        next(federated_selection(case.plan(name), change(case.rows), case.sites))
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("FMLFS", ["AskRanges", "AskInformation"]), ("FedCMFS, statistics", ["AskCovariances"])],
)
def test_what_is_asked_in_how_many_rounds(name, kinds):
    case = labeled_example()
    _, asked = drive(case.plan(name), case.rows, case.sites)
    assert [type(ask.request).__name__ for ask in asked] == kinds
    assert [ask.round for ask in asked] == list(range(1, len(kinds) + 1))


def test_tests_take_a_round_for_each_number_given_in_each_search():
    """Of each label, then of each feature: given nothing, one, two. In between, what may be recovered."""
    case = labeled_example()
    _, asked = drive(case.plan("FedCMFS, tests"), case.rows, case.sites)
    given = [ask.request.given.shape[1] for ask in asked]
    assert len(given) <= 9
    assert given[0] == 0
    assert max(given) <= 2
    _, asked = drive(case.plan("FedCMFS, tests", max_conditioning=0), case.rows, case.sites)
    assert [ask.request.given.shape[1] for ask in asked] == [0, 0]


def test_a_record_s_columns_and_facts_are_what_the_method_found():
    case = labeled_example()
    fronts, _ = drive(case.plan("FMLFS"), case.rows, case.sites)
    assert list(fronts.columns()) == ["scores", "relevance", "apart", "front"]
    assert fronts.facts() == {}
    causes, _ = drive(case.plan("FedCMFS, statistics"), case.rows, case.sites)
    assert list(causes.columns()) == ["scores", "relevance", "n_labels"]
    steps = (causes.found, causes.recovered, causes.kept)
    assert list(causes.facts()) == ["n_found", "n_recovered", "n_kept"]
    assert list(causes.facts().values()) == [mask.any(axis=1).sum() for mask in steps]
