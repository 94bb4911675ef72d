"""A secure total is the sum of those that remain, exactly for counts and to the bound else; or there is a refusal."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import stats

from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.messages.secure_sum import AskMasked
from fedsieve.privacy.secure_sum.cohort import n_sums
from fedsieve.privacy.secure_sum.fixed_point import error
from fedsieve.privacy.secure_sum.shamir import combine, threshold
from fedsieve.privacy.secure_sum.site import Summand, SumSite
from fedsieve.privacy.secure_sum.vectors import layout, reply_of, ring_of
from fedsieve.protocol import BadReplyError
from fedsieve.tables import ArrayTable
from secure_federation import COLUMNS, HISTOGRAMS, SecureFederation, histograms_total, tables

KEYS, SHARES, MASKED, SIGNATURES, UNMASKING = range(5)  # the steps of the first sum, which tells the cells


def test_counts_are_exact():
    federation = SecureFederation(tables(5))
    total = federation.total(HISTOGRAMS)
    assert_array_equal(total.counts, federation.plain(HISTOGRAMS).counts)
    assert total.n_rows == sum(table.n_rows for table in federation.tables.values())
    assert federation.cohort.dropped == {}


@settings(max_examples=10)
@given(st.integers(3, 7), st.integers(0, 2**32 - 1), st.floats(1e-6, 1e6))
def test_sums_of_numbers_are_those_of_a_plain_run_to_the_bound(n_sites, seed, width):
    federation = SecureFederation(tables(n_sites, seed))
    declared = m.Scaling(np.full(3, -width), np.full(3, width), "declared")
    federation = SecureFederation(tables(n_sites, seed), ranges=dict.fromkeys("abc", (-width, width)))
    request = m.AskCovariances(COLUMNS, declared)
    total, plain = federation.total(request), federation.plain(request)
    assert total.n_rows == plain.n_rows
    addends = layout(request, plain.n_rows)[1:]
    for addend, one, other in zip(addends, request.numbers(total), request.numbers(plain), strict=True):
        room = 4 * error(addend, n_sites) + 1e-15 * plain.n_rows  # constants are settled within three times the error
        assert np.all(np.abs(one - other) <= room)


def lose(federation, step, names, what):
    federation.lost = lambda at, name, part: (
        at >= step and name in names and (at > step or part == what or what == "request")
    )


PHASES = [(step, what) for step in (KEYS, SHARES, MASKED, SIGNATURES, UNMASKING) for what in ("request", "reply")]


@pytest.mark.parametrize(("step", "what"), PHASES)
def test_a_site_lost_at_any_point_is_in_the_sum_or_out_of_it_as_a_whole(step, what):
    """Of ten sites three may be lost; numbers that arrived count, others do not."""
    federation = SecureFederation(tables(10))
    gone = {"site-02", "site-05", "site-09"}
    lose(federation, step, gone, what)
    remain = [name for name in federation.names if name not in gone]
    total = federation.total(HISTOGRAMS)
    assert_array_equal(total.counts, federation.plain(HISTOGRAMS, remain).counts)
    counted = federation.names if step > MASKED else remain
    assert federation.cohort._cells.n_rows == sum(federation.tables[name].n_rows for name in counted)
    assert federation.cohort.dropped == dict.fromkeys(sorted(gone), "did not answer.")


@pytest.mark.parametrize(("step", "what"), PHASES)
def test_with_fewer_than_it_takes_there_is_no_total(step, what):
    federation = SecureFederation(tables(10))
    lose(federation, step, {"site-00", "site-02", "site-05", "site-09"}, what)
    with pytest.raises(
        ProtocolError, match=r"^Sieve: 6 of 10 sites are left; a secure sum takes 7\. Lost: 'site-00', .*'site-09': did"
    ):
        federation.total(HISTOGRAMS)


def test_sites_are_lost_one_after_the_other():
    federation = SecureFederation(tables(10))
    federation.lost = lambda step, name, _: step >= {"site-03": 1, "site-04": 4, "site-08": 6}.get(name, 99)
    total = federation.total(HISTOGRAMS, m.AskCovariances(COLUMNS, histograms_total(federation)))
    remain = [name for name in federation.names if name not in federation.cohort.dropped]
    assert len(remain) == 7
    assert total.n_rows == sum(federation.tables[name].n_rows for name in remain)


def test_a_lost_site_ends_the_run_where_that_is_agreed_on():
    federation = SecureFederation(tables(4), on_bad_client="raise")
    lose(federation, MASKED, {"site-01"}, "reply")
    with pytest.raises(BadReplyError, match="client 'site-01': did not answer"):
        federation.total(HISTOGRAMS)


def test_sums_that_belong_together_are_of_the_same_sites():
    federation = SecureFederation(tables(4))
    federation.lost = lambda step, name, _: step >= 8 and name == "site-01"
    with pytest.raises(ProtocolError, match=r"'site-01' lost between sums that belong together \(histograms"):
        federation.total(HISTOGRAMS, HISTOGRAMS)


def test_nobody_sees_single_replies():
    cohort = SecureFederation(tables(3)).cohort
    with pytest.raises(ProtocolError, match=r"AskHistograms of single sites: only the total over the sites is seen"):
        cohort.each(HISTOGRAMS)
    assert cohort.n_rows is None


def test_a_total_that_no_table_has_is_not_believed(monkeypatch):
    """A site whose numbers are no counts; which one it was, nobody can tell."""
    federation = SecureFederation(tables(4))
    honest = HISTOGRAMS.answer

    def answer(_self, table):
        counts = honest(table).counts.copy()
        counts[:2] = -1, counts[0] + counts[1] + 1  # within the bounds of its rows
        return m.Histograms(table.n_rows, COLUMNS.features, counts)

    monkeypatch.setattr(m.AskHistograms, "answer", answer)
    with pytest.raises(ProtocolError, match="the total over 4 sites broke a rule: it sent counts that are no whole"):
        federation.total(HISTOGRAMS)


CONSTANTS = np.array([0.1, 1 / 3, 0.5 + 1e-9, 0.5 + 1e-6, 0.5 - 1e-4, 0.7, 0.999, 1e-7])
DECLARED = m.Scaling(np.zeros(len(CONSTANTS)), np.ones(len(CONSTANTS)), "declared")
MANY = m.Columns(tuple(f"c{i}" for i in range(len(CONSTANTS))), (), "error")


@pytest.mark.parametrize(
    ("request_", "spread"),
    [
        (m.AskCovariances(MANY, DECLARED), lambda total: np.diagonal(total.deviations())),
        (m.AskProjections(MANY, DECLARED, np.ones((len(CONSTANTS), 1))), lambda total: total.spreads()),
        (m.AskMoments(MANY, DECLARED), lambda total: total.m2),
    ],
    ids=["covariances", "projections", "moments"],
)
def test_a_constant_column_has_no_spread_whatever_rounding_leaves(request_, spread):
    sizes = (3, 50, 7, 11, 23)
    tables_ = [ArrayTable(MANY.features, np.tile(CONSTANTS, (n, 1))) for n in sizes]
    n_rows = sum(sizes)
    rings = [ring_of(request_, request_.answer(table), n_rows) for table in tables_]
    total = reply_of(request_, np.sum(rings, axis=0, dtype=np.uint64), n_rows, len(sizes))
    assert spread(total).tolist() == [0.0] * len(CONSTANTS)
    varied = np.tile(CONSTANTS, (n_rows, 1))
    varied[0] += 1e-4
    one = request_.answer(ArrayTable(MANY.features, varied))
    assert np.all(spread(reply_of(request_, ring_of(request_, one, n_rows), n_rows, 1)) > 0)


# What the server sees.

SIZE = 20_000
LEVEL = 1e-6  # of a true null hypothesis, how often a test refuses it


def masked_alone(federation, numbers):
    """What each site sends in a sum of these numbers, in bytes."""
    federation.total()  # keys and shares are there, sum 0 is over; sum 1 is next
    ask = AskMasked(1, np.zeros(3, dtype=np.uint8), federation.names)
    sent = {}
    for name in federation.names:
        vault, identity = federation.states[name].vault("run"), federation.sums[name]._identity
        site = SumSite(identity, "run", federation.names, n_sums(federation.method), vault)
        sent[name] = site.answer(ask, lambda _: Summand(numbers, "nothing")).values
    return sent


@pytest.mark.parametrize("value", [0, 1, 2**64 - 1, 2**63])
def test_a_masked_reply_cannot_be_told_from_random_bytes(value):
    """Chi-square over all bytes of each reply, whatever the numbers are; and no two replies are alike."""
    sent = masked_alone(SecureFederation(tables(4)), np.full(SIZE, value, dtype=np.uint64))
    for values in sent.values():
        counts = np.bincount(np.frombuffer(values.tobytes(), dtype=np.uint8), minlength=256)
        assert stats.chisquare(counts).pvalue > LEVEL
    first, second, *_ = sent.values()
    assert not np.any(first == second)
    # The sum of all is not the sum of the numbers either: the own masks are still in it.
    total = sum(values.view(np.uint64) for values in sent.values())
    assert not np.any(total == np.uint64(4 * value % 2**64))


def test_the_test_of_uniformity_can_fail():
    counts = np.bincount(np.frombuffer(np.arange(SIZE, dtype=np.uint64).tobytes(), dtype=np.uint8), minlength=256)
    assert stats.chisquare(counts).pvalue < LEVEL


def test_one_share_less_than_it_takes_gives_another_seed():
    federation = SecureFederation(tables(7))
    federation.total()
    seeds = {
        federation.names.index(name) + 1: int.from_bytes(reply.seeds[0].tobytes(), "big")
        for name, reply in federation.said[UNMASKING].items()
    }
    assert len(seeds) == 7
    needed = threshold(7)
    some = dict(list(seeds.items())[:needed])
    assert combine(some) == combine(seeds)
    assert combine(dict(list(some.items())[:-1])) != combine(seeds)
