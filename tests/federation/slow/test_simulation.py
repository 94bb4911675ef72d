"""Many virtual sites in Flower's simulation: the same apps, the same result."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from federation.processes import all_cores
from fedsieve.datasets import load_digits, partition
from fedsieve.methods import SieveMethod, SSFMLFSMethod
from fedsieve.protocol import Labeled
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process

pytestmark = pytest.mark.federation

N_SITES, SEED = 30, 3


@pytest.mark.parametrize(("asked", "plan"), [([], SieveMethod), (["--method", "ssfmlfs"], SSFMLFSMethod)])
def test_a_simulation_of_thirty_sites_gives_the_bits_of_one_process(tmp_path, asked, plan):
    command = [str(Path(sys.executable).parent / "fedsieve"), "federation", "simulate"]
    options = ["--clients", str(N_SITES), "--seed", str(SEED), "--out", str(tmp_path / "result")]
    done = subprocess.run(
        [*command, *asked, *options], env=all_cores(), capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"{N_SITES} virtual sites" in done.stdout
    record = json.loads((tmp_path / "result" / "selection.json").read_text())
    digits = load_digits()
    labeled, others = partition.labeled_split(digits.Y, 0.2, SEED)
    parts = partition.dirichlet(digits.Y[others], N_SITES, 0.5, SEED)
    tables = {
        f"site-{number:04d}": ArrayTable(digits.feature_names, digits.X[others[part]])
        for number, part in enumerate(parts, start=1)
    }
    rows = Labeled(digits.X[labeled], digits.Y[labeled].astype(np.float64))
    expected = in_process.select(plan(digits.feature_names, ranges="robust"), rows, tables)
    assert record["method"] == plan.name
    assert list(record["scores"].values()) == list(expected.selection.scores)
    assert record["n_rows"] == expected.selection.n_rows
    assert record["transcript"] == [entry._asdict() for entry in expected.transcript]
