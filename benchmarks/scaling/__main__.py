"""Run the benchmarks of scale, say what got worse since the committed run, and keep the new one: `make bench`.

`python -m benchmarks.scaling` runs every file of this folder that has `rows()`; names after it run only those.
"""

import importlib
import pkgutil
import sys
from pathlib import Path

import benchmarks.scaling as folder
from benchmarks.committed import Comparison

RESULTS = Path(__file__).with_name("results")


def main(names: list[str]) -> None:
    comparison = Comparison()
    for name in names or _topics():
        rows = importlib.import_module(f"benchmarks.scaling.{name}").rows()
        comparison.add(name, rows, RESULTS / f"{name}.json")
    comparison.conclude()


def _topics() -> list[str]:
    found = [module.name for module in pkgutil.iter_modules(folder.__path__)]
    return [name for name in found if hasattr(importlib.import_module(f"benchmarks.scaling.{name}"), "rows")]


if __name__ == "__main__":
    main(sys.argv[1:])
