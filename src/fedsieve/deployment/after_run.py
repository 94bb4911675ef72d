"""What an agreement allows after a run: the section [after] of `federation.toml`, where all is off by default."""

from collections.abc import Mapping
from typing import Any

from fedsieve.errors import ParameterError, ProtocolError, listed, shown
from fedsieve.methods.follow_ups import FOLLOW_UPS
from fedsieve.protocol.method import Method

WORDS = {"private": "noise (epsilon)", "secure": "secure sums (secure = true)"}
OFF = dict.fromkeys(FOLLOW_UPS, False)


def check_after(section: Any, method: Method) -> dict[str, bool]:
    """What is allowed after a run, each thing spelled out; refuses what the rest of the agreement rules out."""
    if not isinstance(section, Mapping):
        raise ParameterError(f"[after] must be a section; got {shown(section)}.")
    if unknown := sorted(set(section) - set(FOLLOW_UPS)):
        raise ParameterError(f"[after] has unknown {listed(unknown)}; it knows {listed(list(FOLLOW_UPS))}.")
    for what, allowed in section.items():
        if not isinstance(allowed, bool):
            raise ParameterError(f"[after] {what} must be true or false; got {shown(allowed)}.")
        for besides, reason in FOLLOW_UPS[what].why_not.items() if allowed else ():
            if getattr(method, besides):
                raise ParameterError(
                    f"[after] {what} = true does not go with {WORDS[besides]}: {reason}. Agree on one of both."
                )
        if allowed and method.max_sites_per_client > 1:
            raise ParameterError(
                f"[after] {what} = true takes sites themselves: [rounds] max_sites_per_client must be 1."
            )
    return {**OFF, **section}


def check_allowed(after: Mapping[str, bool], what: str) -> None:
    """Raise `ProtocolError` where an agreement does not allow this after a run."""
    if not after.get(what, False):
        raise ProtocolError(
            f"the agreement does not allow {what!r} after a run. All parties would agree on it anew: "
            f"[after] {what} = true in federation.toml."
        )
