"""`verbose`: a line per round and one for the ranking, and nothing where nobody asked."""

import re

import numpy as np
import pytest

from fedsieve import SSFMLFS, Sieve
from fedsieve.catalog import registry
from fedsieve.deployment.agreement import parameters_of
from fedsieve.errors import ParameterError
from fedsieve.methods import METHODS

FEDERATED = {name: entry.factory for name, entry in registry().items() if entry.federated}


@pytest.fixture
def data():
    rng = np.random.default_rng(2)
    return rng.random((20, 5)), rng.integers(0, 2, (20, 3)), [rng.random((12, 5)) for _ in range(3)]


def without_times(text):
    assert all(re.search(r", \d+\.\d s$", line) for line in text.splitlines())
    return [re.sub(r", \d+\.\d s$", "", line) for line in text.splitlines()]


def test_each_round_is_told_and_the_ranking(data, capsys):
    X, Y, clients = data
    Sieve(2, n_trees=2, n_bootstraps=0, verbose=1).fit(X, Y, clients=clients)
    assert without_times(capsys.readouterr().out) == [
        "[Sieve] round 1: histograms of the columns, 3 clients",
        "[Sieve] round 2: covariances of the columns, 3 clients",
        "[Sieve] ranked 5 features, selected 2",
    ]


def test_rows_in_one_place_are_no_clients(data, capsys):
    X, Y, _ = data
    SSFMLFS(2, verbose=1).fit(X, Y)
    assert not any("client" in line for line in without_times(capsys.readouterr().out))


@pytest.mark.parametrize("name", FEDERATED)
@pytest.mark.parametrize("verbose", [1, True, np.int64(2)])
def test_every_federated_method_tells_all_its_rounds(name, verbose, data, capsys):
    X, Y, clients = data
    pairs = [(rows, Y[:12]) for rows in clients] if registry()[name].supervision == "supervised" else clients
    fitted = FEDERATED[name](verbose=verbose).fit(X, Y, clients=pairs)
    lines = without_times(capsys.readouterr().out)
    rounds = [int(re.match(rf"\[{name}\] round (\d+): ", line)[1]) for line in lines[:-1]]
    assert sorted(set(rounds)) == sorted({entry.round for entry in fitted.transcript_})
    assert lines[-1] == f"[{name}] ranked 5 features, selected {fitted.support_.sum()}"


@pytest.mark.parametrize("name", FEDERATED)
def test_silence_is_the_default_and_no_agreement_knows_of_it(name, data, capsys):
    X, Y, _ = data
    FEDERATED[name]().fit(X, Y)
    assert capsys.readouterr().out == ""
    assert "verbose" not in parameters_of(METHODS[name])


def test_the_result_is_the_same_in_either_case(data, capsys):
    X, Y, clients = data
    assert (SSFMLFS(verbose=1).fit(X, Y, clients=clients).scores_ == SSFMLFS().fit(X, Y, clients=clients).scores_).all()
    assert capsys.readouterr().out


@pytest.mark.parametrize("bad", ["loud", -1, 0.5, None])
def test_what_is_no_number_is_refused(bad, data):
    with pytest.raises(ParameterError, match=r"^SSFMLFS: verbose must be a whole number of at least 0; got"):
        SSFMLFS(verbose=bad).fit(*data[:2])
