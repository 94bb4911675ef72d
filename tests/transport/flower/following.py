"""The commands that follow a run, with their usual options."""

import json

from fedsieve.cli.federation import collect as collecting_command
from fedsieve.cli.federation import label as labeling_command
from fedsieve.cli.federation.approve_rows import approve_rows

QUICK = {"n_trees": 3, "n_bootstraps": 0, "n_features_to_select": 3}


def approve(consortium, *sites):
    for name in sites:
        approve_rows(consortium.folder.site(name).path, run=None, yes=True, by="data steward", withdraw=False)


def collect(consortium, **more):
    usual = {"run": None, "output": consortium.folder.path / "rows", "wait": 0, "force": False}
    collecting_command.collect(consortium.folder.path, **{**usual, **more})
    return usual["output"]


def label(consortium, **more):
    usual = {"run": None, "model": "mlknn", "neighbors": 3, "min_cell": 1, "output": consortium.folder.path / "labels"}
    more = {"wait": 0, "yes": True, "force": False, **more}
    labeling_command.label(consortium.folder.path, **{**usual, **more})
    return json.loads((usual["output"] / "labels.json").read_text(encoding="utf-8"))
