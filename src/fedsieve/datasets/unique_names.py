"""Names that occur more than once: the later ones are numbered, and a warning says so."""

import warnings
from collections.abc import Sequence

from fedsieve.errors import FedSieveWarning, listed


def claim(name: str, used: set[str]) -> str:
    """A name that is not used yet, which then is: the name itself, else NAME.2, NAME.3 and so on.

    >>> used = set()
    >>> [claim(name, used) for name in ("age", "dose", "age", "age")]
    ['age', 'dose', 'age.2', 'age.3']
    """
    unique, number = name, 2
    while unique in used:
        unique, number = f"{name}.{number}", number + 1
    used.add(unique)
    return unique


def warn_of_repeated(owner: str, repeated: Sequence[str]) -> None:
    """Warn that some names were numbered."""
    if repeated:
        names = list(dict.fromkeys(repeated))
        warnings.warn(
            f"{owner}: several columns are called {listed(names)}; the later ones are now NAME.2, NAME.3 and so on.",
            FedSieveWarning,
            stacklevel=2,
        )
