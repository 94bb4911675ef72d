"""What a fresh process pays: nothing heavy for importing, and compiling only once for all processes to come."""

import os
import subprocess
import sys

import pytest


def run(code, **variables):
    """The printed words of a new interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def loaded_by(statement, candidates):
    """Which of the candidate packages a statement brings in."""
    return run(f"import sys\n{statement}\nprint(*(name for name in {candidates!r} if name in sys.modules))")


def test_importing_the_package_loads_neither_estimators_nor_the_compiler():
    assert loaded_by("import fedsieve", ["sklearn", "numba", "pandas", "scipy", "fedsieve.fuzzy"]) == []
    assert loaded_by("import fedsieve; fedsieve.fuzzy", ["sklearn", "numba", "pandas", "fedsieve.fuzzy"]) == [
        "fedsieve.fuzzy"
    ]


@pytest.mark.parametrize("module", ["fedsieve.protocol", "fedsieve.transport.in_process", "fedsieve.kernels"])
def test_the_science_runs_without_estimators_tables_and_screens(module):
    candidates = ["sklearn", "pandas", "polars", "pyarrow", "typer", "rich", "matplotlib", module]
    assert loaded_by(f"import {module}", candidates) == [module]


WARM_UP = """
from fedsieve import kernels
assert kernels.n_compiled() == 0, "importing compiles nothing"
kernels.warm_up()
print(kernels.n_compiled())
"""

ORDINARY_USE = """
import numpy as np
from scipy import sparse
rng = np.random.default_rng(0)
X = rng.random((60, 6))
X[:, 1], X[:, 2] = X[:, 1] > 0.5, np.round(3 * X[:, 2])
X[0, 4] = np.nan
Y = rng.integers(0, 2, (60, 4))
radius, nominal = np.full(6, 0.3), np.arange(6) == 2
for kind in ("distance", "similarity"):
    for table in (X, np.asfortranarray(X), X.astype(np.float32), X[:, 1:2], X[:, [0]], sparse.csc_array(X[:, 1:2])):
        kernels.pair_sums(table, 0.3, kind, n_threads=2)
    kernels.distance_product(kernels.pair_sums(X, radius, kind, nominal=nominal), np.ones(6))
    kernels.relevance(X, kernels.different_rows(Y, 3, "nonnegative"), radius, kind, nominal)
    kernels.soft_decisions(X, Y, radius, kind, nominal)
kernels.pair_sums_of_relations(rng.random((6, 9, 9)))
print(kernels.n_compiled())
"""


@pytest.mark.full
def test_warming_up_compiles_all_kernels_once_for_all_processes_to_come(tmp_path):
    first, after_use = map(int, run(WARM_UP + ORDINARY_USE, NUMBA_CACHE_DIR=str(tmp_path)))
    assert first > 0
    assert after_use == first  # ordinary tables need no kernel that the warm-up has not met
    assert run(WARM_UP, NUMBA_CACHE_DIR=str(tmp_path)) == ["0"]


@pytest.mark.full
def test_compiling_is_said_once_when_it_happens_and_never_of_what_is_on_disk(tmp_path):
    code = """
import numpy as np
from fedsieve import kernels
for repeat in range(2):
    kernels.upper_deviations(np.ones(3), np.ones(2), 2, np.ones(2), 0.0)
    kernels.distance_product(np.zeros((2, 2)), np.ones(2))
"""
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        for _ in range(2)
    ]
    assert said[0].splitlines() == [
        "FedSieve is being compiled for this machine, up to half a minute; later runs find it on disk."
    ]
    assert said[1] == ""


@pytest.mark.full
def test_a_machine_without_a_writable_folder_compiles_for_itself_and_says_so():
    code = """
import warnings
import numpy as np
from numba.core import caching
caching.CacheImpl._locator_classes = []  # what numba finds where the package is read-only and there is no home
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from fedsieve import kernels
    sums = kernels.pair_sums([[0.0, 0], [0.25, 1], [1.0, 1]], 0.25)
    print(kernels.distance_product(sums, np.ones(2)))
print(len(caught), "NUMBA_CACHE_DIR" in str(caught[0].message))
"""
    assert run(code) == ["[3.5", "3.5]", "1", "True"]
