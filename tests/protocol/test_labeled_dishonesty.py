"""Information, covariances and correlations that no rows with 0/1 labels have are refused; honest ones never are."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fedsieve.errors import ProtocolError
from fedsieve.protocol import Client
from fedsieve.protocol import messages as m
from fedsieve.protocol.validation import Expected, why_refused
from fedsieve.transport import in_process
from labeled_sites import labeled_sites
from protocol.federation import drive
from protocol.labeled import PLANS, LabeledCase, labeled_example

CASE = labeled_example()
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


def with_products(change):
    """Covariances whose matrix was changed in place."""

    def changed(reply):
        matrix = reply.products()
        change(matrix)
        return replace(reply, upper=matrix[np.triu_indices(len(matrix))])

    return changed


def label_mean(value):
    """The first label's mean, with the spread that follows from it."""

    def changed(reply):
        mean = reply.mean.copy()
        mean[4] = value
        return with_products(lambda S: S.__setitem__((4, 4), abs(N * value * (1 - value))))(replace(reply, mean=mean))

    return changed


def correlated(matrix):
    """The first three features with these correlations, and with nothing else."""

    def change(S):
        S[:3, :] = S[:, :3] = 0
        S[:3, :3] = np.array(matrix) * 5.0

    return with_products(change)


def shifted(reply):
    """The last feature passed off as a label, of the same names all in all."""
    names = (*reply.features, *reply.labels)
    if isinstance(reply, m.Covariances):
        return replace(reply, features=names, labels=())  # no label left whose rules could be broken
    return replace(reply, features=names[:3], labels=names[3:], relevance=np.zeros((3, 4)), apart=np.zeros(3))


