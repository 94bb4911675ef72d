"""What a site agreed to when it agreed to Sieve, what it is told of that, and what it refuses, whoever asks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.methods import SieveMethod
from fedsieve.privacy import LIBRARY, SITE, SiteRules, what_leaves, why_forbidden
from fedsieve.protocol import SERVER
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.site_state import TransientState
from message_examples import examples_of
from policies import LENIENT
from sieve_cases import partitions, sieve_cases, sieve_example, thirds

FEATURES = ("f0", "f1", "f2", "f3")
NARROW = (m.AskRanges, m.AskMeans, m.AskCovariances)
WIDE = (m.AskRanges, m.AskMeans, m.AskProjections, m.AskCovariances)
PLANS = {
    "numbers": (SieveMethod(FEATURES, ranges="federated"), NARROW),
    "as many numbers as are compared": (
        SieveMethod(FEATURES, ranges="federated", n_features_to_select=1, screen=4),
        NARROW,
    ),
    "one number more": (SieveMethod(FEATURES, ranges="federated", n_features_to_select=1, screen=3), WIDE),
    "twice as many as are selected": (
        SieveMethod(FEATURES, ranges="federated", n_features_to_select=2, screen=2),
        NARROW,
    ),
    "codes": (
        SieveMethod(FEATURES, ranges="federated", nominal=("f2",)),
        WIDE,
    ),  # how many columns that makes, only ranges will tell
    "groups": (SieveMethod(FEATURES, ranges="federated", groups=(("f0", "f3"),)), NARROW),
}
plans = pytest.mark.parametrize(("plan", "agreed"), PLANS.values(), ids=PLANS)
policies = pytest.mark.parametrize("policy", [LIBRARY, LENIENT], ids=["library", "lenient site"])


def rules(plan, policy=LENIENT):
    return SiteRules(plan, policy)


def requests(plan, features=None, nominal=None, missing="mean"):
    """One request of every kind, of the plan's columns unless others are given; codes are 0 and 1."""
    features = plan.features if features is None else features
    nominal = tuple(name for name in features if name in plan.nominal) if nominal is None else nominal
    columns, d = m.Columns(features, nominal, missing), len(features)
    scaling = m.Scaling(np.zeros(d), np.ones(d))
    own = [
        m.AskRanges(columns),
        m.AskMeans(columns, scaling),
        m.AskCovariances(columns, scaling),
        m.AskProjections(columns, scaling, np.ones((d + len(nominal), 2))),
    ]
    others = {kind: examples_of(kind)[0] for kind in m.REQUESTS.values()}
    return {**others, **{type(request): request for request in own}}


def refused(plan, request, policy=LENIENT):
    with pytest.raises(ProtocolError) as told:
        rules(plan, policy).check_request(request)
    return str(told.value)


@policies
@plans
def test_exactly_the_kinds_of_request_that_were_agreed_on_are_answered(plan, agreed, policy):
    assert tuple(terms.request for terms in plan.terms()) == agreed
    names = ", ".join(kind.__name__ for kind in agreed)
    for kind, request in requests(plan, FEATURES[: plan.n_compared]).items():
        if kind in agreed:
            rules(plan, policy).check_request(request)
        else:
            said = f"was asked {kind.__name__}, which was not agreed on; agreed: {names}."
            assert refused(plan, request, policy) == said


@policies
def test_the_last_product_of_another_method_is_refused_too(policy):
    request = m.AskProducts(None, np.ones(4))
    assert "AskProducts, which was not agreed on" in refused(SieveMethod(FEATURES, ranges="federated"), request, policy)


@policies
def test_covariances_with_labels_are_those_of_another_method(policy):
    for plan, _ in (PLANS["numbers"], PLANS["codes"], PLANS["groups"]):
        for features, what in ((FEATURES, "labels"), (FEATURES[1:], "features")):
            asked = requests(plan, features)[m.AskCovariances]
            with_labels = m.AskCovariances(asked.columns, asked.scaling, ("y",))
            said = f"was asked for other {what} than agreed, or in another order."
            assert refused(plan, with_labels, policy) == said


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
        for policy in (LIBRARY, LENIENT):
            assert refused(plan, requests(plan, **changes)[kind], policy) == said


def test_codes_are_not_read_as_numbers():
    plan, agreed = PLANS["codes"]
    for kind in agreed:
        assert refused(plan, requests(plan, nominal=())[kind]) == OTHERWISE


@plans
def test_a_part_of_the_columns_may_be_asked_for(plan, agreed):
    """The most relevant of a wide table are."""
    for kind in agreed:
        rules(plan).check_request(requests(plan, features=("f2", "f0"))[kind])


def test_covariances_in_each_site_s_own_ranges_were_not_agreed_on():
    plan, _ = PLANS["numbers"]
    for kind in ("federated", "local", "robust"):
        own = m.AskCovariances(plan.columns, m.Scaling(None, None, kind))
        said = (
            "was asked to scale its columns by other ranges than agreed: {!r} ones, or not as declared; agreed: {!r}."
        )
        assert refused(plan, own) == said.format(kind, "federated")


