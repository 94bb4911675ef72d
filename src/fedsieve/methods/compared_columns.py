"""How many columns Sieve may compare: sums of products of each two are one message, and it grows with their square.

Whether it fits is said before a site is asked for them, mostly before it is asked for anything; and which number would.
"""

from math import isqrt
from typing import TYPE_CHECKING

from fedsieve.errors import ParameterError
from fedsieve.methods.run_costs import NUMBER, FederationSize
from fedsieve.protocol.method import readable_size

if TYPE_CHECKING:
    from fedsieve.methods.sieve import SieveMethod

MANY = 5_000  # compared columns: a site sends 100 MB, and the server holds a gigabyte
HEADER = 1_000  # bytes of a message besides its arrays and names, about
CODE = 24  # characters that a name grows by where its column is one of a code


def message_bytes(n_columns: int) -> int:
    """Sums, and sums of products, of so many columns: of a message that tells them, all but its header.

    >>> message_bytes(10_000)
    400120000
    """
    return NUMBER * (n_columns * (n_columns + 1) // 2 + n_columns)


def n_compared_of(method: "SieveMethod", n_columns: int) -> int:
    """How many of so many encoded columns are compared; of a wide table at least so many, since groups stay whole."""
    if n_columns <= method.n_compared:
        return n_columns
    return max(1, method.n_compared - max([0, *(len(group) - 1 for group in method.groups)]))


def most_compared(method: "SieveMethod") -> int:
    """How many columns fit into a message for certain, with their names, and with noise their products with labels."""
    products = NUMBER * (method.n_labels or 1) if method.private else 0
    each = 12 + max(len(name.encode()) for name in method.features) + CODE + products
    room = max(method.max_message_bytes - HEADER, 0)
    return (isqrt(each**2 + 16 * room) - each) // 8  # the root of 4 m² + each m = room


def check_compared(method: "SieveMethod", n_columns: int) -> None:
    """Refuse a run whose covariances of so many encoded columns cannot be sent."""
    if words := why_refused(method, n_columns):
        raise ParameterError(words)


def why_refused(method: "SieveMethod", n_columns: int) -> str:
    """Why covariances of so many encoded columns cannot be sent, and how many can; empty where they can."""
    if method.private and n_columns > method.n_compared:
        return ""  # then sites tell squares alone
    n_compared = n_compared_of(method, n_columns)
    needed = message_bytes(n_compared)
    if needed <= method.max_message_bytes:
        return ""
    return (
        f"{method.name}: covariances of {n_compared:,} columns take {readable_size(needed)} from each site, above "
        f"max_message_bytes={method.max_message_bytes}. {fewer_columns(method)}, or raise max_message_bytes."
    )


def fewer_columns(method: "SieveMethod") -> str:
    """The way to smaller covariances: what of `screen` and of the number to select asks for more than fit."""
    most, ways = most_compared(method), []
    if most < 2 or method.fdr is not None:
        return "Use fewer features"
    if method.n_features_to_select is not None and 2 * method.k > most:
        what = f"n_features_to_select={method.n_features_to_select!r}"
        ways.append(f"select at most {most // 2:,} ({what} has twice as many as it selects compared)")
    if method.screen > most:
        ways.append(f"compare fewer columns with each other (screen={most})")
    words = " and ".join(ways) or "use fewer features"
    return words[0].upper() + words[1:]


def many_compared(method: "SieveMethod") -> str:
    """What it costs to compare far more columns than `screen`; empty where no more are compared than it says."""
    n_features = len(method.features)
    n_compared = n_compared_of(method, n_features)
    if message_bytes(n_compared) > method.max_message_bytes:
        return ""  # such a run is refused
    if n_compared <= max(MANY, method.screen) or (method.private and n_features > method.n_compared):
        return ""
    (form,) = method.forms(FederationSize(1, 1, n_features, n_features))
    return (
        f"{method.name}: n_features_to_select={method.n_features_to_select!r} has {n_compared:,} columns compared with "
        f"each other: {readable_size(message_bytes(n_compared))} from each site, and the server holds about "
        f"{readable_size(form.server_bytes)}. With fewer features to select it is at most screen={method.screen}."
    )
