"""Experiment files: what they expand to, by which hash a trial is known, and how mistakes are named."""

from dataclasses import replace

import pytest

from fedsieve.errors import DataError, ParameterError
from fedsieve.experiments import config
from fedsieve.experiments.config import Contender, Point, Trial
from fedsieve.experiments.evaluation import Evaluation
from fedsieve.experiments.experiment_file import read_experiment

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
    assert [contender.title for contender in experiment.contenders] == ["SSFMLFS", "chance"]
    trials = experiment.trials(experiment.contenders[0])
    assert len(trials) == 2 * 2 * 3
    parameters = (("lam", 0.8), ("relation", "similarity"))
    assert trials[0] == Trial("digits", "SSFMLFS", "server", parameters, None, 0.1, 4, seed=0)
    assert {trial.k for trial in trials if trial.dataset == "yeast"} == {31}
    assert experiment.evaluations == (Evaluation("ML-kNN", "scaled", "all"),)


def test_classifiers_and_scalings_are_combined(write):
    change = ('scaling = ["scaled"]', 'classifiers = ["ML-kNN", "logistic"]\nclassifier_labels = "server"')
    experiment = read_experiment(write(GOOD.replace(*change)))
    names = [evaluation.name for evaluation in experiment.evaluations]
    assert names == [f"{c}, {s}, server" for c in ("ML-kNN", "logistic") for s in ("scaled", "raw")]
    assert [experiment.shown(evaluation) for evaluation in experiment.evaluations[1:3]] == [
        "ML-kNN, raw",
        "logistic, scaled",
    ]


def test_levels_of_k_are_shares_of_it(write):
    text = GOOD.replace("labeled = [0.1, 0.2]", "k_levels = [1, 0.5, 0.01]").replace("{ yeast", "{ digits = 20, yeast")
    experiment = read_experiment(write(text))
    assert experiment.points == (Point(0.2, 1), Point(0.2, 0.5), Point(0.2, 0.01))
    chosen = [[t.k for t in experiment.trials(experiment.contenders[1], point)] for point in experiment.points]
    assert chosen == [[20] * 3 + [31] * 3, [10] * 3 + [16] * 3, [1] * 6]


@pytest.mark.parametrize(
    ("name", "labels", "seen"),
    [
        ("Sieve", None, "server"),
        ("random", None, "none"),
        ("BMFS", None, "all"),
        ("BMFS", "server", "server"),
    ],
)
def test_a_method_sees_the_labels_it_is_for_unless_told(name, labels, seen):
    assert Contender(name, name, labels=labels).labels_seen == seen


def test_the_key_is_stable_and_depends_on_everything():
    trial = Trial("yeast", "SSFMLFS", "server", k=31)
    assert trial.key() == Trial("yeast", "SSFMLFS", "server", k=31).key()
    others = [
        replace(trial, **change)
        for change in (
            {"dataset": "enron"},
            {"method": "random"},
            {"parameters": (("lam", 1.0),)},
            {"k": 30},
            {"labeled": 0.3},
            {"n_clients": 9},
            {"partition": "iid"},
            {"alpha": 0.4},
            {"labels": "all"},
            {"split": "official"},
            {"seed": 1},
            {"shift": 0.5},
        )
    ]
    assert len({trial.key(), *(other.key() for other in others)}) == 13


def test_what_is_not_shifted_is_known_by_the_key_it_always_had():
    assert Trial("yeast", "SSFMLFS", "server", k=31).key() == "93068c53555a643f4867"


