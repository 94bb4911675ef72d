"""One run as a site tells it to itself: what was asked, in which order, and what must stay the same until its end.

A server that changes ranges, radius, weights or cohort in mid-run, asks out of order or once more than the method does,
tells a second story, and a site answers only the first. The story holds digests, no values.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fedsieve.errors import ProtocolError, listed
from fedsieve.messages import Request, Terms


@dataclass(frozen=True)
class Story:
    """The cohort, the requests by kind and digest, the pinned values by their digests; why it has ended."""

    cohort: tuple[str, ...] = ()
    asked: tuple[tuple[str, str], ...] = ()
    pins: Mapping[str, str] = field(default_factory=dict)
    ended: str = ""  # what happened to the site, as a refusal says it; empty while it goes on

    def holds(self, digest: str) -> bool:
        """Whether this very request belongs to it already."""
        return any(known == digest for _, known in self.asked)

    def told_on(
        self, request: Request, digest: str, cohort: tuple[str, ...], terms: Sequence[Terms], lasting: Mapping[str, str]
    ) -> "Story":
        """The story with one more request; raises `ProtocolError` where it does not go on from here.

        `lasting` are pins of earlier runs under the same agreement.
        """
        if self.asked and cohort != self.cohort:
            raise ProtocolError("was asked for another cohort than at the beginning of the run.")
        self._check_order(request, terms)
        pins = pinned(request)
        known = {**lasting, **self.pins}
        changed = [name for name, value in pins.items() if known.get(name, value) != value]
        if changed:
            way_out = "" if changed[0] in self.pins else " Under one agreement all runs have the same."
            raise ProtocolError(f"was told another story than before: {changed[0]} changed.{way_out}")
        unshown = [name for name in request.rests_on() if name not in known]
        if unshown:
            raise ProtocolError(f"was not shown where {unshown[0]} comes from.")
        return Story(cohort, (*self.asked, (type(request).__name__, digest)), {**self.pins, **pins})

    def _check_order(self, request: Request, terms: Sequence[Terms]) -> None:
        """The next kind of the method's run, or the same once more where it is asked several times."""
        kinds = [one.request.__name__ for one in terms]
        kind = type(request).__name__
        places = [place for place, known in enumerate(kinds) if known == kind]
        asked = [name for name, _ in self.asked]
        foreign = [name for name in asked if name not in kinds]
        if foreign:
            raise ProtocolError(
                f"was asked {foreign[0]} in this run before, under another agreement: the present method asks "
                f"{listed(kinds)}. Start a new run."
            )
        last = max((kinds.index(name) for name in asked), default=-1)
        place = next((place for place in places if place >= last), None)
        if place is None:
            raise ProtocolError(f"was asked {kind} after {asked[-1]}; the method asks {listed(kinds)} in this order.")
        if asked.count(kind) >= sum(terms[place].most for place in places):
            raise ProtocolError(f"was asked {kind} more often than a run of the method does.")
        skipped = [kinds[between] for between in range(last + 1, place) if not terms[between].optional]
        if skipped:
            raise ProtocolError(f"was asked {kind} before {skipped[0]}; the method asks {listed(kinds)} in this order.")

    def plain(self) -> dict[str, Any]:
        """For a file."""
        return {
            "cohort": list(self.cohort),
            "asked": [list(one) for one in self.asked],
            "pins": dict(self.pins),
            "ended": self.ended,
        }

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Story":
        """From a file."""
        asked = tuple((str(kind), str(digest)) for kind, digest in plain["asked"])
        return cls(tuple(plain["cohort"]), asked, dict(plain["pins"]), str(plain.get("ended") or ""))


def pinned(request: Request) -> dict[str, str]:
    """The digest of each value that must stay the same."""
    return {name: hashlib.sha256(json.dumps(value).encode()).hexdigest() for name, value in request.pins().items()}
