"""`fedsieve federation simulate` without Ray: the apps on the in-process grid stand in for the simulation."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from flwr.app import Context, RecordDict
from numpy.testing import assert_array_equal

from fedsieve.cli.federation import simulate as command
from fedsieve.datasets import load_digits, partition
from fedsieve.deployment.runs import new_run
from fedsieve.methods import SieveMethod, SSFMLFSMethod
from fedsieve.protocol import Labeled
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from fedsieve.transport.flower import client_app, server_app
from fedsieve.transport.flower.local_grid import LocalGrid

N_SITES, SEED = 3, 5


def virtual_node(number):
    """A node as the simulation makes it: it knows its number, and the environment where all sites lie."""
    context = Context(0, number, {"partition-id": number}, RecordDict(), {})
    return lambda message: client_app.app(message, context)


def on_the_local_grid(folder, _threads):
    names = folder.agreement().sites
    nodes = {number + 1: virtual_node(number) for number in range(len(names))}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(client_app.SITES, str(folder.sites))
        server_app.lead_run(LocalGrid(nodes), folder, new_run(folder, list(names), absent=[]))


@pytest.fixture
def simulate(fedsieve, monkeypatch, tmp_path):
    monkeypatch.setattr(command, "find_spec", lambda name: name)
    stand_in = SimpleNamespace(simulate=on_the_local_grid)
    monkeypatch.setitem(sys.modules, "fedsieve.transport.flower.simulation", stand_in)
    monkeypatch.setattr("fedsieve.transport.flower.simulation", stand_in, raising=False)

    def call(*options: object):
        result = fedsieve("federation", "simulate", "--out", tmp_path / "result", *options)
        file = tmp_path / "result" / "selection.json"
        return result, json.loads(file.read_text()) if file.is_file() else None

    return call


@pytest.mark.parametrize(("asked", "plan"), [([], SieveMethod), (["--method", "ssfmlfs"], SSFMLFSMethod)])
def test_the_bundled_digits_give_what_one_process_finds_by_sieve_unless_another_method_is_named(simulate, asked, plan):
    result, record = simulate("--clients", N_SITES, "--seed", SEED, *asked)
    assert result.code == 0, result.err
    digits = load_digits()
    labeled, others = partition.labeled_split(digits.Y, 0.2, SEED)
    parts = partition.dirichlet(digits.Y[others], N_SITES, 0.5, SEED)
    sites = {
        f"site-{i:04d}": ArrayTable(digits.feature_names, digits.X[others[part]]) for i, part in enumerate(parts, 1)
    }
    rows = Labeled(digits.X[labeled], digits.Y[labeled].astype(np.float64))
    expected = in_process.select(plan(digits.feature_names, ranges="robust"), rows, sites)
    assert record["method"] == plan.name
    assert_array_equal(list(record["scores"].values()), expected.selection.scores)


def test_the_number_of_features_is_the_user_s(simulate):
    result, _ = simulate("--clients", N_SITES, "-k", 65)
    assert "n_features_to_select must be a whole number in [1, n_features=64]" in result.message
    result, record = simulate("--clients", N_SITES, "--method", "ssfmlfs", "-k", 0.25)
    assert result.code == 0, result.err
    assert len(record["selected"]) == 16


def test_rows_of_files_are_dealt_out_among_the_sites(simulate, tables):
    rows = tables.save("rows.csv", tables.clients["siteA"])
    files = ("--labeled", tables["server.csv"], "--labels", "prefix:label_", "--rows", rows)
    result, record = simulate("--clients", N_SITES, *files)
    assert result.code == 0, result.err
    assert record["n_rows"] == {"site-0001": 4, "site-0002": 4, "site-0003": 4}
    assert set(record["order"]) == set(tables.features)


def test_a_method_whose_sites_hold_labels_is_refused(simulate):
    result, record = simulate("--method", "FMLFS")
    assert result.code == 2
    assert result.message == "fedsieve: --method must be one of 'sieve', 'ssfmlfs'; got 'FMLFS'."
    assert record is None


def test_a_table_with_dates_and_ids_is_simulated_as_its_own_hints_say(simulate, tables):
    def dated(frame):
        days = pd.date_range("2020-01-01", periods=len(frame)).strftime("%Y-%m-%d")
        return frame.assign(seen=list(days), device_id=np.arange(len(frame)) % 3)

    rows = tables.save("rows.csv", dated(tables.clients["siteA"]))
    tables.save("server.csv", dated(tables.server))
    call = ("--clients", N_SITES, "--labeled", tables["server.csv"], "--labels", "prefix:label_", "--rows", rows)
    assert "column 'seen' holds dates" in simulate(*call)[0].message
    result, record = simulate(*call, "--dates", "seen", "--keep", "device_id")
    assert result.code == 0, result.err
    assert set(record["order"]) == {*tables.features, "seen", "device_id"}
    assert "or give --force to replace it" in simulate(*call, "--drop", "seen")[0].message
    result, record = simulate(*call, "--drop", "seen,noise", "--force")
    assert result.code == 0, result.err
    assert set(record["order"]) == {*tables.features} - {"noise"}


@pytest.mark.parametrize("option", ["--drop", "--dates", "--keep"])
def test_columns_of_no_table_are_refused(simulate, option):
    result, _ = simulate("--clients", N_SITES, option, "age")
    assert result.message == f"{option} names columns of the table that --labeled names; give both or none."
