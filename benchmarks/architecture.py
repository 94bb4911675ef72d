"""`python -m benchmarks.architecture`: how large the package is, and what one reads to follow it from end to end.

Two walks are traced: `Sieve.fit` to `order_` in one process, and a CSV row from `fedsieve federation join` to the
operator's `selection.json`. A walk counts the source files in which at least one function ran, and those functions.
Compilation is off, so that kernels count like any other function; what runs while a module is imported does not count.
"""

import csv
import inspect
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numba
import numpy as np

import fedsieve

PACKAGE = Path(fedsieve.__file__).parent
N_LABELED, N_ROWS, N_FEATURES, N_LABELS = 24, 20, 6, 2
SITES = ("north", "south", "west")
SMALL = {"n_trees": 4, "n_bootstraps": 2}  # the same functions as with the defaults, fewer times


class Walk:
    """The functions of the package that ran, by file, in the order of their first call."""

    def __init__(self, *left_out: Path) -> None:
        self.files: dict[Path, list[str]] = {}
        self._left_out = set(left_out)
        self._seen: set[CodeType] = set()

    @property
    def n_functions(self) -> int:
        return sum(map(len, self.files.values()))

    @contextmanager
    def traced(self) -> Iterator[None]:
        """Watch this thread and those that it starts."""
        threading.setprofile(self._look)
        sys.setprofile(self._look)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _look(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event != "call" or code in self._seen or not _is_function(code) or _importing(frame):
            return
        self._seen.add(code)
        file = Path(code.co_filename)
        if file not in self._left_out:
            self.files.setdefault(file.relative_to(PACKAGE), []).append(code.co_qualname)


def _ours(code: CodeType) -> bool:
    return code.co_filename.startswith(f"{PACKAGE}/")


def _is_function(code: CodeType) -> bool:
    """A function of the package; no module, class body, lambda or comprehension."""
    return _ours(code) and bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_name.startswith("<")


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name == "<module>" and _ours(frame.f_code):
            return True
        frame = frame.f_back
    return False


def lines_of_files() -> list[int]:
    return [len(file.read_text(encoding="utf-8").splitlines()) for file in PACKAGE.rglob("*.py")]


def tables() -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Labeled rows, their labels, and the rows of each site."""
    rng = np.random.default_rng(0)
    X = rng.random((N_LABELED, N_FEATURES))
    Y = (X[:, :N_LABELS] + 0.1 * rng.random((N_LABELED, N_LABELS)) > 0.5).astype(int)
    return X, Y, {name: rng.random((N_ROWS, N_FEATURES)) for name in SITES}


def walk_in_process() -> Walk:
    """From `Sieve.fit` to `order_`."""
    X, Y, sites = tables()
    selector, walk = fedsieve.Sieve(random_state=0, **SMALL), Walk()
    with walk.traced():
        order = selector.fit(X, Y, clients=sites).order_
    assert sorted(order) == list(range(N_FEATURES))
    return walk


def walk_over_the_network(place: Path) -> Walk:
    """From a site's CSV file to the operator's `selection.json`, with an in-process grid in the engine's place.

    The functions that `join`, the engine's two apps and `run` call, in their order; the grid itself does not count.
    """
    from fedsieve.cli.agreed_tables import read_labeled, read_rows
    from fedsieve.deployment.runs import new_run
    from fedsieve.deployment.server_folder import ServerFolder
    from fedsieve.selection_file import write_selection
    from fedsieve.transport.flower import client_app, server_app
    from fedsieve.transport.flower.local_grid import LocalGrid, site_node

    X, Y, sites = tables()
    features, labels = [f"x{p}" for p in range(N_FEATURES)], [f"label_{i}" for i in range(N_LABELS)]
    labeled = write_csv(place / "labeled.csv", [*features, *labels], np.column_stack([X, Y]))
    files = {name: write_csv(place / f"{name}.csv", features, rows) for name, rows in sites.items()}
    command = ["federation", "init", "--method", "sieve", "--labels", "prefix:label_", "--with-keys"]
    fedsieve_command(*command, "--out", place / "fed", "--sites", ",".join(SITES), "--schema", labeled)
    folder = ServerFolder(place / "fed")
    rows = read_labeled(labeled, folder.agreement())
    folder.write_labeled(rows.X, rows.Y)

    walk = Walk(Path(inspect.getfile(LocalGrid)))
    with walk.traced():
        for name, file in files.items():
            site = folder.site(name)
            agreement = site.agreement()
            site.write_rows(agreement.method.features, *read_rows(file, agreement))
        nodes = {i: site_node(client_app.app, folder.site(name).path, i) for i, name in enumerate(SITES)}
        run = new_run(folder, list(SITES), [])
        server_app.lead_run(LocalGrid(nodes), folder, run)
        if (record := run.result()) is None:
            raise RuntimeError(run.failure())
        write_selection(record, place / "result")
    result = json.loads((place / "result" / "selection.json").read_text(encoding="utf-8"))
    assert result["n_rows"] == dict.fromkeys(SITES, N_ROWS)
    return walk


def write_csv(file: Path, header: list[str], rows: np.ndarray) -> Path:
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows.tolist()])
    return file


def fedsieve_command(*arguments: str | Path) -> None:
    call = [sys.executable, "-c", "from fedsieve.cli import main; main()", *map(str, arguments)]
    subprocess.run(call, check=True, capture_output=True)


def page(lines: list[int], walks: dict[str, Walk]) -> str:
    """All of it as Markdown."""
    rows = [f"| {name} | {len(walk.files)} | {walk.n_functions} |" for name, walk in walks.items()]
    return "\n".join(
        [
            f"{len(lines)} source files with {sum(lines)} lines, median {statistics.median(lines):g}.",
            "",
            "| walk | files | functions |",
            "|---|---|---|",
            *rows,
            *(line for name, walk in walks.items() for line in steps(name, walk)),
        ]
    )


def steps(name: str, walk: Walk) -> list[str]:
    passed = [f"| `{file.as_posix()}` | {', '.join(names)} |" for file, names in walk.files.items()]
    return ["", f"### {name}", "", "| file, in the order of entry | functions |", "|---|---|", *passed]


def main() -> None:
    numba.config.DISABLE_JIT = True  # before a kernel is imported
    warnings.filterwarnings("ignore", "overflow encountered")  # the trees' random numbers wrap around, as they should
    with tempfile.TemporaryDirectory() as place:
        walks = {
            "`Sieve.fit` to `order_`": walk_in_process(),
            "a CSV row from `join` to `selection.json`": walk_over_the_network(Path(place)),
        }
    print(page(lines_of_files(), walks))


if __name__ == "__main__":
    main()