def test_records_of_an_older_generation_of_the_code_do_not_count(monkeypatch):
    before = Trial("yeast", "SSFMLFS", "server").key()
    monkeypatch.setattr(config, "GENERATION", config.GENERATION + 1)
    assert Trial("yeast", "SSFMLFS", "server").key() != before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("seeds =", "seedz ="), "unknown key 'seedz'. Did you mean 'seeds'?"),
        (("n_clients", "nclients"), "unknown key 'nclients'. Did you mean 'n_clients'?"),
        (("parameters =", "params ="), r"\[\[method\]\] unknown key 'params'. Did you mean 'parameters'?"),
        (('kind = "curves"', 'kind = "table"'), "kind must be one of 'metrics', 'curves', 'communication', 'quality'"),
        (('kind = "curves"', "kind = 3"), "kind must be one of"),
        (('title = "A table"', ""), "the key 'title' is missing"),
        (('name = "random"', ""), r"a \[\[method\]\] has no name"),
        (('title = "chance"', 'title = "SSFMLFS"'), "two rows are called 'SSFMLFS'; give one of them another title"),
        (("k = { yeast = 31 }", "k = { yeas = 31 }"), "k names no dataset 'yeas'; there are 'cal500'"),
        (('"yeast"]', '"mnist"]'), "datasets names no dataset 'mnist'"),
        (("labeled = [0.1, 0.2]", "labeled = 0.2"), "labeled must be a list of shares between 0 and 1; got 0.2"),
        (("labeled = [0.1, 0.2]", "labeled = [1.5]"), "labeled must be a list of shares"),
        (('kind = "curves"', 'kind = "metrics"'), "kind 'metrics' takes one labeled share"),
        (('name = "random"', 'name = ["random"]'), r"\[\[method\]\] name must be text; got \['random'\]"),
        (("n_clients = 4", "n_clients = 1e400"), "n_clients must be a whole number of at least 2; got inf"),
        (("n_clients = 4", "alpha = 1e400"), "alpha must be a positive number; got inf"),
        (("n_clients = 4", 'n_clients = "ten"'), "n_clients must be a whole number of at least 2; got 'ten'"),
        (("n_clients = 4", "alpha = 0"), "alpha must be a positive number; got 0"),
        (("n_clients = 4", 'alpha = "x"'), "alpha must be a positive number"),
        (("n_clients = 4", "distances = [1, -1]"), "distances must be a list of positive numbers"),
        (('["scaled"]', '"scaled"'), 'scaling must be a list of "scaled" and "raw"'),
        (("k = { yeast = 31 }", "k = { yeast = 0 }"), "k must be a table"),
        (("[0, 1, 2]", "[0.5]"), "seeds must be a list of whole numbers"),
        (("n_clients = 4", 'classifiers = "logistic"'), "classifiers must be a list of names"),
        (("n_clients = 4", 'classifiers = ["SVM"]'), "classifier must be one of 'ML-kNN', 'logistic', .*; got 'SVM'"),
        (("n_clients = 4", "k_levels = [0, 1]"), "k_levels must be a list of shares of k"),
        (("n_clients = 4", "k_levels = [1, 0.5]"), "a curve varies labeled or k_levels, not both"),
        (("labeled = [0.1, 0.2]", "k_levels = [1, 0.5]"), "k_levels are shares of k; give k of 'digits'"),
        (("n_clients = 4", 'metrics = ["precision"]'), "metrics must be a list of 'average_precision', 'coverage', 'r"),
        (("n_clients = 4", 'page = "page.md"'), "kind 'quality' needs the key 'page', and no other kind takes it"),
        (('name = "random"', 'name = "random"\nlabels = "all"'), "labels of random must be one of 'none'; got 'all'"),
        (('name = "random"', 'name = "BMFS"\nlabels = "none"'), "labels of BMFS must be one of 'all', 'server'"),
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
        ({"labels": "some"}, "labels must be one of 'none', 'server', 'all'"),
    ],
)
def test_a_wrong_choice_is_named(change, message):
    with pytest.raises(ParameterError, match=message):
        Trial(**{"dataset": "yeast", "method": "SSFMLFS", "labels": "server", **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classifier": "SVM"}, "classifier must be one of 'ML-kNN', 'logistic'"),
        ({"classifier_labels": "some"}, "classifier_labels must be one of"),
        ({"scaling": "log"}, "scaling must be one of 'scaled', 'raw'"),
    ],
)
def test_a_wrong_way_to_judge_is_named(change, message):
    with pytest.raises(ParameterError, match=message):
        Evaluation(**change)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.toml: cannot be read"):
        read_experiment(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('["scaled"]', '["scaled'), "is no valid TOML"),
        (("n_clients = 4", "n_clients = 0x" + "f" * 9000), "a whole number beyond 64 bits"),
        (("n_clients = 4", "n_clients = " + "9" * 9000), r"is no valid TOML: Exceeds the limit \(4300 digits\)"),
        (("n_clients = 4", "n_clients = " + "[" * 100_000), "nested more than 32 deep"),
    ],
)
def test_a_file_that_is_no_usable_toml_is_named(write, change, message):
    with pytest.raises(DataError, match=rf"\.toml: .*{message}"):
        read_experiment(write(GOOD.replace(*change)))


def test_a_quality_page_shows_a_method_once_for_the_labels_it_sees(write):
    rows = '[[method]]\nname = "BMFS"\nlabels = "server"\n[[method]]\nname = "BMFS"\n'
    head = 'title = "T"\nkind = "quality"\npage = "../page.md"\ndatasets = ["digits"]\nseeds = [0]\nscaling = ["raw"]\n'
    text = head + rows
    path = write(text)
    experiment = read_experiment(path)
    assert [contender.labels_seen for contender in experiment.contenders] == ["server", "all"]
    assert experiment.page == path.parent / ".." / "page.md"
    with pytest.raises(ParameterError, match="two rows are called 'BMFS'"):
        read_experiment(write(text + '[[method]]\nname = "BMFS"\nlabels = "all"\n'))
    with pytest.raises(ParameterError, match="kind 'quality' takes one scaling"):
        read_experiment(write(text.replace('scaling = ["raw"]', "")))
    with pytest.raises(ParameterError, match="only kind 'curves' takes the key 'metrics'"):
        read_experiment(write('metrics = ["coverage"]\n' + text))
    with pytest.raises(ParameterError, match="kind 'quality' needs the key 'page'"):
        read_experiment(write(text.replace('page = "../page.md"', "")))


def test_a_file_says_what_is_other_than_in_the_one_it_is_like(write, tmp_path):
    (tmp_path / "first.toml").write_text(GOOD)
    (tmp_path / "second.toml").write_text('like = "first.toml"\nseeds = [7]\nshift = 0.5\n')
    experiment = read_experiment(write('like = "second.toml"\nbest = [1.0, 0.5]\n'))
    assert experiment.name == "table"
    assert experiment.seeds == (7,)
    assert experiment.k == {"yeast": 31}
    assert {trial.shift for trial in experiment.trials(experiment.contenders[0])} == {0.5}
    assert [evaluation.share for evaluation in experiment.evaluations] == [1.0, 0.5]


@pytest.mark.parametrize("like", ['"table.toml"', '"other.toml"', "3"])
def test_a_file_is_not_like_itself(write, tmp_path, like):
    (tmp_path / "other.toml").write_text('like = "table.toml"\n')
    with pytest.raises(ParameterError, match=r"\.toml: like must name another file, one that is not like this one"):
        read_experiment(write(f"like = {like}\n"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("shift = -1", "shift must be a number of deviations, at least 0; got -1"),
        ("best = [1.5]", r"best must be a list of shares, above 0 up to 1; got \[1.5\]"),
    ],
)
def test_wrong_shifts_and_shares_are_named(write, line, message):
    with pytest.raises(ParameterError, match=message):
        read_experiment(write(f"{line}\n{GOOD}"))
