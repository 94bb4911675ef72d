"""How large a message may be: any message is refused before it is sent."""

from fedsieve.errors import ParameterError
from fedsieve.protocol.plan import Plan


def check_message(plan: Plan, sender: str, kind: str, n_bytes: int) -> None:
    """Refuse an encoded message above the limit; for runtimes, which know the encoded size."""
    if n_bytes > plan.max_message_bytes:
        raise ParameterError(
            f"{plan.method}: {kind} of {sender!r} takes {readable_size(n_bytes)}, above "
            f"max_message_bytes={plan.max_message_bytes}. {plan.smaller_messages}, or raise max_message_bytes."
        )


def readable_size(n_bytes: int) -> str:
    """A number of bytes for a message.

    >>> readable_size(512_000_000)
    '512.0 MB'
    """
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e5 else f"{n_bytes:,} bytes"
