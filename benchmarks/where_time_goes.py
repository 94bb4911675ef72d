"""`make profile`: where the time of one selection goes, by room of the package and by library.

`python -m benchmarks.where_time_goes [Sieve|SSFMLFS]` fits a selector on a table of Yeast's shape with ten sites.
"""

import cProfile
import pstats
import sys
import time
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

import fedsieve
from benchmarks.scaling.sieve_time import SHAPES, tables
from fedsieve import kernels, registry

SHAPE = "Yeast's shape"
N_SHOWN = 12
PACKAGE = Path(fedsieve.__file__).parent


def room_of(file: str) -> str:
    """The room of the package that a file belongs to, or the library; what has no file is Python's own.

    >>> room_of(str(PACKAGE / "kernels" / "trees.py")), room_of(str(PACKAGE / "tables.py")), room_of("~")
    ('kernels', 'tables', 'built in')
    """
    path = Path(file)
    if path.is_relative_to(PACKAGE):
        return path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if "site-packages" in path.parts:
        return path.parts[path.parts.index("site-packages") + 1]
    return "Python" if path.suffix == ".py" else "built in"


def main(method: str = "Sieve") -> None:
    start = time.process_time()
    kernels.warm_up()
    loading = time.process_time() - start
    X, Y, clients = tables(SHAPES[SHAPE])
    selector = registry()[method]()
    profile = cProfile.Profile(time.process_time)
    profile.runcall(selector.fit, X, Y, clients=clients)
    seconds, lines = Counter(), []
    for (file, line, name), (_, n_calls, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        seconds[room_of(file)] += own
        lines.append((own, n_calls, room_of(file), f"{Path(file).name}:{line} {name}"))
    total = sum(seconds.values())
    console, rooms, calls = (
        Console(),
        Table("room or library", "CPU s", "share"),
        Table("CPU s", "calls", "room", "where"),
    )
    for room, own in seconds.most_common(N_SHOWN):
        rooms.add_row(room, f"{own:.3f}", f"{own / total:.0%}")
    for own, n_calls, room, where in sorted(lines, reverse=True)[:N_SHOWN]:
        calls.add_row(f"{own:.3f}", str(n_calls), room, where)
    console.print(
        f"{method}.fit, {SHAPE}, ten sites: {total:.2f} CPU s; loading kernels before it: {loading:.2f} CPU s."
    )
    console.print(f"{kernels.n_compiled()} kernels were compiled, the others came from the cache.")
    console.print(rooms, calls)


if __name__ == "__main__":
    main(*sys.argv[1:2])
