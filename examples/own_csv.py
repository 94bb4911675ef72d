"""Your own CSV files
==================

Your own CSV files: labeled rows at the server, unlabeled rows at two sites, and a report at the end.

The files are made up here, so that the script runs as it is; put the paths of yours in their place.
"""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)


def patients(n_rows: int) -> pd.DataFrame:
    """Four measurements; only `crp` and `age` have to do with the labels."""
    return pd.DataFrame(
        {
            "age": rng.integers(20, 90, n_rows),
            "crp": rng.gamma(2.0, 5.0, n_rows).round(1),
            "height": rng.normal(170, 10, n_rows).round(),
            "pulse": rng.normal(75, 12, n_rows).round(),
        }
    )


with TemporaryDirectory() as place:
    folder = Path(place)
    server = patients(60)
    server["label_infection"] = (server["crp"] > 10).astype(int)
    server["label_frail"] = (server["age"] > 60).astype(int)
    server.to_csv(folder / "server.csv", index=False)
    for site in ("north", "south"):
        patients(200).to_csv(folder / f"{site}.csv", index=False)

    command = ["fedsieve", "select", "--labeled", "server.csv", "--labels", "prefix:label_"]
    command += ["--client", "north.csv", "--client", "south.csv", "-k", "2", "--alone", "--out", "result"]
    subprocess.run(command, cwd=folder, check=True)

    ranking = pd.read_csv(folder / "result" / "ranking.csv")
    print(ranking[["rank", "feature", "score", "why"]].to_string(index=False))
    assert set(ranking["feature"][:2]) == {"age", "crp"}
    assert (folder / "result" / "report.html").is_file()
