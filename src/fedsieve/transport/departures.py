"""What is about to leave a site becomes a line of its record, whatever asked for it; without that, nothing leaves."""

from collections.abc import Collection

from fedsieve.deployment.members import fingerprint
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.what_left import Departure, WhatLeft
from fedsieve.errors import FedSieveError
from fedsieve.messages import Refusal, Reply, Request
from fedsieve.messages.secure_sum import Masked, Step
from fedsieve.protocol import SERVER
from fedsieve.transport.endpoint import Letter


def record_departure(
    folder: SiteFolder,
    letter: Letter,
    request: Request | None,
    reply: Reply,
    n_bytes: int,
    *,
    rule: str,
    n_rows: int,
    held: Collection[str] = (),
) -> None:
    """Write down a reply; `n_rows` are the site's own, which a masked one hides, `held` the columns held back."""
    refused = reply.reason if isinstance(reply, Refusal) else ""
    try:
        agreement = folder.agreement()
        asked_by, under = fingerprint(agreement.members[SERVER]), agreement.fingerprint
        agreed = agreement.method.features
    except FedSieveError:  # the reason of the refusal
        asked_by, under, agreed = "", "", ()
    columns: tuple[str, ...] = ()
    if request is not None and not isinstance(request, Step):  # keys, shares and signatures tell of none
        columns = request.column_names() or agreed  # later products name none again
    WhatLeft(folder.path).add(
        Departure(
            run=letter.run,
            round=letter.round,
            request="" if request is None else type(request).__name__,
            reply=type(reply).__name__,
            columns=columns,
            n_rows=n_rows if isinstance(reply, Masked) else 0 if refused else reply.n_rows_told,
            n_bytes=n_bytes,
            asked_by=asked_by,
            agreement=under,
            rule="" if refused else rule,
            held_back=[name for name in columns if name in held],
            refused=refused,
        )
    )
