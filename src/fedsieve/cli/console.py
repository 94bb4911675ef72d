"""The two streams of the command line, and the wording of errors, warnings and sizes on them."""

from rich.console import Console
from rich.text import Text

# No markup and no emoji: column and file names are printed as they are, also "weight [kg]" and ":a:".
out = Console(highlight=False, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, markup=False, emoji=False)


def say(message: str | Text) -> None:
    """A line of the result; broken at words on a terminal, and not at all in a file or a pipe."""
    out.print(message, soft_wrap=not out.is_terminal)


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
