"""What must hold after a case: an exact total over named sites and nothing but it, or a refusal and nothing at all."""

import json
from typing import Any, NamedTuple

import pytest

from federation.chaos.moments import VICTIM
from federation.chaos.replay import Story, assert_exact, replayed
from federation.chaos.standing import TIMEOUT
from federation.consortium import Consortium, Run
from federation.tables import given_to_sites
from fedsieve.deployment.what_left import WhatLeft

END_SECONDS = 10 * TIMEOUT
ALL = frozenset(("siteA", "siteB", "siteC", "siteD"))
OTHERS = ALL - {VICTIM}


class Ending(NamedTuple):
    """A run's sums, each with its sites, and who was lost."""

    sums: dict[str, frozenset[str]]
    dropped: frozenset[str] = frozenset()


NOBODY_LOST = Ending({"cells": ALL, "covariances": ALL})
LOST_BEFORE_THE_SUMS = Ending({"cells": OTHERS, "covariances": OTHERS}, frozenset({VICTIM}))
LOST_BETWEEN = Ending({"cells": ALL, "covariances": OTHERS}, frozenset({VICTIM}))
LOST_AFTER_ITS_NUMBERS = Ending(NOBODY_LOST.sums, frozenset({VICTIM}))


def assert_summed(consortium: Consortium, run: Run, *allowed: Ending) -> str:
    """The run ended in one of these ways, and every sum is exact; says in words which."""
    record, story = run.result(END_SECONDS), replayed(consortium, run.folder)
    sums = {total.about: frozenset(total.sites) for total in story.totals}
    assert Ending(sums, frozenset(record["dropped"])) in allowed, record["dropped"]
    assert_exact(consortium, story)
    assert_found(consortium, record, story)
    assert_as_in_one_process(consortium, record, ALL - sums["covariances"])
    assert_all_told_and_nothing_kept(consortium, run, record)
    words = ", ".join(f"{about} of {len(sites)}" for about, sites in sums.items())
    lost = "; ".join(f"lost: {name}, {reason}" for name, reason in record["dropped"].items())
    return f"exact sums: {words}; {lost or 'nobody lost'}"


def assert_found(consortium: Consortium, record: dict[str, Any], story: Story) -> None:
    """What the server wrote is what follows from these totals."""
    assert story.selection is not None
    assert record["left_out"] == []
    names = consortium.plan.features
    assert record["order"] == [names[place] for place in story.selection.order]
    scores = dict(zip(names, story.selection.scores.tolist(), strict=True))
    assert record["scores"] == pytest.approx(scores, abs=1e-9)


def assert_as_in_one_process(consortium: Consortium, record: dict[str, Any], without: frozenset[str]) -> None:
    """A fresh run of the same method, in this process, over the sites that remain."""
    expected = consortium.expected(*sorted(without))
    assert (record["order"], record["selected"]) == (expected["order"], expected["selected"])
    for key in ("scores", "relevance"):
        assert record[key] == pytest.approx(expected[key], abs=1e-9), key


def assert_all_told_and_nothing_kept(consortium: Consortium, run: Run, record: dict[str, Any]) -> None:
    """Whoever took the result has the same, and none of its secrets of the run; every site's record is whole."""
    told = {event["site"] for event in run.folder.events() if event["event"] == "delivered"}
    assert told >= ALL - set(record["dropped"]) - {VICTIM}  # it may die after its last answer
    for name in consortium.names:
        file = consortium.site(name) / "results" / run.folder.id / "selection.json"
        assert file.is_file() == (name in told)
        if name in told:
            assert json.loads(file.read_text(encoding="utf-8")) == given_to_sites(record)
            assert secrets_of(consortium, name, run) == []
    assert_records_whole(consortium)


def assert_refused(consortium: Consortium, run: Run, *words: str) -> str:
    """The run failed and says why; nothing is written anywhere, and what totals there were are exact."""
    assert run.command.wait(END_SECONDS) == 2, run.command.text
    message = run.command.message
    for part in words:
        assert part in message, message
    assert not run.output.exists()
    assert run.folder.result() is None
    for name in consortium.names:
        assert not (consortium.site(name) / "results" / run.folder.id).exists()
    if consortium.plan.secure:
        assert_exact(consortium, replayed(consortium, run.folder))
    assert_records_whole(consortium)
    return f"refused: {message.partition(' failed: ')[2] or message}"


def secrets_of(consortium: Consortium, name: str, run: Run) -> list[str]:
    """The files in which a site keeps what it knows of a run's sums."""
    return sorted(path.name for path in (consortium.site(name) / "prepared" / "sums" / run.folder.id).glob("*"))


def assert_records_whole(consortium: Consortium) -> None:
    for name in consortium.names:
        verdict = WhatLeft(consortium.site(name)).chain.verify()
        assert verdict.broken == "", (name, verdict)
