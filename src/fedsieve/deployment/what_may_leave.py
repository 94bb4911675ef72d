"""What may leave a site under an agreement: each message, and what it tells."""

from fedsieve.deployment.agreement import Agreement
from fedsieve.methods.follow_ups import FOLLOW_UPS
from fedsieve.privacy import rows_leave, what_leaves


def what_may_leave(agreement: Agreement) -> list[tuple[str, str]]:
    """Each message of a run, then those after it that nobody is asked about again; rows are asked about apart."""
    method, told = agreement.method, what_leaves(agreement.method)
    for what in (what for what, allowed in agreement.after.items() if allowed):
        follow_up = FOLLOW_UPS[what].after(method, method.features, agreement.labels)
        if not rows_leave(follow_up):
            said = {kind for kind, _ in told}
            later = [(kind, meaning) for kind, meaning in what_leaves(follow_up) if kind not in said]
            told = [*told, *((kind, f"after a run ({what!r}): {meaning}") for kind, meaning in later)]
    return told
