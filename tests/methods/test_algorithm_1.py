"""`ranges="local"`, `spread="mean"`, `wire="matrices"`: what is sent, and what is found, is that of Algorithm 1."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from numpy.testing import assert_allclose

from fedsieve import SSFMLFS
from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.messages import Known
from fedsieve.messages.columns import Columns, Scaling
from fedsieve.messages.deviations import AskDeviations, Deviations
from fedsieve.methods import SSFMLFSMethod
from protocol.federation import drive, example, labeled, sites
from reference import algorithm_1
from strategies import federations

LITERAL = {"ranges": "local", "spread": "mean", "wire": "matrices"}


def heard(case, **parameters):
    """The selection, and all replies by client and kind."""
    told = {}

    def keep(_question, name, reply):
        told[name, type(reply).__name__] = reply
        return reply

    found, _ = drive(SSFMLFSMethod(case.features, **LITERAL, **parameters), labeled(case), sites(case), keep)
    return found, told


@settings(max_examples=15)
@given(federations(max_clients=3))
def test_messages_scores_and_order_are_those_of_algorithm_1(case):
    varies = [any(np.ptp(X[:, p]) > 0 for X in case.clients.values()) for p in range(len(case.features))]
    assume(all(varies))  # the paper says nothing of columns without spread
    slow = algorithm_1.run(case.clients, case.X, case.Y.astype(float))
    found, told = heard(case, tol=1e-12)
    assume(np.all(found.distance.sum(axis=1) > 1e-3))  # of copies alone, the literal distance is rounding
    for name in case.clients:
        assert_allclose(told[name, "Deviations"].values, slow.deviations[name], rtol=1e-10, atol=1e-14)
        assert_allclose(told[name, "Relations"].values, slow.matrices[name], atol=1e-10)
    assert_allclose(found.scores, slow.scores, rtol=1e-5, atol=1e-9)


def test_the_order_is_that_of_algorithm_1():
    case = example(seed=2)
    slow = algorithm_1.run(case.clients, case.X, case.Y.astype(float))
    assert heard(case, tol=1e-12)[0].order.tolist() == slow.order


def test_nothing_else_is_sent():
    case = example()
    model = SSFMLFS(**LITERAL).fit(case.X, case.Y, clients=case.clients)
    assert [entry.kind for entry in model.transcript_ if entry.sender == "site-0"] == ["Deviations", "Relations"]
    assert {entry.kind for entry in model.transcript_ if entry.sender == "server"} == {"AskDeviations", "AskRelations"}
    assert model.n_clipped_ == {"server": 0, "site-0": 0, "site-1": 0, "site-2": 0}
    assert set(model.influence_) == set(case.clients)


@pytest.mark.parametrize(
    ("other", "asked"),
    [
        ({"ranges": "federated"}, "AskRangesAndMoments"),
        ({"spread": "pooled"}, "AskMoments"),
        ({"wire": "statistics"}, "AskMoments"),
    ],
)
def test_any_other_setting_asks_for_moments(other, asked):
    case = example()
    model = SSFMLFS(**{**LITERAL, **other}).fit(case.X, case.Y, clients=case.clients)
    assert asked in {entry.kind for entry in model.transcript_}


def test_the_message_of_deviations_changes_no_score():
    """Codes and gaps, which the paper does not have, go by moments; without them both ways find the same."""
    case = example(seed=4)
    found, _ = heard(case)
    by_moments = SSFMLFS(**{**LITERAL, "missing": "unrelated"}).fit(case.X, case.Y, clients=case.clients)
    assert np.array_equal(found.scores, by_moments.scores_)


ASK = AskDeviations(Columns(("a", "b"), (), "error"), Scaling(None, None, "local"))
LIES = [
    (Deviations(4, ("a", "b"), np.array([0.2, -0.1])), "sent a deviation that no values in [0, 1] have."),
    (Deviations(4, ("a", "b"), np.array([0.2, 0.58])), "sent a deviation that no values in [0, 1] have."),
    (Deviations(4, ("a", "b"), np.array([0.2, np.nan])), "finite"),
    (Deviations(4, ("a", "b"), np.array([0.2])), "shape"),
    (Deviations(4, ("a", "c"), np.array([0.2, 0.3])), "missing: 'b'"),
    (Deviations(1, ("a", "b"), np.array([0.0, 0.0])), "row"),
]


@pytest.mark.parametrize(("reply", "words"), LIES, ids=range(len(LIES)))
def test_what_no_site_can_have_is_found_out(reply, words):
    assert words in (ASK.why_refused(reply, Known()) or "")


def test_the_widest_spread_there_is_passes():
    for n in (2, 3, 4, 7):
        half = np.arange(n) < n // 2
        reply = Deviations(n, ("a", "b"), np.array([0.0, half.std(ddof=1)]))
        assert ASK.why_refused(reply, Known()) is None


def test_deviations_of_sites_do_not_add_up():
    one = Deviations(4, ("a",), np.array([0.2]))
    with pytest.raises(ProtocolError, match=r"deviations do not add up\. Use spread='pooled'"):
        one + one


def test_a_site_that_joined_answers_none_of_it(rng):
    """Deviations lead to a radius that no site can check, so under `site` they do not leave."""
    clients = {name: rng.random((400, 3)) for name in ("north", "south", "west")}
    X, Y = rng.random((30, 3)), rng.integers(0, 2, (30, 2))
    with pytest.raises(ProtocolError, match=r"spread='mean' gives a radius that no site can check|allow_matrices"):
        SSFMLFS(**LITERAL).fit(X, Y, clients=clients, policy="site")
    (terms,) = (one for one in SSFMLFSMethod(("a",), **LITERAL).terms() if one.request is m.AskDeviations)
    assert "no site can check" in terms.why_unchecked
