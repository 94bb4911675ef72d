"""A malicious operator: bins so many, or so narrow, that their counts are the values themselves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fedsieve.audit.sites import site
from fedsieve.messages import Refusal
from fedsieve.messages.binned import counts_of
from fedsieve.messages.columns import Bins
from fedsieve.messages.histograms import AskHistograms, Histograms
from fedsieve.methods import FMLFSMethod, SieveMethod, SSFMLFSMethod
from fedsieve.privacy import LIBRARY, SITE
from fedsieve.tables import ArrayTable

FEATURES, N_ROWS = ("age", "dose"), 60
AGES = np.round(np.random.default_rng(3).uniform(18, 99, (N_ROWS, 2)), 1)
TABLE = ArrayTable(FEATURES, AGES)
METHOD = SieveMethod(features=FEATURES, ranges="robust", n_features_to_select=1)
TENTHS = np.arange(18, 99.5, 0.1) - 0.05
POLICIES = pytest.mark.parametrize("policy", [LIBRARY, SITE], ids=["library", "site"])


def asked(edges, policy, method=METHOD):
    return site(TABLE, method, policy)(AskHistograms(method.columns, Bins.of([edges, edges])))


def test_what_counts_in_ever_so_narrow_bins_tell():
    """All ages, the largest too; closed in the message, so that no rule is needed."""
    bins = Bins.of([TENTHS, TENTHS])
    counts = bins.split(counts_of(TABLE, METHOD.columns, bins))[0]
    assert_allclose(np.repeat(TENTHS[:-1] + 0.05, counts[1:-1]), np.sort(AGES[:, 0]), atol=1e-9)


@POLICIES
def test_more_bins_than_an_honest_server_makes_are_refused(policy):
    reply = asked(TENTHS, policy)
    assert isinstance(reply, Refusal)
    assert f"was sent bins for 'age' with {len(TENTHS)} edges, above 33, which no honest server makes" in reply.reason
    assert isinstance(asked(TENTHS[:34], policy), Refusal)
    assert isinstance(asked(TENTHS[:33], policy), Histograms)


@POLICIES
@pytest.mark.parametrize("width", [0.1, 1e-9])
def test_so_are_bins_that_are_narrower_though_few(policy, width):
    """Sixteen values guessed, and asked for one by one."""
    edges = np.sort(np.concatenate([np.arange(20.0, 98.0, 5), np.arange(20.0, 98.0, 5) + width]))
    reply = asked(edges, policy)
    assert isinstance(reply, Refusal)
    assert "for 'age' narrower than 1/256 of all its bins together" in reply.reason


@POLICIES
def test_two_values_may_be_asked_for_as_of_a_two_valued_column_and_no_third(policy):
    points = np.array([20.0, 57.3, 98.0])
    both = np.sort(np.concatenate([points, np.nextafter(points, np.inf)]))
    assert isinstance(asked(both, policy), Refusal)
    assert isinstance(asked(both[:4], policy), Histograms)


@POLICIES
@pytest.mark.parametrize("kind", [SieveMethod, SSFMLFSMethod, FMLFSMethod])
def test_codes_may_be_counted_each_and_nothing_between_them(policy, kind):
    more = {"labels": ("y",)} if kind is FMLFSMethod else {"nominal": FEATURES}
    method = kind(features=FEATURES, ranges="robust", n_features_to_select=1, **more)
    codes = np.arange(100.0)
    around = np.sort(np.concatenate([codes, np.nextafter(codes, np.inf)]))
    table = ArrayTable(FEATURES, np.round(AGES), *((("y",), np.arange(60.0)[:, None] % 2) if "labels" in more else ()))
    ask = site(table, method, policy)
    nominal = "nominal" in more
    assert isinstance(ask(AskHistograms(method.columns, Bins.of([around] * 2))), Histograms if nominal else Refusal)
    assert isinstance(ask(AskHistograms(method.columns, Bins.of([TENTHS] * 2))), Refusal)


@POLICIES
def test_between_declared_bounds_the_agreement_names_the_bins(policy):
    method = SieveMethod(
        features=FEATURES, ranges="robust", n_features_to_select=1, bounds={"age": (0.0, 128.0), "dose": (0.0, 128.0)}
    )
    assert isinstance(asked(np.linspace(0, 128, 33), policy, method), Histograms)
    for edges in (np.linspace(0, 128, 32), np.linspace(18, 99, 33), np.linspace(0, 128, 33) + 0.1):
        reply = asked(edges, policy, method)
        assert isinstance(reply, Refusal)
        assert "other bins for 'age' than those between its agreed bounds" in reply.reason
