"""An agreed error rate over grids with real folders, keys and envelopes: what one process selects, also nothing."""

import numpy as np
import pytest

from fedsieve import Sieve
from strategies import Federation

HOW = {"fdr": 0.4, "n_trees": 5, "n_bootstraps": 0}


@pytest.fixture(scope="module")
def rows():
    """Eight of twelve features help with each of four labels."""
    rng = np.random.default_rng(4)
    clients = {f"site-{number}": rng.standard_normal((60, 12)) for number in range(3)}
    X = rng.standard_normal((80, 12))
    Y = (X[:, :8] @ rng.choice([-1, 1], (8, 4)) + rng.standard_normal((80, 4)) > 0).astype(int)
    return clients, X, Y


def led(consortium, clients, X, Y):
    """The record of a run, and the run."""
    consortium.case = Federation(clients, X, Y)
    consortium.agree(method="Sieve", parameters=HOW)
    run = consortium.lead()
    assert run.failure() is None
    told = [event["site"] for event in run.events() if event["event"] == "delivered"]
    assert sorted(told) == sorted(clients)
    for name in clients:
        results = consortium.folder.site(name).results
        assert (results / run.id / "selection.json").read_bytes() == (run.path / "selection.json").read_bytes()
    return run.result()


def test_it_selects_what_one_process_selects(consortium, rows):
    clients, X, Y = rows
    record = led(consortium, clients, X, Y)
    here = Sieve(**HOW, ranges="federated").fit(X, Y, clients=clients)
    names = consortium.case.features
    assert 5 <= len(record["selected"]) < 12
    assert set(record["selected"]) == {names[i] for i in here.fdr_["selected"]}
    assert [record["knockoff_margin"][name] for name in names] == here.fdr_["W"].tolist()
    assert [record["e_value"][name] for name in names] == here.fdr_["e_values"].tolist()
    assert record["fdr"]["words"] == here.fdr_["words"]
    assert record["fdr"]["exact"]
    same = {name: value for name, value in record.items() if name != "federation"}
    assert same == {name: value for name, value in consortium.expected().items() if name != "federation"}


def test_nothing_is_a_result_that_sites_take(consortium, rows):
    """They refused it: "what it selected is not the beginning of its order"."""
    clients, X, Y = rows
    record = led(consortium, clients, X, np.random.default_rng(0).permutation(Y))
    assert record["selected"] == []
    assert "This is an answer" in record["fdr"]["words"]
