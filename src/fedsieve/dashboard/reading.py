"""Reading records that change while they are read: what cannot be read is said, and the rest is shown all the same."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from fedsieve.deployment.run_story import moment
from fedsieve.errors import FedSieveError
from fedsieve.files import read_once
from fedsieve.selection_file import JSON, read_selection
from fedsieve.text import visible, without_folders

FORMAT = "fedsieve-live/1"
MOST_LINES = 100  # of each list; the records themselves have all
MOST_RUNS = 50
MOST_WORDS = 500  # characters of what others wrote
Found = TypeVar("Found")
Other = TypeVar("Other")


class Troubles(list[str]):
    """What could not be read, in words."""

    def around(self, read: Callable[[], Found], otherwise: Other) -> Found | Other:
        """What `read` finds; where it fails, that is noted."""
        try:
            return read()
        except (FedSieveError, OSError) as error:
            self.append(short(without_folders(str(error))))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:  # a record that we did not write
            self.append(f"a record holds what no process of ours writes ({type(error).__name__}).")
        return otherwise


def short(text: object) -> str:
    """Words of others, made visible, the beginning of many."""
    shown = visible(str(text))
    return shown if len(shown) <= MOST_WORDS else f"{shown[:MOST_WORDS]}..."


def of_now(kind: str, **parts: Any) -> dict[str, Any]:
    """A state, with the moment at which it was looked at."""
    return {"format": FORMAT, "kind": kind, "at": moment(time.time()), **parts}


def n_selected(folder: Path) -> int | None:
    """How many features the result in a folder selects; `None` where there is none."""
    file = folder / JSON
    return read_once(file, _n_selected) if file.is_file() else None


def _n_selected(file: Path) -> int:
    return len(read_selection(file, whole=True)["selected"])
