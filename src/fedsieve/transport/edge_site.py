"""An edge server as the server above sees it: a site that answers with the total over its own sites.

All that a site checks is checked here too, by the agreement above and this site's own rules; only rows it has none.
"""

import time

from fedsieve.deployment.edge_agreement import check_below
from fedsieve.deployment.policy_file import read_policy
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.told_cohorts import ToldCohort, ToldCohorts
from fedsieve.errors import FedSieveError, ProtocolError
from fedsieve.messages import Refusal, Reply, Request
from fedsieve.transport.mailbox import Mailbox, Wait
from fedsieve.transport.site import JoinedSite


def edge_site(site: SiteFolder, below: ServerFolder, wait: Wait = time.sleep) -> JoinedSite:
    """The site whose rows are those of the sites of `below`, which another process asks meanwhile."""

    def total(request: Request, run: str) -> Reply:
        _check_still_fits(site, below)
        answered = Mailbox.of(below, run).ask(request, site.agreement().timeout_seconds, wait)
        if not isinstance(answered.reply, Refusal):
            _tell_of(site, run, answered.sites, type(request).__name__)
        return answered.reply

    def pass_on(run: str, round_: int, payload: bytes) -> None:
        Mailbox.of(below, run).pass_on(round_, payload)

    return JoinedSite(site, total, pass_on)


def _check_still_fits(site: SiteFolder, below: ServerFolder) -> None:
    """Both agreements may have changed since the edge server was started; in which way is told to nobody above."""
    try:
        check_below(site, below.agreement(), below.path)
    except FedSieveError:
        raise ProtocolError(
            "an edge server, whose agreement with its own sites does not fit the one above any more. It must be "
            "started again, which says why."
        ) from None


def _tell_of(site: SiteFolder, run: str, sites: tuple[str, ...], what: str) -> None:
    """Enter whose total is about to leave; refused where it and earlier ones would tell of single sites above.

    Rows below may be others by now, which nobody knows here: they count as the same.
    """
    cohorts, rows = ToldCohorts(site.ledger), ""
    least = read_policy(site).min_difference_sites
    reason = cohorts.why_too_alike(run, sites, rows, least, below=True)
    if reason:
        raise ProtocolError(f"an edge server: {reason}")
    cohorts.keep(ToldCohort(run, sites, rows, what))
