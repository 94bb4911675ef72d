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
N = 13  # rows of site-1
PLAN_OF = {
    m.Information: "FMLFS",
    m.Covariances: "FedCMFS, statistics",
    m.PartialCorrelations: "FedCMFS, tests",
}


def put(**entries):
    """A reply with entries set: name=(index, value)."""

    def change(reply):
        arrays = {name: getattr(reply, name).copy() for name in entries}
        for name, (index, value) in entries.items():
            arrays[name][index] = value
        return replace(reply, **arrays)

    return change


def with_deviations(change):
    """Covariances whose sums of products of deviations were changed in place; the sums are as they were."""

    def changed(reply):
        matrix = reply.deviations()
        change(matrix)
        matrix += np.outer(reply.sums, reply.sums) / reply.n_rows
        return replace(reply, upper=matrix[np.triu_indices(len(matrix))])

    return changed


def label_mean(value):
    """The first label's mean, with the spread that follows from it."""

    def changed(reply):
        sums = reply.sums.copy()
        sums[4] = N * value
        spread = abs(N * value * (1 - value))
        return with_deviations(lambda S: S.__setitem__((4, 4), spread))(replace(reply, sums=sums))

    return changed


def correlated(matrix):
    """The first three features with these correlations, and with nothing else."""

    def change(S):
        S[:3, :] = S[:, :3] = 0
        S[:3, :3] = np.array(matrix) * 0.6

    return with_deviations(change)


def shifted(reply):
    """The last feature passed off as a label, of the same names all in all."""
    names = (*reply.features, *reply.labels)
    if isinstance(reply, m.Covariances):
        return replace(reply, features=names, labels=())  # no label left whose rules could be broken
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
    m.Covariances: {
        **names("columns"),
        "negative spread": (with_deviations(lambda S: S.__setitem__((1, 1), -0.1)), "sent negative spreads"),
        "half a label": (label_mean(0.5), "means of labels that no 0/1 labels have"),
        "more than all": (label_mean(2.0), "means of labels that no 0/1 labels have"),
        "less than nothing": (label_mean(-1.0), "means of labels that no 0/1 labels have"),
        "spread of other labels": (
            with_deviations(lambda S: S.__setitem__((4, 4), S[4, 4] + 0.1)),
            "spreads of labels that no 0/1 labels of these means have",
        ),
        "more common than own": (correlated([[1, 1.01, 0], [1.01, 1, 0], [0, 0, 1]]), "above the product of the dev"),
        "one like two that are unlike": (
            correlated([[1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1]]),
            "a combination of columns a negative spread",
        ),
        "not a number": (put(sums=(0, np.nan)), "1 values in sums that are not finite"),
        "infinite": (put(upper=(0, np.inf)), "1 values in upper that are not finite"),
        "a sum less": (lambda r: replace(r, sums=r.sums[1:]), r"sums of shape \(6,\); the plan needs \(7,\)"),
        "without the diagonal": (lambda r: replace(r, upper=np.zeros(21)), r"\(21,\); the plan needs \(28,\)"),
        "one row": (lambda r: replace(r, n_rows=1), "has 1 row; a client needs at least 2"),
        "beyond the range": (put(sums=(0, 0.51 * N)), r"a mean outside \[0, 1\] for a scaled feature"),
        "wider than the range": (
            with_deviations(lambda S: S.__setitem__((0, 0), N / 4 + 0.01)),
            r"a spread that no values in \[0, 1\] of this mean have",
        ),
        "products of far more": (put(upper=(1, 1.01 * N)), "above the product of the dev"),
        "a constant that varies with another": (
            correlated([[0, 0.1, 0], [0.1, 1, 0], [0, 0, 1]]),
            "above the product of the dev",
        ),
        "its ends are not reached": (correlated(np.eye(3) * 0.01), "moments that contradict its ranges"),
    },
    m.PartialCorrelations: {
        "beyond 1": (put(values=(0, 1.001)), r"correlations outside \[-1, 1\]"),
        "beyond -1": (put(values=(0, -1.001)), r"correlations outside \[-1, 1\]"),
        "infinite": (put(values=(0, -np.inf)), r"correlations outside \[-1, 1\]"),
        "of other tests": (lambda r: replace(r, values=r.values[1:]), "values of shape .* the plan needs"),
        "no numbers": (lambda r: replace(r, values=r.values.tolist()), "values as list, no array of numbers"),
        "one row": (lambda r: replace(r, n_rows=1), "has 1 row; a client needs at least 2"),
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


def test_a_correlation_that_is_not_defined_at_a_site_is_no_lie():
    spoiled = spoil(m.PartialCorrelations, lambda r: replace(r, values=np.full_like(r.values, np.nan)))
    result, _ = drive(CASE.plan("FedCMFS, tests"), CASE.rows, CASE.sites, spoiled)
    assert result.dropped == {}
    assert np.isfinite(result.scores).all()


@settings(max_examples=40)
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
    assert seen == {m.Ranges, m.Information, m.Covariances, m.PartialCorrelations}


@pytest.fixture
def requests():
    """One of each kind that needs labels, in ranges that hold everything."""
    plan, wide = CASE.plan("FMLFS"), m.Scaling(np.full(4, -99.0), np.full(4, 99.0))
    pairs = np.array([0, 1]), np.array([4, 6]), np.array([[3], [5]])
    return [
        m.AskInformation(plan.columns, plan.labels, wide, 3),
        m.AskCovariances(plan.columns, wide, plan.labels),
        m.AskPartialCorrelations(plan.columns, plan.labels, *pairs),
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


@pytest.mark.parametrize("name", ["FedCMFS, statistics", "FedCMFS, tests", "FedCMFS, pooled"])
def test_values_whose_products_would_overflow_are_scaled_first(name):
    found = []
    for large in (1e120, 1e200, 1e300):  # beside them all other values are one point
        case = supervised_example()
        case.tables[1][0][0, 0] = large
        found.append(in_process.select(case.plan(name), case.rows, case.sites).selection)
    for other in found[1:]:
        assert_allclose(other.scores, found[0].scores, rtol=0, atol=1e-12)
    assert np.isfinite(found[0].scores).all()
    case.tables[1][0][0, 0] = 1e301
    with pytest.raises(
        ProtocolError, match=r"^client 'site-0': 1 too large \(beyond ±1e\+300\) value in column 'f0'\."
    ):
        in_process.select(case.plan(name), case.rows, case.sites)
