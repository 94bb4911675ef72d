"""What a site agreed to under a method that needs its labels, and what it refuses, whoever asks."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve.errors import ProtocolError
from fedsieve.protocol import SERVER
from fedsieve.protocol import messages as m
from fedsieve.protocol.policy import Policy, what_leaves
from fedsieve.transport import in_process
from labeled_sites import labeled_sites
from protocol.labeled import PLANS, LabeledCase, labeled_example

CASE = labeled_example()
AGREED = {
    "FMLFS": (m.AskRanges, m.AskInformation),
    "FedCMFS, statistics": (m.AskCovariances,),
    "FedCMFS, tests": (m.AskPartialCorrelations,),
    "FedCMFS, pooled": (m.AskCovariances,),
}


def requests(plan, **changes):
    """One request of every kind; `changes` are of its columns, labels, bins or number of given variables."""
    labels = changes.pop("labels", plan.labels)
    n_bins, n_given = changes.pop("n_bins", 3), changes.pop("n_given", 2)
    columns = dataclasses.replace(plan.columns, **changes)
    d = len(columns.features)
    scaling = m.Scaling(np.zeros(d), np.ones(d))
    relation = m.Relation(columns, scaling, np.ones(d), "distance")
    pairs = np.zeros(2, dtype=np.int64), np.ones(2, dtype=np.int64), np.full((2, n_given), 2)
    made = [
        m.AskRanges(columns),
        m.AskMoments(columns, scaling),
        m.AskRelations(relation),
        m.AskPairSums(relation),
        m.AskProducts(relation, np.ones(d)),
        m.AskInformation(columns, labels, scaling, n_bins),
        m.AskCovariances(columns, labels),
        m.AskPartialCorrelations(columns, labels, *pairs),
        m.AskScaledCovariances(columns, scaling),
        m.AskProjections(columns, scaling, np.ones((d, 2))),
    ]
    return {type(request): request for request in made}


def test_every_kind_of_request_is_tried():
    assert set(requests(CASE.plan("FMLFS"))) == set(m.REPLY_TO)


@pytest.mark.parametrize("name", PLANS)
def test_exactly_the_kinds_of_request_that_were_agreed_on_are_answered(name):
    policy = Policy(CASE.plan(name))
    assert policy.kinds == AGREED[name]
    for kind, request in requests(policy.plan).items():
        if kind in AGREED[name]:
            policy.check(request, 10)
        else:
            agreed = ", ".join(one.__name__ for one in AGREED[name])
            said = f"was asked {kind.__name__}, which was not agreed on; agreed: {agreed}."
            with pytest.raises(ProtocolError) as refused:
                policy.check(request, 10)
            assert str(refused.value) == said


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"features": ("f0", "diagnosis")}, "was asked for columns that were not agreed on: 'diagnosis'."),
        ({"features": ("f0", "y0")}, "was asked for columns that were not agreed on: 'y0'."),
        ({"missing": "unrelated"}, "was asked to read its columns in another way than agreed (nominal, missing)."),
        ({"nominal": ("f0",)}, "was asked to read its columns in another way than agreed (nominal, missing)."),
    ],
    ids=str,
)
def test_other_columns_or_another_way_to_read_them_are_refused_in_every_kind(name, change, said):
    policy = Policy(CASE.plan(name))
    for kind in policy.kinds:
        with pytest.raises(ProtocolError) as refused:
            policy.check(requests(policy.plan, **change)[kind], 10)
        assert str(refused.value) == said


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize(
    "labels", [("y0", "y1"), ("y2", "y1", "y0"), ("y0", "y1", "hiv"), ("y0", "y1", "y2", "hiv"), ("y0", "y1", "f0"), ()]
)
def test_other_labels_or_another_order_are_refused(name, labels):
    policy = Policy(CASE.plan(name))
    kind = policy.kinds[-1]
    with pytest.raises(ProtocolError) as refused:
        policy.check(requests(policy.plan, labels=labels)[kind], 10)
    assert str(refused.value) == "was asked for other labels than agreed, or in another order."


@pytest.mark.parametrize("n_bins", [2, 4, 0, -1])
def test_other_bins_than_agreed_are_refused(n_bins):
    """Many bins tell values apart that few do not."""
    policy = Policy(CASE.plan("FMLFS"))
    with pytest.raises(ProtocolError) as refused:
        policy.check(requests(policy.plan, n_bins=n_bins)[m.AskInformation], 10)
    assert str(refused.value) == f"was asked for {n_bins} bins; agreed: 3."


@pytest.mark.parametrize("n_given", [1, 2, 3])
def test_no_more_variables_are_given_than_a_site_was_told(n_given):
    policy = Policy(CASE.plan("FedCMFS, tests", max_conditioning=2))
    request = requests(policy.plan, n_given=n_given)[m.AskPartialCorrelations]
    if n_given <= 2:
        policy.check(request, 10)
    else:
        with pytest.raises(ProtocolError, match=r"^was asked for tests given 3 variables; agreed: 2\.$"):
            policy.check(request, 10)


@pytest.mark.parametrize("name", PLANS)
def test_a_site_of_too_few_rows_answers_nothing(name):
    policy = Policy(CASE.plan(name), min_rows=10)
    for kind in policy.kinds:
        policy.check(requests(policy.plan)[kind], 10)
        with pytest.raises(ProtocolError, match=r"has 9 rows, the agreement asks for 10 \(min_rows\)"):
            policy.check(requests(policy.plan)[kind], 9)


@settings(max_examples=30)
@given(labeled_sites(), st.sampled_from(sorted(PLANS)), st.integers(0, 3))
def test_all_that_an_honest_server_asks_and_a_site_answers_is_within_the_agreement(tables, name, size):
    case = LabeledCase(tables)
    parameters = {"n_bins": size + 2} if name == "FMLFS" else {"max_conditioning": size}
    plan = case.plan(name, **parameters)
    policy = Policy(plan, min_rows=2)
    in_process.select(plan, case.rows, case.sites, watch=lambda ask: policy.check(ask.request, 2))


@pytest.mark.parametrize("name", PLANS)
def test_what_is_said_to_leave_a_site_is_what_leaves_it(name):
    plan = CASE.plan(name)
    transcript = in_process.select(plan, CASE.rows, CASE.sites).transcript
    left = list(dict.fromkeys(entry.kind for entry in transcript if entry.sender != SERVER))
    assert [kind for kind, _ in what_leaves(plan)] == left


def test_the_numbers_that_a_site_is_told_are_those_it_sends():
    (_, ranges), (_, information) = what_leaves(CASE.plan("FMLFS"))
    assert "4 columns" in ranges
    assert "each of 4 features tells of each of 3 labels" in information
    assert "in 3 bins" in information
    ((_, covariances),) = what_leaves(CASE.plan("FedCMFS, statistics"))
    assert "means of 7 columns and 28 sums of products" in covariances
    ((_, correlations),) = what_leaves(CASE.plan("FedCMFS, tests", max_conditioning=1))
    assert "all correlations of all columns" in correlations


@pytest.mark.parametrize("name", PLANS)
def test_a_column_is_not_asked_for_twice(name):
    policy = Policy(CASE.plan(name))
    twice = (*CASE.features, CASE.features[0])
    for kind in policy.kinds:
        with pytest.raises(ProtocolError, match=r"^was asked for a column twice"):
            policy.check(requests(policy.plan, features=twice)[kind], 10)


@pytest.mark.parametrize("name", PLANS)
def test_information_and_covariances_are_of_all_features_at_once(name):
    policy = Policy(CASE.plan(name))
    for kind in set(policy.kinds) - {m.AskRanges}:
        with pytest.raises(ProtocolError, match=r"^was asked for other features than agreed"):
            policy.check(requests(policy.plan, features=CASE.features[:2])[kind], 10)
