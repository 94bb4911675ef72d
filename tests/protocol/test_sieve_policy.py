"""What a site agreed to when it agreed to Sieve, what it is told of that, and what it refuses, whoever asks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve.errors import ProtocolError
from fedsieve.protocol import SERVER, SievePlan
from fedsieve.protocol import messages as m
from fedsieve.protocol.policy import Policy, what_leaves
from fedsieve.transport import in_process
from protocol.sieve_cases import partitions, sieve_cases, sieve_example, thirds

FEATURES = ("f0", "f1", "f2", "f3")
NARROW, WIDE = (m.AskRanges, m.AskScaledCovariances), (m.AskRanges, m.AskProjections, m.AskScaledCovariances)
PLANS = {
    "numbers": (SievePlan(FEATURES), NARROW),
    "as many numbers as are compared": (SievePlan(FEATURES, n_features_to_select=1, screen=4), NARROW),
    "one number more": (SievePlan(FEATURES, n_features_to_select=1, screen=3), WIDE),
    "twice as many as are selected": (SievePlan(FEATURES, n_features_to_select=2, screen=2), NARROW),
    "codes": (SievePlan(FEATURES, nominal=("f2",)), WIDE),  # how many columns that makes, only ranges will tell
    "groups": (SievePlan(FEATURES, groups=(("f0", "f3"),)), NARROW),
}
plans = pytest.mark.parametrize(("plan", "agreed"), PLANS.values(), ids=PLANS)


def requests(plan, features=None, nominal=None, missing="error"):
    """One request of every kind, of the plan's columns unless others are given."""
    features = plan.features if features is None else features
    nominal = tuple(name for name in features if name in plan.nominal) if nominal is None else nominal
    columns, d = m.Columns(features, nominal, missing), len(features)
    scaling = m.Scaling(np.zeros(d), np.ones(d))
    relation = m.Relation(columns, scaling, np.ones(d), "distance")
    pair = np.zeros(1, dtype=np.int64)
    made = [
        m.AskRanges(columns),
        m.AskMoments(columns, scaling),
        m.AskRelations(relation),
        m.AskPairSums(relation),
        m.AskProducts(relation, np.ones(d)),
        m.AskInformation(columns, ("y",), scaling, 3),
        m.AskCovariances(columns, ("y",)),
        m.AskPartialCorrelations(columns, ("y",), pair, pair, np.empty((1, 0), dtype=np.int64)),
        m.AskScaledCovariances(columns, scaling),
        m.AskProjections(columns, scaling, np.ones((d, 2))),
    ]
    return {type(request): request for request in made}


def refused(policy, request, n_rows=10):
    with pytest.raises(ProtocolError) as told:
        policy.check(request, n_rows)
    return str(told.value)


def test_every_kind_of_request_is_tried():
    assert set(requests(SievePlan(FEATURES))) == set(m.REPLY_TO)


@plans
def test_exactly_the_kinds_of_request_that_were_agreed_on_are_answered(plan, agreed):
    policy = Policy(plan)
    assert policy.kinds == agreed
    names = ", ".join(kind.__name__ for kind in agreed)
    for kind, request in requests(plan, FEATURES[: plan.n_compared]).items():
        if kind in agreed:
            policy.check(request, 10)
        else:
            said = f"was asked {kind.__name__}, which was not agreed on; agreed: {names}."
            assert refused(policy, request) == said


def test_the_last_product_of_another_method_is_refused_too():
    assert "AskProducts, which was not agreed on" in refused(
        Policy(SievePlan(FEATURES)), m.AskProducts(None, np.ones(4))
    )


OTHERWISE = "was asked to read its columns in another way than agreed (nominal, missing)."


