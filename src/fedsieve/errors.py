"""Every error a user can meet, and the sentences that several rooms share; no checks live here.

An error names its owner, the rule, the value it got and the way out. All of them are `FedSieveError`,
so that a caller (the command line, a runtime) can tell a message for the user from a defect of ours.
"""

from collections.abc import Iterable, Mapping, Sequence


class FedSieveError(Exception):
    """Base of all errors that are meant to be read by a user."""


class ParameterError(FedSieveError, ValueError):
    """A parameter is outside its rule."""


class DataError(FedSieveError, ValueError):
    """A table cannot be used as it is."""


class ProtocolError(FedSieveError, RuntimeError):
    """A client's answer breaks the protocol, or too few clients are left."""


class FalseTotalError(ProtocolError):
    """A total that cannot hold a site's own part; to say so again and again would tell that part by and by."""


class CodecError(FedSieveError, ValueError):
    """Bytes that are no message of this version."""


class ConvergenceError(FedSieveError, ArithmeticError):
    """An iteration used up its budget."""


class FedSieveWarning(UserWarning):
    """Something looks wrong but need not be: the work goes on."""


class SiteShiftWarning(FedSieveWarning):
    """A client's column looks as if it were in another unit, or lies apart from the others'.

    To switch it off: `warnings.simplefilter("ignore", SiteShiftWarning)`.
    """


NOTHING_VARIES = "no feature varies: which are selected means nothing. Give tables with columns that vary."


class MissingExtraError(FedSieveError, ImportError):
    """A command needs an optional dependency that is not installed."""


def extra_needed(owner: str, package: str, extra: str) -> MissingExtraError:
    """Name the extra that brings a missing package.

    >>> print(extra_needed("fedsieve select", "pyarrow", "data"))
    fedsieve select needs the package 'pyarrow'. Install it with: pip install "fedsieve[data]"
    """
    return MissingExtraError(f'{owner} needs the package {package!r}. Install it with: pip install "fedsieve[{extra}]"')


def not_one_of(owner: str, name: str, allowed: Iterable[str], value: object) -> ParameterError:
    """Say which values a parameter may take.

    >>> print(not_one_of("SSFMLFS", "wire", ("statistics", "vectors"), "carrier pigeon"))
    SSFMLFS: wire must be one of 'statistics', 'vectors'; got 'carrier pigeon'.
    """
    choices = ", ".join(repr(choice) for choice in allowed)
    subject = f"{owner}: {name}" if owner else name
    return ParameterError(f"{subject} must be one of {choices}; got {shown(value)}.")


def columns_differ(owner: str, missing: Sequence[str], extra: Sequence[str], way_out: str) -> DataError:
    """List the columns by which a table departs from the expected ones.

    >>> print(columns_differ("client 'b'", ["age"], ["id"], "Give every site the same columns."))
    client 'b' has other columns than the labeled rows (missing: 'age'; extra: 'id'). Give every site the same columns.
    """
    parts = [f"{word}: {listed(names)}" for word, names in (("missing", missing), ("extra", extra)) if names]
    return DataError(f"{owner} has other columns than the labeled rows ({'; '.join(parts)}). {way_out}")


def listed(names: Sequence[str], most: int = 8) -> str:
    """Quote names for a message, the first few of a long list.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    first = ", ".join(shown(str(name)) for name in names[:most])
    return first if len(names) <= most else f"{first} and {len(names) - most} more"


def occur_twice(names: Sequence[str]) -> str:
    """Say which names are there more than once.

    >>> occur_twice(["age"]), occur_twice(["age", "dose"])
    ("'age' occurs twice", "'age', 'dose' occur twice")
    """
    return f"{listed(names)} {'occurs' if len(names) == 1 else 'occur'} twice"


def why_each(reasons: Mapping[str, str]) -> str:
    """Who was left out, and why; a reason that several share is said once.

    >>> why_each({"siteA": "no heartbeat.", "siteB": "refused.", "siteC": "refused."})
    "'siteA': no heartbeat. 'siteB', 'siteC': refused."
    """
    of: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        of.setdefault(reason, []).append(name)
    return " ".join(f"{listed(names)}: {reason}" for reason, names in of.items())


def shown(value: object, most: int = 100) -> str:
    """A value for a message, the beginning of a long one.

    >>> shown("x" * 1000, most=10)
    "'xxxxxx..."
    """
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."
