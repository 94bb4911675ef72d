"""What sites with labels answer: by name, what was asked for; what no rows with 0/1 labels have is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from protocol.federation import drive
from protocol.supervised import PLANS, SupervisedCase, supervised_example
from sites_with_labels import sites_with_labels

CASE = supervised_example()
PLAN_OF = {
    m.Information: "FMLFS",
}


def put(**entries):
    """A reply with entries set: name=(index, value)."""

    def change(reply):
        arrays = {name: getattr(reply, name).copy() for name in entries}
        for name, (index, value) in entries.items():
            arrays[name][index] = value
        return replace(reply, **arrays)

    return change


def shifted(reply):
    """The last feature passed off as a label, of the same names all in all."""
    names = (*reply.features, *reply.labels)
    return replace(reply, features=names[:3], labels=names[3:], relevance=np.zeros((3, 4)), apart=np.zeros(3))


def names(what):
    """Lies about the columns that a reply is about; `what` the message calls them."""
    return {
        "labels in another order": (lambda r: replace(r, labels=r.labels[::-1]), "others, or in another order"),
        "a label less": (lambda r: replace(r, labels=r.labels[1:]), r"answered for 2 labels, .* 3 \(missing: 'y0'\)"),
        "a feature less": (lambda r: replace(r, features=r.features[1:]), rf"answered for 3 {what}.*missing: 'f0'"),
        "features passed off as labels, or labels as features": (shifted, f"answered for [37] {what}, the plan has 4"),
    }


BAD = {
    m.Information: {
        **names("features"),
        "negative information": (put(relevance=((0, 0), -0.01)), r"information outside \[0, 1\] bits, the bounds of 3"),
        "more than a label has": (put(relevance=((0, 0), 1.01)), r"information outside \[0, 1\] bits"),
        "negative distance": (put(apart=(0, -0.01)), "distances outside the bounds of 3 bins and 13 rows"),
        "too far apart": (put(apart=(0, 3.71)), "distances outside the bounds"),  # log2(13) = 3.70
        "a way around": (put(apart=([0, 1, 3], [2.0, 0.5, 0.5])), "break the triangle inequality"),
        "one feature in two places": (
            lambda r: put(relevance=((0, 0), 0.9))(replace(r, apart=np.zeros(6), relevance=np.zeros((4, 3)))),
            "differs by more than the features' distance",
        ),
        "not a number": (put(relevance=((1, 1), np.nan)), "1 values in relevance that are not finite"),
        "infinitely far": (put(apart=(2, np.inf)), "1 values in apart that are not finite"),
        "fewer labels' information": (
            lambda r: replace(r, relevance=r.relevance[:, 1:]),
            r"shape \(4, 2\); .*\(4, 3\)",
        ),
        "distances twice": (lambda r: replace(r, apart=np.zeros(16)), r"apart of shape \(16,\); the plan needs \(6,\)"),
        "other rows": (lambda r: replace(r, n_rows=14), "answered for 14 rows, before for 13"),
    },
}
CASES = [(kind, name) for kind, lies in BAD.items() for name in lies]


def spoil(kind, tamper):
    """Tamper with what site-1 sends of this kind."""

    def change(_ask, name, reply):
        return tamper(reply) if name == "site-1" and type(reply) is kind else reply

    return change


@pytest.mark.parametrize(("kind", "name"), CASES, ids=[f"{kind.__name__}, {name}" for kind, name in CASES])
def test_what_no_rows_have_ends_the_run_with_client_and_reason(kind, name):
    tamper, reason = BAD[kind][name]
    with pytest.raises(ProtocolError, match=f"^client 'site-1': .*{reason}"):
        drive(CASE.plan(PLAN_OF[kind]), CASE.rows, CASE.sites, spoil(kind, tamper))


@pytest.mark.parametrize(("kind", "name"), CASES, ids=[f"{kind.__name__}, {name}" for kind, name in CASES])
def test_under_drop_the_run_equals_one_without_that_client(kind, name):
    plan = CASE.plan(PLAN_OF[kind], on_bad_client="drop")
    result, asked = drive(plan, CASE.rows, CASE.sites, spoil(kind, BAD[kind][name][0]))
    others = {name: site for name, site in CASE.sites.items() if name != "site-1"}
    honest = in_process.select(plan, CASE.rows, others).selection
    assert_array_equal(result.scores, honest.scores)
    assert list(result.dropped) == ["site-1"]
    assert asked[-1].clients == ("site-0", "site-2")


@settings(max_examples=100)
@given(sites_with_labels(), st.sampled_from(sorted(PLANS)), st.integers(2, 9), st.sampled_from([1.0, 1e-6, 1e9]))
def test_no_honest_reply_is_ever_refused(tables, name, n_bins, unit):
    case = SupervisedCase([(X * unit + unit, Y) for X, Y in tables])
    plan = case.plan(name, **({"n_bins": n_bins} if name == "FMLFS" else {}))

    def check(question, name, reply):
        assert question.request.why_refused(reply, m.Known(case.sites[name].n_rows)) is None
        return reply  # `drive` goes on to check it beside the earlier ones

    drive(plan, case.rows, case.sites, check)


@given(sites_with_labels(), st.sampled_from(sorted(PLANS)), st.integers(2, 12), st.sampled_from([-1, 1]))
def test_sites_that_fill_little_of_the_ranges_are_believed(tables, name, power, sign):
    """Beside one large value at the server, copies of a column are copies up to rounding of the ranges."""
    X, Y = tables[0]
    X[0] += sign * 10.0**power
    case = SupervisedCase([(np.hstack([X, -3 * X]), Y), *((np.hstack([Z, -3 * Z]), Yz) for Z, Yz in tables[1:])])
    drive(case.plan(name), case.rows, case.sites)


@given(sites_with_labels(kinds=("few", "0/1", "constant", "copy", "a label")), st.integers(2, 5))
def test_information_at_the_edge_of_its_bounds_passes(tables, n_bins):
    """Features that are labels, copies of each other, or tell rows of a small site all apart."""
    case = SupervisedCase([(np.round(X * 4) % n_bins, Y) for X, Y in tables])
    drive(case.plan("FMLFS", n_bins=n_bins), case.rows, case.sites)


def test_the_checks_above_see_every_kind_of_reply():
    seen = set()
    for name in PLANS:
        drive(CASE.plan(name), CASE.rows, CASE.sites, lambda _ask, _name, reply: seen.add(type(reply)) or reply)
    assert seen == {m.Ranges, m.Information}


@pytest.fixture
def requests():
    """One of each kind that needs labels, in ranges that hold everything."""
    plan, wide = CASE.plan("FMLFS"), m.Scaling(np.full(4, -99.0), np.full(4, 99.0))
    return [
        m.AskInformation(plan.columns, plan.labels, wide, 3),
        m.AskCovariances(plan.columns, wide, plan.labels),
    ]


def test_a_site_without_the_labels_refuses_by_their_names(requests):
    X, Y = CASE.tables[2]
    bare, other = ArrayTable(CASE.features, X), ArrayTable(CASE.features, X, ("y0", "y1", "z"), Y)
    for table, absent in ((bare, "'y0', 'y1', 'y2'"), (other, "'y2'")):
        for request in requests:
            assert request.why_refused(Client(table).answer(request), m.Known()) == (
                f"no label {absent} here. This method needs sites that hold labels."
            )


def test_features_and_labels_are_taken_by_name_in_the_order_asked(requests):
    X, Y = CASE.tables[2]
    straight = ArrayTable(CASE.features, X, CASE.labels, Y)
    mixed = ArrayTable(CASE.features[::-1], X[:, ::-1], CASE.labels[::-1], Y[:, ::-1])
    for request in requests:
        other = Client(mixed).answer(request)
        for name, value in vars(Client(straight).answer(request)).items():
            assert_array_equal(getattr(other, name), value)


def test_labels_that_are_not_asked_for_stay_out():
    X, Y = CASE.tables[2]
    low, high = X.min(axis=0) - 1, X.max(axis=0) + 2
    columns = m.Columns(CASE.features, (), "error")
    reply = Client(CASE.sites["site-1"]).answer(m.AskCovariances(columns, m.Scaling(low, high), ("y2",)))
    values = np.column_stack([(X - (low + high) / 2) / (high - low), Y[:, 2]])
    assert reply.labels == ("y2",)
    assert_allclose(reply.sums, values.sum(axis=0), rtol=0, atol=1e-12)
    assert_allclose(reply.upper, (values.T @ values)[np.triu_indices(5)], rtol=0, atol=1e-12)
