"""The two streams of the command line, and the wording of errors, warnings and sizes on them."""

from rich.console import Console
from rich.text import Text

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def complain(error: Exception) -> None:
    """Say what is wrong, on the error stream."""
    err.print(Text.assemble(("Error: ", "bold red"), str(error)), soft_wrap=True)


def warn(message: str) -> None:
    """Say what looks wrong but need not be."""
    err.print(Text.assemble(("Warning: ", "bold yellow"), message), soft_wrap=True)


def size(n_bytes: int) -> str:
    """Bytes for people.

    >>> size(2_345_678)
    '2.3 MB'
    >>> size(950)
    '950 B'
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes} B"
