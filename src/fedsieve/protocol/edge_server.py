"""An edge server: to the server above it one client, to its own sites a server. Sums add up, so it adds them up.

It sends nothing but the sum over its sites; the server above never sees a single site's numbers.
"""

from collections.abc import Iterable
from functools import reduce
from operator import add

from fedsieve.protocol import messages as m
from fedsieve.protocol.cohort import BadReplyError, Cohort, Talk
from fedsieve.protocol.methods import method_of
from fedsieve.protocol.plan import Plan


class EdgeServer:
    """Answers requests by asking its own sites the same and adding up their checked replies, in the order of names.

    `plan` is the plan of the whole federation. One run is one cohort here too: a site that fails makes the edge server
    refuse, and the server above decides whether to go on without all its sites.
    """

    def __init__(self, plan: Plan, sites: Iterable[str]) -> None:
        self._plan = plan
        self._cohort = Cohort(sites, plan)

    def answer(self, request: m.Request) -> Talk[m.Reply]:
        """Yields questions for its sites, is sent their replies, returns its own reply."""
        reason = method_of(self._plan).why_not_added(self._plan, request)
        if reason:
            return m.Refusal(f"an edge server: {reason}")
        try:
            reply: m.Reply = reduce(add, (yield from self._cohort.ask(request)))
        except BadReplyError as bad:
            failed = " ".join(f"site {site!r}: {reason}" for site, reason in bad.reasons.items())
            return m.Refusal(f"an edge server, of which failed {failed}")
        return reply
