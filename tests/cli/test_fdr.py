"""A false discovery rate on the command line: `select --fdr`, files, `rerank`, `apply`, and an agreement."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from fedsieve import load_selection
from fedsieve.deployment.server_folder import ServerFolder


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Ten of fifteen features help with each of five labels; and a server whose labels mean nothing."""
    rng, folder = np.random.default_rng(4), tmp_path_factory.mktemp("fdr")
    names = [f"f{i}" for i in range(15)]

    def write(name, X, Y=None):
        columns = {n: X[:, i] for i, n in enumerate(names)}
        columns |= {} if Y is None else {f"label_{i}": Y[:, i] for i in range(Y.shape[1])}
        pacsv.write_csv(pa.table(columns), folder / name)

    for site in ("a.csv", "b.csv", "c.csv"):
        write(site, rng.standard_normal((100, 15)))
    X = rng.standard_normal((80, 15))
    Y = (X[:, :10] @ rng.choice([-1, 1], (10, 5)) + rng.standard_normal((80, 5)) > 0).astype(int)
    write("server.csv", X, Y)
    write("chance.csv", X, rng.permutation(Y))
    return folder


def selecting(files, server, out, *more):
    sites = [word for site in ("a.csv", "b.csv", "c.csv") for word in ("--client", files / site)]
    return ["select", "--labeled", files / server, "--labels", "prefix:label_", *sites, "--out", out, *more]


def test_select_rerank_and_apply(fedsieve, files, tmp_path):
    out = tmp_path / "result"
    done = fedsieve(*selecting(files, "server.csv", out, "--fdr", 0.4, "--ranges", "federated"))
    assert done.code == 0, done.err
    record = json.loads((out / "selection.json").read_text())
    assert set(record["selected"]) >= {f"f{i}" for i in range(9)}
    assert record["fdr"]["q"] == record["parameters"]["fdr"] == 0.4
    assert record["parameters"]["n_features_to_select"] is None  # was a number, which Sieve refuses beside fdr
    assert load_selection(out).support_.sum() == len(record["selected"])
    assert record["fdr"]["words"] in " ".join(done.out.split())
    assert all(record["e_value"][name] >= record["fdr"]["threshold"] for name in record["selected"])
    assert len(record["fdr"]["draw_thresholds"]) == 10
    again = fedsieve("rerank", out, "--set", "fdr=0.3", "--labeled", files / "server.csv", "--out", tmp_path / "again")
    assert again.code == 0, again.err
    assert "At a false discovery rate of 0.3" in again.out
    assert json.loads((tmp_path / "again" / "selection.json").read_text())["reranked_from"] == len(record["selected"])
    unnamed = fedsieve("rerank", out, "--set", "fdr=0.35", "--labeled", files / "server.csv")
    assert unnamed.code == 0, unnamed.err
    (made,) = (folder.name for folder in out.glob("k*"))
    assert made == f"k{len(json.loads((out / made / 'selection.json').read_text())['selected'])}"
    number = fedsieve("rerank", out, "-k", 3, "--labeled", files / "server.csv")
    assert number.code == 0, number.err
    three = json.loads((out / "k3" / "selection.json").read_text())
    assert len(three["selected"]) == 3
    assert "fdr" not in three
    assert not {"e_value", "knockoff_margin"} & {*three, *three["columns"]}


def test_nothing_is_a_result(fedsieve, files, tmp_path):
    out = tmp_path / "result"
    done = fedsieve(*selecting(files, "chance.csv", out, "--fdr", 0.3, "--ranges", "federated"))
    assert done.code == 0, done.err
    assert "no feature is selected. This is an answer" in " ".join(done.out.split())
    assert "Selected 0 features by Sieve" in done.out
    record = json.loads((out / "selection.json").read_text())
    assert record["selected"] == []
    assert record["fdr"]["threshold"] is None
    loaded = load_selection(out)
    assert not loaded.support_.any()
    applied = fedsieve("apply", "--selection", out / "selection.json", files / "a.csv", "--out", tmp_path / "a.csv")
    assert applied.code == 2
    assert "selects nothing at its false discovery rate. -k K takes the best K" in applied.err
    best = fedsieve(
        "apply", "--selection", out / "selection.json", files / "a.csv", "-k", 2, "--out", tmp_path / "a.csv"
    )
    assert best.code == 0, best.err


def test_where_no_feature_varies_it_is_said(fedsieve, tmp_path):
    names = [f"f{i}" for i in range(6)]
    rng = np.random.default_rng(0)
    for name in ("server", "a", "b"):
        columns = dict.fromkeys(names, np.ones(30))
        columns |= {"label_0": rng.integers(0, 2, 30)} if name == "server" else {}
        pacsv.write_csv(pa.table(columns), tmp_path / f"{name}.csv")
    sites = [word for name in "ab" for word in ("--client", tmp_path / f"{name}.csv")]
    done = fedsieve(
        "select", "--labeled", tmp_path / "server.csv", "--labels", "prefix:label_", *sites, "--out", tmp_path / "r"
    )
    assert done.code == 0, done.err
    assert "no feature varies: which are selected means nothing. Give tables" in " ".join((done.out + done.err).split())


def test_other_methods_know_none(fedsieve, files, tmp_path):
    done = fedsieve(*selecting(files, "server.csv", tmp_path / "result", "--fdr", 0.3, "--method", "ssfmlfs"))
    assert done.code == 2
    assert "--fdr: SSFMLFS knows no error rate; Sieve does." in done.err


def test_an_agreement_holds_it(fedsieve, files, tmp_path):
    words = ("federation", "init", "--sites", "a,b,c", "--schema", files / "server.csv", "--labels", "prefix:label_")
    done = fedsieve(*words, "--fdr", 0.25, "--with-keys", "--out", tmp_path / "fed")
    assert done.code == 0, done.err
    assert ServerFolder(tmp_path / "fed").agreement().method.fdr == 0.25
    other = fedsieve(*words, "--fdr", 0.25, "--method", "ssfmlfs", "--out", tmp_path / "other")
    assert other.code == 2
    assert "[parameters] fdr: SSFMLFS knows no error rate; Sieve does." in other.err
