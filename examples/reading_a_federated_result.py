"""What a site does with a result
==============================

What a site does with the result that it was told: reads it, sees why, reduces its table, and makes a page of it.
"""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from fedsieve import load_selection

rng = np.random.default_rng(2)
features = [f"lab_{i}" for i in range(6)]

with TemporaryDirectory() as place:
    folder = Path(place)
    tables = {name: pd.DataFrame(rng.random((80, 6)), columns=features) for name in ("server", "north", "south")}
    tables["server"]["label_a"] = (tables["server"]["lab_4"] > 0.5).astype(int)
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    command = ["fedsieve", "select", "--labeled", "server.csv", "--labels", "label_a"]
    command += ["--client", "north.csv", "--client", "south.csv", "-k", "2", "--alone", "--out", "result"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)

    selection = load_selection(folder / "result")  # of a federation: siteA/results/RUN
    print(selection.explain(as_frame=True)[["feature", "rank", "score", "stability", "why"]].to_string(index=False))
    reduced = selection.set_output(transform="pandas").transform(tables["north"])
    print(reduced.head(3))
    assert "lab_4" in reduced.columns
    subprocess.run(["fedsieve", "report", "result", "--markdown"], cwd=folder, check=True)
    print((folder / "result" / "report.md").read_text(encoding="utf-8")[:300])
