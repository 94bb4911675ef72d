"""Experiment files: what they expand to, by which hash a run is known, and how mistakes are named."""

from dataclasses import replace

import pytest

from fedsieve.errors import ParameterError
from fedsieve.experiments import config
from fedsieve.experiments.config import Run, read_experiment

GOOD = """
title = "A table"
kind = "curves"
datasets = ["digits", "yeast"]
k = { yeast = 31 }
labeled = [0.1, 0.2]
n_clients = 4
scaling = ["scaled"]
seeds = [0, 1, 2]

[[method]]
name = "SSFMLFS"
parameters = { relation = "similarity", lam = 0.8 }

[[method]]
name = "random"
title = "chance"
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "table.toml"
        path.write_text(text)
        return path

    return write


def test_a_file_expands_to_the_product_of_what_it_varies(write):
    experiment = read_experiment(write(GOOD))
    assert [method.title for method in experiment.methods] == ["SSFMLFS", "chance"]
    runs = experiment.runs(experiment.methods[0])
    assert len(runs) == 2 * 2 * 3
    assert runs[0] == Run(
        "digits", "SSFMLFS", (("lam", 0.8), ("relation", "similarity")), None, 0.1, 4, scaling=("scaled",), seed=0
    )
    assert {run.k for run in runs if run.dataset == "yeast"} == {31}
    assert experiment.scalings == ("scaled",)


def test_the_key_is_stable_and_depends_on_everything():
    run = Run("yeast", "SSFMLFS", k=31)
    assert run.key() == Run("yeast", "SSFMLFS", k=31).key()
    others = [
        replace(run, **change)
        for change in (
            {"dataset": "enron"},
            {"method": "random"},
            {"parameters": (("lam", 1.0),)},
            {"k": 30},
            {"labeled": 0.3},
            {"n_clients": 9},
            {"partition": "iid"},
            {"alpha": 0.4},
            {"scaling": ("raw",)},
            {"classifier_labels": "server"},
            {"split": "official"},
            {"seed": 1},
        )
    ]
    assert len({run.key(), *(other.key() for other in others)}) == 13


def test_records_of_an_older_generation_of_the_code_do_not_count(monkeypatch):
    before = Run("yeast", "SSFMLFS").key()
    monkeypatch.setattr(config, "GENERATION", config.GENERATION + 1)
    assert Run("yeast", "SSFMLFS").key() != before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("seeds =", "seedz ="), "unknown key 'seedz'. Did you mean 'seeds'?"),
        (("n_clients", "nclients"), "unknown key 'nclients'. Did you mean 'n_clients'?"),
        (("parameters =", "params ="), r"\[\[method\]\] unknown key 'params'. Did you mean 'parameters'?"),
        (('kind = "curves"', 'kind = "table"'), "kind must be one of 'metrics', 'curves', 'communication'"),
        (('title = "A table"', ""), "the key 'title' is missing"),
        (('name = "random"', ""), r"a \[\[method\]\] has no name"),
        (('["scaled"]', '["scaled'), "is no valid TOML"),
        (("k = { yeast = 31 }", "k = { yeas = 31 }"), "k names no dataset 'yeas'; there are 'cal500'"),
        (('"yeast"]', '"mnist"]'), "datasets names no dataset 'mnist'"),
        (("labeled = [0.1, 0.2]", "labeled = 0.2"), "labeled must be a list of shares between 0 and 1; got 0.2"),
        (("labeled = [0.1, 0.2]", "labeled = [1.5]"), "labeled must be a list of shares"),
        (('kind = "curves"', 'kind = "metrics"'), "kind 'metrics' takes one labeled share"),
        (("n_clients = 4", 'n_clients = "ten"'), "n_clients must be a whole number of at least 2; got 'ten'"),
        (("n_clients = 4", "alpha = 0"), "alpha must be a positive number; got 0"),
        (("n_clients = 4", 'alpha = "x"'), "alpha must be a positive number"),
        (("n_clients = 4", "distances = [1, -1]"), "distances must be a list of positive numbers"),
        (('["scaled"]', '"scaled"'), 'scaling must be a list of "scaled" and "raw"'),
        (("k = { yeast = 31 }", "k = { yeast = 0 }"), "k must be a table"),
        (("[0, 1, 2]", "[0.5]"), "seeds must be a list of whole numbers"),
    ],
)
def test_a_mistake_is_named(write, change, message):
    with pytest.raises(ParameterError, match=message):
        read_experiment(write(GOOD.replace(*change)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"split": "half"}, "split must be one of"),
        ({"partition": "zipf"}, "partition must be one of 'dirichlet', 'iid', 'quantity_skew'"),
        ({"classifier_labels": "some"}, "classifier_labels must be one of"),
        ({"scaling": ("log",)}, "scaling must be one of 'scaled', 'raw'"),
    ],
)
def test_a_wrong_choice_is_named(change, message):
    with pytest.raises(ParameterError, match=message):
        Run("yeast", "SSFMLFS", **change)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ParameterError, match=r"none\.toml: cannot be read"):
        read_experiment(tmp_path / "none.toml")
