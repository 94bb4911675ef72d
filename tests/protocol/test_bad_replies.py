"""Replies that no table could have produced are refused, with the client's name and the reason."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.methods import SSFMLFSMethod
from protocol.federation import WIRES, drive, example, labeled, select, sites
from strategies import Federation


def changed(**values):
    """A tampering that replaces fields; a callable gets the honest value."""

    def tamper(reply):
        return replace(reply, **{k: v(getattr(reply, k)) if callable(v) else v for k, v in values.items()})

    return tamper


def entry(index, value):
    """Set one entry of an array."""

    def change(array):
        copy = array.copy()
        copy[index] = value
        return copy

    return change


BAD = [
    ("statistics", m.RangesAndMoments, changed(low=entry(2, np.nan)), "bad range .* must be finite"),
    ("statistics", m.RangesAndMoments, changed(high=entry(0, -1e9)), "low <= high"),
    ("statistics", m.RangesAndMoments, changed(low=np.inf, high=-np.inf), "low as float, no array of numbers"),
    ("statistics", m.RangesAndMoments, changed(low=lambda x: x.astype(str)), "no array of numbers"),
    ("statistics", m.RangesAndMoments, changed(n_rows=10**400), "whole number below 9007199254740992"),
    ("statistics", m.RangesAndMoments, changed(n_rows=13.0), "whole number below"),
    ("statistics", m.RangesAndMoments, changed(count=entry(1, 3)), "counts outside"),
    ("statistics", m.RangesAndMoments, changed(count=lambda x: x.astype(float)), "counts outside"),
    ("statistics", m.RangesAndMoments, changed(mean=lambda x: x[:-1]), r"mean of shape \(5,\)"),
    ("statistics", m.RangesAndMoments, changed(m2=entry(0, np.nan)), "1 values in m2 that are not finite"),
    ("statistics", m.RangesAndMoments, changed(mean=entry(0, 0.01)), "moments that contradict its ranges"),
    ("statistics", m.RangesAndMoments, changed(m2=entry(0, 0.4)), "moments that contradict its ranges"),
    ("statistics", m.RangesAndMoments, changed(m2=entry(0, 9.0)), "a spread above what its ranges allow"),
    ("statistics", m.RangesAndMoments, changed(high=entry(0, -5.0), low=entry(0, -5.0)), "one point"),
    ("statistics", m.Moments, changed(n_clipped=None), "clipped None"),
    ("vectors", m.Products, changed(values=list), "values as list, no array"),
    (
        "statistics",
        m.RangesAndMoments,
        changed(features=lambda f: f[1:]),
        r"answered for 5 features, the plan has 6 \(missing: 'f0'\)",
    ),
    ("statistics", m.Moments, changed(features=lambda f: f[::-1]), "others, or in another order"),
    ("statistics", m.PairSums, changed(features=lambda f: f[::-1]), "others, or in another order"),
    ("matrices", m.Relations, changed(features=lambda f: f[::-1]), "others, or in another order"),
    ("statistics", m.RangesAndMoments, changed(n_rows=1), "has 1 row; a client needs at least 2"),
    (
        "statistics",
        m.RangesAndMoments,
        lambda _: m.PairSums(5, ("f0",), np.ones(1)),
        "answered AskRangesAndMoments with PairSums; expected RangesAndMoments",
    ),
    ("statistics", m.RangesAndMoments, lambda _: m.Refusal("the disk is on fire"), "the disk is on fire"),
    ("statistics", m.RangesAndMoments, lambda _: None, "did not answer"),
    ("statistics", m.RangesAndMoments, lambda _: "hello", "answered AskRangesAndMoments with str"),
    ("statistics", m.Moments, changed(mean=lambda x: x[:-1]), r"mean of shape \(5,\); the plan needs \(6,\)"),
    ("statistics", m.Moments, changed(m2=entry(0, np.inf)), "1 values in m2 that are not finite"),
    ("statistics", m.Moments, changed(m2=entry(0, -0.5)), "spread that no values"),
    ("statistics", m.Moments, changed(m2=entry(0, 99.0)), "spread that no values"),
    ("statistics", m.Moments, changed(mean=entry(3, 1.5)), r"mean outside \[0, 1\]"),
    ("statistics", m.Moments, changed(count=entry(1, 3)), "counts outside"),
    ("statistics", m.Moments, changed(n_rows=99), "answered for 99 rows, before for 13"),
    ("statistics", m.PairSums, changed(n_rows=14), "answered for 14 rows, before for 13"),
    ("vectors", m.Products, changed(n_rows=12), "answered for 12 rows, before for 13"),
    ("matrices", m.Relations, changed(n_rows=12), "answered for 12 rows, before for 13"),
    ("statistics", m.RangesAndMoments, changed(high=lambda x: x[:-1]), r"high of shape \(5,\); the plan needs \(6,\)"),
    ("statistics", m.Moments, changed(n_clipped=-1), "clipped -1 values"),
    ("statistics", m.PairSums, changed(upper=lambda x: x[:-1]), "upper of shape"),
    ("statistics", m.PairSums, changed(upper=entry(1, np.nan)), "not finite"),
    ("statistics", m.PairSums, changed(upper=entry(1, -1.0)), "below 0"),
    ("statistics", m.PairSums, changed(upper=entry(0, 12.9)), r"outside \[n, n²\] = \[13, 169\]"),
    ("statistics", m.PairSums, changed(upper=entry(0, 170.0)), r"outside \[n, n²\]"),
    ("statistics", m.PairSums, changed(upper=entry(1, 160.0)), r"above min\(S_p, S_b\)"),
    ("vectors", m.Products, changed(values=entry(2, np.inf)), "not finite"),
    ("vectors", m.Products, changed(values=entry(2, -1.0)), "products outside"),
    ("vectors", m.Products, changed(values=entry(2, 1e9)), "products outside"),
    ("matrices", m.Relations, changed(values=lambda x: x[:, :-1]), "values of shape"),
    ("matrices", m.Relations, changed(values=entry((0, 0, 1), 0.123)), "not symmetric"),
    ("matrices", m.Relations, changed(values=entry((1, 2, 2), 0.5)), "not reflexive"),
    ("matrices", m.Relations, changed(values=entry((slice(None), 0, 0), 1.5)), r"outside \[0, 1\]"),
    ("matrices", m.Relations, changed(values=entry((0, 0, 0), np.nan)), "not finite"),
]


def method_that_hears(kind, case, **parameters):
    """Moments travel by themselves after ranges that are no exact extremes."""
    return SSFMLFSMethod(case.features, ranges=ranges_before(kind), **parameters)


def ranges_before(kind):
    return "robust" if kind is m.Moments else "federated"


def spoil(kind, tamper):
    """Tamper with what site-1 sends of this kind."""

    def change(_question, name, reply):
        return tamper(reply) if name == "site-1" and type(reply) is kind else reply

    return change


@pytest.mark.parametrize(("wire", "kind", "tamper", "reason"), BAD)
def test_a_bad_reply_ends_the_run_and_names_client_and_reason(wire, kind, tamper, reason):
    case = example()
    with pytest.raises(ProtocolError, match=f"client 'site-1': .*{reason}"):
        drive(method_that_hears(kind, case, wire=wire), labeled(case), sites(case), spoil(kind, tamper))


@pytest.mark.parametrize(("wire", "kind", "tamper"), [bad[:3] for bad in BAD])
def test_under_drop_the_run_equals_one_without_that_client(wire, kind, tamper):
    case = example()
    method = method_that_hears(kind, case, wire=wire, on_bad_client="drop")
    result, asked = drive(method, labeled(case), sites(case), spoil(kind, tamper))
    others = {name: X for name, X in case.clients.items() if name != "site-1"}
    honest = select(Federation(others, case.X, case.Y), wire=wire, ranges=ranges_before(kind))
    assert_allclose(result.scores, honest.scores, rtol=0, atol=0)
    assert list(result.dropped) == ["site-1"]
    assert set(result.n_rows) == set(others)
    # One run is one cohort: after the loss everything is asked again, and never of the lost client.
    rounds = [question.round for question in asked]
    assert rounds == sorted(rounds)
    restart = [question for question in asked if type(question.request) is type(asked[0].request)][1]
    assert restart.clients == ("site-0", "site-2")


def test_clients_that_are_lost_together_are_dropped_together():
    """Everything is asked again once, not once for each of them."""
    case = example(n_clients=4)

    def lose_two(_question, name, reply):
        return None if name in ("site-0", "site-2") and isinstance(reply, m.Moments) else reply

    method = method_that_hears(m.Moments, case, on_bad_client="drop")
    result, asked = drive(method, labeled(case), sites(case), lose_two)
    assert result.dropped == dict.fromkeys(("site-0", "site-2"), "did not answer.")
    assert [type(question.request) for question in asked] == [
        *(m.AskHistograms, m.AskMoments, m.AskHistograms, m.AskMoments, m.AskPairSums)
    ]
    assert [question.round for question in asked] == [1, 2, 3, 4, 5]


def test_drop_needs_two_clients_to_remain():
    case = example(n_clients=2)
    method = SSFMLFSMethod(case.features, on_bad_client="drop")
    with pytest.raises(ProtocolError, match=r"only 1 site remains; 2 are needed\. Dropped: 'site-1': the disk"):
        drive(method, labeled(case), sites(case), spoil(m.RangesAndMoments, lambda _: m.Refusal("the disk is on fire")))


def test_a_product_that_contradicts_the_one_before_ends_the_run():
    """A reply of before, sent again: each is possible by itself."""
    case, sent = example(), []

    def replay(_question, name, reply):
        if name == "site-1" and isinstance(reply, m.Products):
            sent.append(reply)
            return sent[0]
        return reply

    with pytest.raises(ProtocolError, match=r"client 'site-1': sent products that contradict its earlier ones"):
        drive(SSFMLFSMethod(case.features, wire="vectors"), labeled(case), sites(case), replay)
    assert len(sent) == 2


def test_every_honest_reply_passes_also_at_the_edges_of_the_rules():
    # Two rows, all equal, all different, values at both ends: the extreme tables of every bound.
    tables = {
        "a": np.array([[0.0, 0, 0, 1], [1.0, 0, 1, 0]]),
        "b": np.array([[0.0, 1, 0, 1], [0.0, 1, 1, 0], [1, 0, 0, 1]]),
    }
    rng = np.random.default_rng(0)
    case = Federation(tables, rng.random((6, 4)), rng.integers(0, 2, (6, 3)))
    for wire in WIRES:
        for lam in (0.4, 2.0):
            assert np.isfinite(select(case, wire=wire, lam=lam).scores).all()
