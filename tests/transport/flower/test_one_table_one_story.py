"""Attacks between two requests: rows that change in mid-run, and requests that arrive at the same moment."""

import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fedsieve import messages as m
from fedsieve.deployment.ledger import Ledger
from fedsieve.transport.codec import encode
from fedsieve.transport.site import JoinedSite
from policies import take_part
from transport.flower.test_who_may_speak import Wire


def join_again(wire, X):
    """Leave, and come back with these rows."""
    place = wire.folder.site("site-0")
    shutil.rmtree(place.prepared)
    place.write_rows(place.agreement().method.features, X)
    take_part(place)
    wire.site = JoinedSite(place)


@pytest.mark.parametrize("n_more", [1, 5, 20])
def test_a_run_that_began_with_some_rows_is_not_answered_for_others(consortium, n_more):
    """The same request again, and the next one: two answers of one run, and the rows in between by subtraction."""
    consortium.agree(method="Sieve", parameters={"missing": "error"})
    X, wire = consortium.case.clients["site-0"], Wire(consortium)
    columns = m.Columns(consortium.case.features, (), "error")
    scaling = m.Scaling(np.full(X.shape[1], -1e3), np.full(X.shape[1], 1e3))
    first, second = (encode(ask) for ask in (m.AskRanges(columns), m.AskCovariances(columns, scaling)))
    assert wire.said(wire.site.answer(wire.letter(first))) == ""
    join_again(wire, np.vstack([X, X[:1] + np.arange(n_more)[:, None]]))
    said = (
        "its rows are not those that the run began with: two answers would give the difference away. Start a new run."
    )
    assert [wire.said(wire.site.answer(wire.letter(payload))) for payload in (first, second)] == [said] * 2
    join_again(wire, X[::-1])
    assert [wire.said(wire.site.answer(wire.letter(payload))) for payload in (first, second)] == [""] * 2


def test_of_two_stories_at_the_same_moment_one_is_answered(consortium, monkeypatch):
    """Each of two processes would find that nothing was asked yet."""
    consortium.agree(method="Sieve", parameters={"missing": "error"})
    wire = Wire(consortium)
    slowly = Ledger.story

    def story(ledger, run):
        found = slowly(ledger, run)
        time.sleep(0.3)
        return found

    monkeypatch.setattr(Ledger, "story", story)
    features = consortium.case.features
    letters = [wire.letter(encode(m.AskRanges(m.Columns(some, (), "error")))) for some in (features, features[:2])]
    with ThreadPoolExecutor(2) as threads:
        said = [wire.said(sealed) for sealed in threads.map(wire.site.answer, letters)]
    assert sorted(said) == ["", "was asked AskRanges more often than a run of the method does."]
