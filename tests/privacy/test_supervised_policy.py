"""What a site agreed to under a method that needs its labels, and what it refuses, whoever asks."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.privacy import SiteRules, Story, what_leaves
from fedsieve.protocol import SERVER
from fedsieve.transport import in_process
from message_examples import examples_of
from policies import LENIENT
from protocol.federation import drive
from protocol.supervised import PLANS, SupervisedCase, supervised_example
from sites_with_labels import sites_with_labels

CASE = supervised_example()
AGREED = {
    "FMLFS": (m.AskRanges, m.AskInformation),
    "FedCMFS, statistics": (m.AskCovariances,),
    "FedCMFS, tests": (m.AskPartialCorrelations,),
    "FedCMFS, pooled": (m.AskRanges, m.AskCovariances),
}


def rules(method, policy=LENIENT):
    return SiteRules(method, policy)


def requests(plan, **changes):
    """One request of every kind; `changes` are of its columns, labels, bins or number of given variables."""
    labels = changes.pop("labels", plan.labels)
    n_bins, n_given = changes.pop("n_bins", 3), changes.pop("n_given", 2)
    columns = dataclasses.replace(plan.columns, **changes)
    d = len(columns.features)
    scaling = m.Scaling(np.zeros(d), np.ones(d))
    pooled = m.AskRanges in {terms.request for terms in plan.terms()}
    pairs = np.zeros(2, dtype=np.int64), np.ones(2, dtype=np.int64), np.full((2, n_given), 2)
    own = [
        m.AskRanges(columns),
        m.AskInformation(columns, labels, scaling, n_bins),
        m.AskCovariances(columns, scaling if pooled else m.Scaling(None, None, "local"), labels),
        m.AskPartialCorrelations(columns, labels, *pairs),
    ]
    others = {kind: examples_of(kind)[0] for kind in m.REQUESTS.values()}
    return {**others, **{type(request): request for request in own}}


@pytest.mark.parametrize("name", PLANS)
def test_exactly_the_kinds_of_request_that_were_agreed_on_are_answered(name):
    method = CASE.plan(name)
    assert tuple(terms.request for terms in method.terms()) == AGREED[name]
    for kind, request in requests(method).items():
        if kind in AGREED[name]:
            rules(method).check_request(request)
        else:
            agreed = ", ".join(one.__name__ for one in AGREED[name])
            said = f"was asked {kind.__name__}, which was not agreed on; agreed: {agreed}."
            with pytest.raises(ProtocolError) as refused:
                rules(method).check_request(request)
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
    method = CASE.plan(name)
    for kind in AGREED[name]:
        with pytest.raises(ProtocolError) as refused:
            rules(method).check_request(requests(method, **change)[kind])
        assert str(refused.value) == said


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize(
    "labels", [("y0", "y1"), ("y2", "y1", "y0"), ("y0", "y1", "hiv"), ("y0", "y1", "y2", "hiv"), ("y0", "y1", "f0"), ()]
)
def test_other_labels_or_another_order_are_refused(name, labels):
    method, kind = CASE.plan(name), AGREED[name][-1]
    with pytest.raises(ProtocolError) as refused:
        rules(method).check_request(requests(method, labels=labels)[kind])
    assert str(refused.value) == "was asked for other labels than agreed, or in another order."


@pytest.mark.parametrize("name", ["FedCMFS, statistics", "FedCMFS, pooled"])
def test_other_ranges_to_scale_by_than_agreed_are_refused(name):
    """Each site's own, where its reply is never added up, and else those of all."""
    method = CASE.plan(name)
    asked = requests(method)[m.AskCovariances]
    ends, none = (np.zeros(4), np.ones(4)), (None, None)
    others = [m.Scaling(*ends), m.Scaling(*ends, "local")] if asked.own_ranges else [m.Scaling(*none)]
    for other in (*others, m.Scaling(*ends, "robust"), m.Scaling(*ends, "declared"), m.Scaling(*ends, "x" * 99)):
        with pytest.raises(ProtocolError) as refused:
            rules(method).check_request(dataclasses.replace(asked, scaling=other))
        assert str(refused.value) == (
            f"was asked to scale its columns by other ranges than agreed: {other.kind[:20]!r} ones, or not as "
            f"declared; agreed: {asked.scaling.kind!r}."
        )


@pytest.mark.parametrize("n_bins", [2, 4, 0, -1])
def test_other_bins_than_agreed_are_refused(n_bins):
    """Many bins tell values apart that few do not."""
    method = CASE.plan("FMLFS")
    with pytest.raises(ProtocolError) as refused:
        rules(method).check_request(requests(method, n_bins=n_bins)[m.AskInformation])
    assert str(refused.value) == f"was asked for {n_bins} bins; agreed: 3."


