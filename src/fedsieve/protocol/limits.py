"""How large a message may be: a wire form is refused before it is built, any message before it is sent."""

from collections.abc import Mapping

from fedsieve.errors import ParameterError
from fedsieve.protocol.plan import OWNER, Plan

FLOAT = 8  # bytes


def check_wire_form(plan: Plan, n_features: int, n_rows: Mapping[str, int]) -> None:
    """Refuse a wire form whose values alone are above the limit for the client with most rows; name the other forms."""
    client, most = max(n_rows.items(), key=lambda item: item[1])
    sizes = {
        "matrices": n_features * most**2 * FLOAT,
        "statistics": n_features * (n_features + 1) // 2 * FLOAT,
        "vectors": n_features * FLOAT,
    }
    needed = sizes.pop(plan.wire_form)
    if needed <= plan.max_message_bytes:
        return
    fitting = [f"wire={name!r} ({_size(size)})" for name, size in sizes.items() if size <= plan.max_message_bytes]
    raise ParameterError(
        f"{OWNER}: wire={plan.wire_form!r} needs a message of {_size(needed)} from client {client!r} "
        f"({n_features} features, {most} rows), above max_message_bytes={plan.max_message_bytes}. "
        f"Use {' or '.join(fitting) or 'fewer features'}, or raise max_message_bytes."
    )


def check_message(plan: Plan, sender: str, kind: str, n_bytes: int) -> None:
    """Refuse an encoded message above the limit; for runtimes, which know the encoded size."""
    if n_bytes > plan.max_message_bytes:
        raise ParameterError(
            f"{OWNER}: {kind} of {sender!r} takes {_size(n_bytes)}, above max_message_bytes={plan.max_message_bytes}. "
            "Use a wire form with smaller messages ('statistics' or 'vectors'), or raise max_message_bytes."
        )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e5 else f"{n_bytes:,} bytes"