NAMES = {
    "labels in another order": (lambda r: replace(r, labels=r.labels[::-1]), "others, or in another order"),
    "a label less": (lambda r: replace(r, labels=r.labels[1:]), r"answered for 2 labels, .* 3 \(missing: 'y0'\)"),
    "a feature less": (lambda r: replace(r, features=r.features[1:]), r"answered for 3 features.*missing: 'f0'"),
    "features passed off as labels, or labels as features": (shifted, "answered for [37] features, the plan has 4"),
}
BAD = {
    m.Information: {
        **NAMES,
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
        **NAMES,
        "negative spread": (with_products(lambda S: S.__setitem__((1, 1), -0.1)), "sent negative spreads"),
        "half a label": (label_mean(0.5), "means of labels that no 0/1 labels have"),
        "more than all": (label_mean(2.0), "means of labels that no 0/1 labels have"),
        "less than nothing": (label_mean(-1.0), "means of labels that no 0/1 labels have"),
        "spread of other labels": (
            with_products(lambda S: S.__setitem__((4, 4), S[4, 4] + 0.1)),
            "spreads of labels that no 0/1 labels of these means have",
        ),
        "more common than own": (correlated([[1, 1.01, 0], [1.01, 1, 0], [0, 0, 1]]), "above the product of the dev"),
        "one like two that are unlike": (
            correlated([[1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1]]),
            "a combination of columns a negative spread",
        ),
        "not a number": (put(mean=(0, np.nan)), "1 values in mean that are not finite"),
        "infinite": (put(upper=(0, np.inf)), "1 values in upper that are not finite"),
        "a mean less": (lambda r: replace(r, mean=r.mean[1:]), r"mean of shape \(6,\); the plan needs \(7,\)"),
        "without the diagonal": (lambda r: replace(r, upper=np.zeros(21)), r"\(21,\); the plan needs \(28,\)"),
        "one row": (lambda r: replace(r, n_rows=1), "has 1 row; a client needs at least 2"),
    },
    m.PartialCorrelations: {
        "beyond 1": (put(values=(0, 1.001)), r"correlations outside \[-1, 1\]"),
        "beyond -1": (put(values=(0, -1.001)), r"correlations outside \[-1, 1\]"),
        "infinite": (put(values=(0, -np.inf)), r"correlations outside \[-1, 1\]"),
        "of other tests": (lambda r: replace(r, values=r.values[1:]), "values of shape .* the plan needs"),
        "no numbers": (lambda r: replace(r, values=r.values.tolist()), "values as list, no array of numbers"),
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


@settings(max_examples=100)
@given(labeled_sites(), st.sampled_from(sorted(PLANS)), st.integers(2, 9), st.sampled_from([1.0, 1e-6, 1e9]))
def test_no_honest_reply_is_ever_refused(tables, name, n_bins, unit):
    case = LabeledCase([(X * unit + unit, Y) for X, Y in tables])
    plan = case.plan(name, **({"n_bins": n_bins} if name == "FMLFS" else {}))

    def check(ask, name, reply):
        expected = Expected((), may_miss=False, n_rows=len(case.sites[name].X))
        assert why_refused(ask.request, reply, expected) is None
        return reply

    drive(plan, case.rows, case.sites, check)


@given(labeled_sites(kinds=("few", "0/1", "constant", "copy", "a label")), st.integers(2, 5))
def test_information_at_the_edge_of_its_bounds_passes(tables, n_bins):
    """Features that are labels, copies of each other, or tell rows of a small site all apart."""
    case = LabeledCase([(np.round(X * 4) % n_bins, Y) for X, Y in tables])
    drive(case.plan("FMLFS", n_bins=n_bins), case.rows, case.sites)


def test_the_checks_above_see_every_kind_of_reply():
    seen = set()
    for name in PLANS:
        drive(CASE.plan(name), CASE.rows, CASE.sites, lambda _ask, _name, reply: seen.add(type(reply)) or reply)
    assert seen == {m.Ranges, m.Information, m.Covariances, m.PartialCorrelations}


@pytest.mark.parametrize("request_of", [m.AskCovariances, m.AskInformation])
def test_a_site_without_the_labels_refuses_by_their_names(request_of):
    plan = CASE.plan("FMLFS")
    scaling = m.Scaling(np.full(4, -99.0), np.full(4, 99.0))
    more = () if request_of is m.AskCovariances else (scaling, 3)
    site = CASE.sites["site-1"]
    for bare in (replace(site, labels=(), Y=None), replace(site, labels=("y0", "y1", "z"))):
        reply = Client(bare).answer(request_of(plan.columns, plan.labels, *more))
        assert why_refused(request_of(plan.columns, plan.labels, *more), reply, Expected((), False, None)) == (
            f"no label {', '.join(map(repr, plan.labels)) if bare.Y is None else repr('y2')} here. "
            "This method needs sites that hold labels."
        )


@pytest.mark.parametrize("change", [put(relevance=((0, 1), 0.3)), put(apart=(0, 0.5))], ids=["relevance", "apart"])
def test_values_in_one_bin_tell_nothing(change):
    features, labels = ("f0", "f1"), ("y0", "y1")
    columns = m.Columns(features, (), "error")
    named = m.Ranges(9, features, np.array([0.1, 2.0]), np.array([0.2, 3.0]))  # both in the first third of [0, 10]
    request = m.AskInformation(columns, labels, m.Scaling(np.zeros(2), np.full(2, 10.0)), 3)
    honest = m.Information(9, features, labels, np.zeros((2, 2)), np.zeros(1))
    expected = Expected((), False, 9, (m.AskRanges(columns), named))
    assert why_refused(request, honest, expected) is None
    consistent = put(relevance=(slice(None), 0.3))(change(honest)) if change(honest).apart[0] else change(honest)
    reason = why_refused(request, put(apart=(0, 0.5))(consistent), expected)
    assert reason == "sent information that contradicts its ranges: values in one bin tell nothing."


def test_values_whose_products_overflow_are_refused_by_the_site_itself():
    case = labeled_example()
    case.tables[1][0][0, 0] = 1e200
    with pytest.raises(ProtocolError, match=r"^client 'site-0': a value beyond ±1e\+140, whose products overflow"):
        in_process.select(case.plan("FedCMFS, statistics"), case.rows, case.sites)