@pytest.mark.parametrize("n_given", [1, 2, 3])
def test_no_more_variables_are_given_than_a_site_was_told(n_given):
    method = CASE.plan("FedCMFS, tests", max_conditioning=2)
    request = requests(method, n_given=n_given)[m.AskPartialCorrelations]
    if n_given <= 2:
        rules(method).check_request(request)
    else:
        with pytest.raises(ProtocolError, match=r"^was asked for tests given 3 variables; agreed: 2\.$"):
            rules(method).check_request(request)


@pytest.mark.parametrize("name", PLANS)
def test_a_site_of_too_few_rows_answers_nothing(name):
    method, said = CASE.plan(name), []
    drive(method, CASE.rows, CASE.sites, lambda question, _, reply: said.append((question.request, reply)) or reply)
    strict = rules(method, dataclasses.replace(LENIENT, min_rows=10))
    assert {type(request) for request, _ in said} == set(AGREED[name])
    for request, reply in said:
        strict.check_reply(request, dataclasses.replace(reply, n_rows=10))
        with pytest.raises(ProtocolError, match=r"^has 9 rows; its rules ask for 10 \(min_rows\): "):
            strict.check_reply(request, dataclasses.replace(reply, n_rows=9))


@pytest.mark.parametrize("name", PLANS)
def test_a_site_of_too_few_rows_ends_the_run_under_the_policy_of_sites_only(name):
    case = supervised_example(sizes=(12, 9, 13, 16))
    in_process.select(case.plan(name), case.rows, case.sites)
    with pytest.raises(ProtocolError, match=r"^client 'site-0': has 9 rows; its rules ask for 10 \(min_rows\)"):
        in_process.select(case.plan(name), case.rows, case.sites, policy=dataclasses.replace(LENIENT, min_rows=10))


def test_information_in_ever_new_bins_is_a_second_story():
    """With edges of its choice a server could count values; so there is one request for it in a run."""
    method = CASE.plan("FMLFS")
    asked = requests(method)
    other = dataclasses.replace(asked[m.AskInformation], scaling=m.Scaling(np.full(4, -1.0), np.ones(4)))
    policy, cohort = rules(method), ("a", "b", "c")
    story = policy.check_story(asked[m.AskRanges], "1", cohort, Story(), {})
    first = policy.check_story(asked[m.AskInformation], "2", cohort, story, {})
    assert policy.check_story(other, "3", cohort, story, {}).holds("3")  # had it been the first one
    for again in (other, asked[m.AskInformation]):
        with pytest.raises(
            ProtocolError, match=r"^was asked AskInformation more often than a run of the method does\.$"
        ):
            policy.check_story(again, "3", cohort, first, {})


@settings(max_examples=30)
@given(sites_with_labels(), st.sampled_from(sorted(PLANS)), st.integers(0, 3))
def test_all_that_an_honest_server_asks_and_a_site_answers_is_within_the_agreement(tables, name, size):
    case = SupervisedCase(tables)
    parameters = {"n_bins": size + 2} if name == "FMLFS" else {"max_conditioning": size}
    plan = case.plan(name, **parameters)
    agreed = rules(plan, dataclasses.replace(LENIENT, min_rows=2))

    def watch(question):
        agreed.check_request(question.request)

    in_process.select(plan, case.rows, case.sites, watch=watch, policy=LENIENT)


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
    (_, ranges), (_, pooled) = what_leaves(CASE.plan("FedCMFS, pooled"))
    assert "4 columns" in ranges
    ((_, covariances),) = what_leaves(CASE.plan("FedCMFS, statistics"))
    for said in (pooled, covariances):
        assert "means of 7 columns and 28 sums of products" in said
    ((_, correlations),) = what_leaves(CASE.plan("FedCMFS, tests", max_conditioning=1))
    assert "all correlations of all columns" in correlations


@pytest.mark.parametrize("name", PLANS)
def test_a_column_is_not_asked_for_twice(name):
    method = CASE.plan(name)
    twice = (*CASE.features, CASE.features[0])
    for kind in AGREED[name]:
        with pytest.raises(ProtocolError, match=r"^was asked for a column twice"):
            rules(method).check_request(requests(method, features=twice)[kind])


@pytest.mark.parametrize("name", PLANS)
def test_information_and_covariances_are_of_all_features_at_once(name):
    method = CASE.plan(name)
    for kind in set(AGREED[name]) - {m.AskRanges}:
        with pytest.raises(ProtocolError, match=r"^was asked for other features than agreed"):
            rules(method).check_request(requests(method, features=CASE.features[:2])[kind])