def answered(plan, asked, n_rows, policy):
    """What leaves a site of so many rows, all its values being 0 or 1, when it is asked these in turn."""
    X = np.random.default_rng(0).integers(0, 2, (n_rows, len(FEATURES))).astype(float)
    endpoint = Endpoint.of_table(ArrayTable(FEATURES, X), plan, policy, Bare(), TransientState())
    return [decode(endpoint.answer(encode(request))) for request in asked]


FEW = (
    "has 9 rows; its rules ask for {} (min_rows): sums of few rows hide little. "
    "Wait for more rows, or lower min_rows in the agreement and in policy.toml."
)


@plans
def test_a_site_of_too_few_rows_answers_nothing(plan, agreed):
    asked = [requests(plan, FEATURES[: plan.n_compared])[kind] for kind in agreed]
    least_10 = replace(LENIENT, min_rows=10)
    for policy, least in ((least_10, 10), (SITE, 50)):
        for reply in answered(plan, asked, 9, policy):
            assert (type(reply), reply.reason) == (m.Refusal, FEW.format(least))
    asked = [request for request in asked if request.columns.features == FEATURES or type(request) is not m.AskMeans]
    agreed = [type(request) for request in asked]  # means are of all columns, or of none
    for n_rows, policy in ((10, least_10), (9, LIBRARY)):
        replies = answered(plan, asked, n_rows, policy)
        assert [(type(reply), reply.n_rows) for reply in replies] == [(kind.reply, n_rows) for kind in agreed]


@plans
def test_exact_ranges_need_the_permission_of_the_site(plan, agreed):
    """Robust ones do not, and ask for histograms instead."""
    assert "its policy does not allow that (allow_exact_ranges = false)" in why_forbidden(plan, SITE)
    for kind in agreed:
        request = requests(plan, FEATURES[: plan.n_compared])[kind]
        assert refused(plan, request, SITE) == why_forbidden(plan, SITE)
    robust = replace(plan, ranges="robust")
    assert why_forbidden(robust, SITE) == ""
    assert [terms.request for terms in robust.terms()] == [m.AskHistograms, *agreed[1:]]


@settings(max_examples=30)
@given(st.data(), st.sampled_from([{}, {"screen": 2, "n_features_to_select": 1}, {"screen": 4}]))
def test_all_that_an_honest_server_asks_is_within_the_agreement(data, parameters):
    case = data.draw(sieve_cases())
    plan, asked = case.plan(**parameters), []

    def watch(ask):
        rules(plan).check_request(ask.request)
        asked.append(type(ask.request))

    sites = case.sites(data.draw(partitions(case.others)))
    in_process.select(plan, case.rows, sites, watch=watch, policy=LENIENT)
    assert asked[0] is m.AskRanges
    assert asked[-1] is m.AskCovariances


def left(case, **parameters):
    """The kinds of message that sites sent, in order, and those that they were told of."""
    outcome = case.run(thirds(case), **parameters)
    sent = list(dict.fromkeys(entry.kind for entry in outcome.transcript if entry.sender != SERVER))
    return sent, dict(what_leaves(case.plan(**parameters)))


def test_what_is_said_to_leave_a_site_is_what_leaves_it():
    case = sieve_example()
    sent, told = left(case, screen=2, n_features_to_select=1)
    assert sent == ["Ranges", "Projections", "Covariances"]
    assert list(told) == ["Ranges", "Means", "Projections", "Covariances"]
    assert told["Means"].startswith("if values are missing: how many values each of 6 columns has, and their mean")
    assert told["Projections"].startswith("means and spreads of 6 columns, with one column for each code of a nominal")
    assert "the labels that the server's model predicts" in told["Projections"]
    assert "means of up to 2 columns, with one column for each code" in told["Covariances"]


def test_where_codes_may_make_a_table_wide_a_site_is_told_of_that_too():
    case = sieve_example()
    sent, told = left(case)
    assert sent == ["Ranges", "Covariances"]
    assert list(told) == ["Ranges", "Means", "Projections", "Covariances"]
    assert told["Projections"].startswith("if codes make the table wide: means and spreads")


def test_of_numbers_that_can_be_compared_and_may_not_be_missing_two_messages_leave_a_site():
    case = sieve_example().with_columns(np.array([0, 1, 2, 4]))
    case = type(case)(case.X, case.Y, case.others)
    sent, told = left(case, missing="error")
    assert sent == list(told) == ["Ranges", "Covariances"]
    assert told["Ranges"] == (
        "the smallest and the largest value of 4 columns, exactly: two values of each, those of extreme rows"
    )
    assert told["Covariances"] == (
        "the number of rows, means of 4 columns and sums of products of each two: averages, spreads and correlations; "
        "at worst, rows in which three or more columns combine as in hardly any other, and a good guess whether a "
        "known row is there"
    )


def test_covariances_of_more_columns_than_are_compared_are_refused():
    plan = SieveMethod(FEATURES, ranges="federated", n_features_to_select=1, screen=3)
    too_many = requests(plan)[m.AskCovariances]
    assert refused(plan, too_many) == ("was asked for covariances of 4 columns; agreed: at most 3 (screen).")
    rules(plan).check_request(requests(plan, FEATURES[1:])[m.AskCovariances])
    whole = SieveMethod(FEATURES, ranges="federated", n_features_to_select=1, screen=3, groups=(FEATURES,))
    rules(whole).check_request(too_many)
