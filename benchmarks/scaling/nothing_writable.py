"""A fit where nothing is writable, neither package nor home, so that what is compiled cannot be kept.

Root may write everywhere: files stand where folders would be made, which stops root too. CPU seconds are those of the
whole process, compiling included, beside one that finds its kernels compiled.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import fedsieve
from benchmarks.row import Row

NO_HOME = "/dev/null"
CODE = """
import json, time, warnings
import numpy as np
warnings.simplefilter("ignore")  # it says that compiled code cannot be kept
from fedsieve import Sieve, kernels
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 8))
fitted = Sieve(3).fit(X, (X[:, :2] > 0).astype(int), clients=[rng.normal(size=(50, 8)) for _ in range(3)])
print(json.dumps([fitted.scores_.tolist(), time.process_time(), kernels.is_cached()]))
"""


def rows() -> list[Row]:
    package = Path(fedsieve.__file__).parent
    with tempfile.TemporaryDirectory(prefix="fedsieve-") as place:
        copy = Path(place) / "fedsieve"
        shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
        for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
            (folder / "__pycache__").touch()
        found, seconds, is_kept = _fitted(copy.parent, HOME=NO_HOME)
    _fitted(package.parent)  # compiles what is missing
    expected, usual, _ = _fitted(package.parent)
    furthest = max(abs(a - b) for a, b in zip(found, expected, strict=True))
    return [
        Row("a fit with nothing writable: scores differ at most by", furthest, "", "less", 0.0),
        Row("a fit with nothing writable: compiled code is kept", float(is_kept), "", "less", 0.0),
        Row("a fit with nothing writable: the whole process", seconds, "CPU s", "less"),
        Row("the same where its kernels are compiled", usual, "CPU s", "less"),
    ]


def _fitted(source: Path, **env: str) -> tuple[list[float], float, bool]:
    """The scores, the CPU seconds, and whether what was compiled is kept, with the package of this folder."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**kept, "PYTHONPATH": str(source), **env},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    scores, seconds, is_kept = json.loads(done.stdout.splitlines()[-1])
    return scores, seconds, is_kept