@plans
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"features": ("f0", "diagnosis")}, "was asked for columns that were not agreed on: 'diagnosis'."),
        ({"features": ("f2=1",)}, "was asked for columns that were not agreed on: 'f2=1'."),
        ({"features": (*FEATURES, "f0")}, "was asked for a column twice, which no honest server does."),
        ({"missing": "unrelated"}, OTHERWISE),
        ({"nominal": ("f1",)}, OTHERWISE),
        ({"nominal": ("f0", "f2")}, OTHERWISE),
    ],
    ids=str,
)
def test_other_columns_or_another_way_to_read_them_are_refused_in_every_kind(plan, agreed, changes, said):
    for kind in agreed:
        assert refused(Policy(plan), requests(plan, **changes)[kind]) == said


def test_codes_are_not_read_as_numbers():
    plan, agreed = PLANS["codes"]
    for kind in agreed:
        assert refused(Policy(plan), requests(plan, nominal=())[kind]) == OTHERWISE


@plans
def test_a_part_of_the_columns_may_be_asked_for(plan, agreed):
    """The most relevant of a wide table are."""
    for kind in agreed:
        Policy(plan).check(requests(plan, features=("f2", "f0"))[kind], 10)


@plans
def test_a_site_of_too_few_rows_answers_nothing(plan, agreed):
    policy = Policy(plan, min_rows=10)
    for kind in agreed:
        said = "has 9 rows, the agreement asks for 10 (min_rows): sums of few rows hide little."
        assert refused(policy, requests(plan)[kind], 9) == said


@settings(max_examples=30)
@given(st.data(), st.sampled_from([{}, {"screen": 2, "n_features_to_select": 1}, {"screen": 4}]))
def test_all_that_an_honest_server_asks_is_within_the_agreement(data, parameters):
    case = data.draw(sieve_cases())
    policy = Policy(case.plan(**parameters))
    sites = case.sites(data.draw(partitions(case.others)))
    in_process.select(policy.plan, case.rows, sites, watch=lambda ask: policy.check(ask.request, 2))


def left(case, **parameters):
    """The kinds of message that sites sent, in order, and those that they were told of."""
    outcome = case.run(thirds(case), **parameters)
    sent = list(dict.fromkeys(entry.kind for entry in outcome.transcript if entry.sender != SERVER))
    return sent, dict(what_leaves(case.plan(**parameters)))


def test_what_is_said_to_leave_a_site_is_what_leaves_it():
    case = sieve_example()
    sent, told = left(case, screen=2, n_features_to_select=1)
    assert sent == list(told) == ["Ranges", "Projections", "Covariances"]
    assert told["Projections"].startswith("means and spreads of 6 columns, with one column for each code of a nominal")
    assert "the labels that the server's model predicts" in told["Projections"]
    assert "means of up to 2 columns, with one column for each code" in told["Covariances"]


def test_where_codes_may_make_a_table_wide_a_site_is_told_of_that_too():
    case = sieve_example()
    sent, told = left(case)
    assert sent == ["Ranges", "Covariances"]
    assert list(told) == ["Ranges", "Projections", "Covariances"]
    assert told["Projections"].startswith("if codes make the table wide: means and spreads")


def test_of_numbers_that_can_be_compared_two_messages_leave_a_site():
    case = sieve_example().with_columns(np.array([0, 1, 2, 4]))
    case = type(case)(case.X, case.Y, case.others)
    sent, told = left(case)
    assert sent == list(told) == ["Ranges", "Covariances"]
    assert told["Ranges"] == (
        "smallest and largest value of 4 columns: two values of each column, those of extreme rows"
    )
    assert told["Covariances"] == (
        "the number of rows, means of 4 columns and sums of products of each two: averages, spreads and correlations"
    )


def test_covariances_of_more_columns_than_are_compared_are_refused():
    policy = Policy(SievePlan(FEATURES, n_features_to_select=1, screen=3))
    too_many = requests(policy.plan)[m.AskScaledCovariances]
    assert refused(policy, too_many) == ("was asked for covariances of 4 columns; agreed: at most 3 (screen).")
    policy.check(requests(policy.plan, FEATURES[1:])[m.AskScaledCovariances], 10)
    whole = Policy(SievePlan(FEATURES, n_features_to_select=1, screen=3, groups=(FEATURES,)))
    whole.check(too_many, 10)
