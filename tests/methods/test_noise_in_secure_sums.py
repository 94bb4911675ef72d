"""Noise in shares: sites of a secure sum each add a part of it, and the server sees the noisy total alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import Sieve
from fedsieve.errors import ProtocolError
from fedsieve.methods import SieveMethod
from fedsieve.privacy import SITE
from fedsieve.privacy.noise import least_honest, noise_multiplier, noise_scales, seeded_words
from fedsieve.privacy.secure_sum import fixed_point, vectors
from fedsieve.privacy.secure_sum.shamir import threshold
from fedsieve.protocol import Client, Labeled
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process

D, N_SITES = 8, 10
NAMES = tuple(f"f{p}" for p in range(D))
QUICK = {"n_trees": 10, "n_bootstraps": 0, "n_features_to_select": 3}


def plan(**others):
    return SieveMethod(NAMES, **{"epsilon": 1.0, "secure": True, **QUICK, **others})


@pytest.fixture(scope="module")
def federation():
    rng = np.random.default_rng(0)
    mix = rng.normal(size=(D, D)) * rng.choice([0.3, 1.0, 5.0], D)
    X = rng.normal(size=(60, D)) @ mix
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 2] > 0]).astype(float)
    return Labeled(X, Y), {f"site-{i}": ArrayTable(NAMES, rng.normal(size=(200, D)) @ mix) for i in range(N_SITES)}


@pytest.fixture
def totals(monkeypatch):
    """What servers read from the sums of their lists."""
    read, reply_of = [], vectors.reply_of

    def listen(request, ring, n_rows, n_sites):
        read.append((request, reply_of(request, ring, n_rows, n_sites)))
        return read[-1][1]

    monkeypatch.setattr(vectors, "reply_of", listen)
    return read


def test_the_server_reads_one_noisy_total_and_no_exact_number_of_rows(federation, totals):
    outcome = in_process.select(plan(), *federation, words=seeded_words(1))
    ((request, total),) = totals
    assert type(request).__name__ == "AskClippedMoments"
    assert total.n_sites == N_SITES
    assert vectors.length(request, 1) == len(request.noise_units()) + 1  # the number of sites, and nothing else
    assert {entry.kind for entry in outcome.transcript}.isdisjoint({"Cells", "ClippedMoments"})
    assert outcome.selection.privacy["noise_shares"] == least_honest(N_SITES) == 4
    assert [terms.request.__name__ for terms in plan().terms()] == ["AskClippedMoments"]


def test_the_total_has_the_noise_of_all_shares_which_is_less_than_that_of_whole_ones(federation, totals):
    labeled, sites = federation
    drawn = []
    for seed in range(12):
        in_process.select(plan(), labeled, sites, words=seeded_words(seed))
        request, total = totals[-1]
        exact = sum(Client(table).answer(request).values for table in sites.values())
        drawn.append((total.values - exact) / noise_scales(request.noise_units(), noise_multiplier(1.0, 1e-6)))
    assert np.std(drawn) == pytest.approx(np.sqrt(N_SITES / 4), rel=0.06)
    assert np.abs(np.mean(drawn)) < 0.3
    whole, shared = (
        in_process.select(plan(secure=secure), labeled, sites, words=seeded_words(1)).selection.privacy["site_weight"]
        for secure in (False, True)
    )
    assert shared > whole + 0.05


@pytest.mark.parametrize("n_sites", range(3, 101))
def test_shares_suffice_as_long_as_the_masks_hold(n_sites):
    """Masks fall with 2t - n liars among the sites; one less, and fewest survivors, leave so many honest ones."""
    most_liars = 2 * threshold(n_sites) - n_sites - 1
    assert least_honest(n_sites) == threshold(n_sites) - most_liars >= 1


def test_with_next_to_no_noise_the_total_is_that_of_plain_answers(federation, totals, monkeypatch):
    for place in ("methods.noisy_moments", "privacy.noise.release"):
        monkeypatch.setattr(f"fedsieve.{place}.noise_multiplier", lambda *_: 1e-9)
    labeled, sites = federation
    secure, plain = (in_process.select(plan(secure=secure), labeled, sites).selection for secure in (True, False))
    assert_array_equal(secure.order, plain.order)
    assert_allclose(secure.relevance, plain.relevance, atol=1e-3)
    request, total = totals[0]
    exact = sum(Client(table).answer(request).values for table in sites.values())
    assert np.abs(total.values - exact).max() <= 16 * 6 * np.sqrt(N_SITES)  # the narrowest noise there is


def test_a_total_that_no_clipped_rows_have_is_refused(federation, monkeypatch):
    labeled, sites = federation
    answer = Client.answer

    def lie(self, request):
        reply = answer(self, request)
        return reply.plus(np.full(len(reply.values), 1 << 56)) if hasattr(reply, "second") else reply

    monkeypatch.setattr(Client, "answer", lie)
    with pytest.raises(ProtocolError, match=r"the total over the sites (claims|sent) .* nobody can tell"):
        in_process.select(plan(max_rows=10_000), labeled, sites)


def test_sums_of_more_rows_than_whole_numbers_hold_are_refused(federation):
    labeled, sites = federation
    request = None

    def listen(question):
        nonlocal request
        request = question.request

    in_process.select(plan(secure=False), labeled, sites, listen)
    with pytest.raises(ProtocolError, match=r"a sum has 61 bits\. Agree on fewer rows"):
        fixed_point.fraction_bits(vectors.layout(request, 1 << 30)[-1])


def test_under_site_rules_small_sites_take_part_and_nothing_is_left_out(federation):
    labeled, sites = federation
    small = {name: ArrayTable(NAMES, table.whole(NAMES)[:20]) for name, table in sites.items()}
    outcome = in_process.select(plan(min_cell=5, rows_per_column=3), labeled, small, policy=SITE)
    assert outcome.selection.privacy["n_sites"] == N_SITES


def test_the_estimator_takes_both(federation):
    labeled, sites = federation
    clients = [table.whole(NAMES) for table in sites.values()]
    sieve = Sieve(3, epsilon=2.0, secure=True, n_trees=10, n_bootstraps=0)
    sieve.fit(labeled.X, labeled.Y.astype(int), clients=clients)
    assert sieve.influence_ is None
    assert len(sieve.order_) == D
