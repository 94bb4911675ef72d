"""The federation's result is the result of one process, bit for bit, and everybody gets it."""

import json

import numpy as np
import pytest
from flwr.app import Context, RecordDict

from fedsieve.deployment.folders import write_json
from fedsieve.errors import DataError
from fedsieve.transport.flower import server_app
from fedsieve.transport.flower.contents import RESULT, STEP
from fedsieve.transport.flower.local_grid import LocalGrid
from protocol.federation import WIRES


def without_federation(record):
    return {name: value for name, value in record.items() if name != "federation"}


@pytest.mark.parametrize(
    "sections",
    [
        *({"parameters": {"wire": wire}} for wire in WIRES),
        {"ranges": "local", "parameters": {"relation": "similarity"}},
        {"ranges": "robust", "parameters": {"wire": "statistics"}},
        {"ranges": "robust", "parameters": {"wire": "vectors"}, "nominal": ["f2"]},
        {"ranges": {f"f{p}": (-5.0, 5.0) for p in range(6)}, "nominal": ["f1"], "parameters": {"decisions": "soft"}},
    ],
    ids=str,
)
def test_a_federations_record_is_that_of_one_process(consortium, sections):
    consortium.agree(**sections)
    run = consortium.lead()
    assert run.failure() is None
    assert without_federation(run.result()) == without_federation(consortium.expected())


def test_a_mean_of_deviations_is_a_radius_that_no_site_can_check(consortium):
    consortium.agree(ranges="local", parameters={"spread": "mean"})
    said = "'site-2': spread='mean' gives a radius that no site can check. Agree on spread='pooled'."
    assert said in consortium.lead().failure()


def test_missing_values_and_constant_features_travel_too(consortium):
    for table in (*consortium.case.clients.values(), consortium.case.X):
        table[:, 4] = 7.0
        table[0, 0] = np.nan
    consortium.agree(parameters={"missing": "unrelated", "wire": "vectors"})
    record = consortium.lead().result()
    assert record["order"][-1] == "f4"
    assert without_federation(record) == without_federation(consortium.expected())


@pytest.mark.parametrize("order", [(3, 1, 2), (1000, 20, 3)])
def test_the_engines_numbers_of_the_nodes_do_not_matter(consortium, order):
    names = ["site-2", "site-0", "site-1"]
    grid = LocalGrid({number: consortium.nodes[name] for number, name in zip(order, names, strict=True)})
    run = consortium.lead(grid=grid)
    assert without_federation(run.result()) == without_federation(consortium.expected())


def test_registered_nodes_are_asked_by_their_numbers_and_nobody_is_asked_who_he_is(consortium):
    numbers = {"site-0": 7, "site-1": 5, "site-2": 6}
    write_json(consortium.folder.server / "nodes.json", {name: {"node": node} for name, node in numbers.items()})
    kinds = []

    def heard(node):
        return lambda message: (kinds.append(message.metadata.message_type), node(message))[1]

    run = consortium.lead(grid=LocalGrid({numbers[name]: heard(node) for name, node in consortium.nodes.items()}))
    assert without_federation(run.result()) == without_federation(consortium.expected())
    assert kinds == [*6 * [STEP], *3 * [RESULT]]


def test_every_site_gets_the_same_bytes_as_the_server(consortium):
    run = consortium.lead()
    own = (run.path / "selection.json").read_bytes()
    for name in consortium.case.clients:
        results = consortium.folder.site(name).results
        assert (results / run.id / "selection.json").read_bytes() == own
        assert [path.name for path in results.iterdir()] == [run.id]
    told = [event["site"] for event in run.events() if event["event"] == "delivered"]
    assert sorted(told) == sorted(consortium.case.clients)


def test_the_record_says_what_only_a_federation_has(consortium):
    run = consortium.lead()
    agreement = consortium.folder.agreement()
    record = run.result()["federation"]
    assert record.pop("engine").startswith("flwr 1.")
    assert record == {
        "run": run.id,
        "name": "fed",
        "agreement": agreement.fingerprint,
        "min_rows": agreement.min_rows,
        "sites": ["site-0", "site-1", "site-2"],
        "absent": [],
        "refused_replies": {},
        "rounds_from_checkpoint": 0,
    }


def test_the_runs_id_is_in_every_line_of_every_log(consortium):
    runs = [consortium.lead(), consortium.lead()]
    for place in (consortium.folder.server, *(consortium.folder.site(name).path for name in consortium.case.clients)):
        lines = (place / "fedsieve.log").read_text().splitlines()
        assert all(sum(f"run={run.id}" in line for run in runs) == 1 for line in lines)
        assert all(any(run.id in line for line in lines) for run in runs)


def test_a_second_run_has_its_own_id_and_the_same_result(consortium):
    first, second = consortium.lead(), consortium.lead()
    assert first.id != second.id
    assert without_federation(first.result()) == without_federation(second.result())


def test_the_engine_starts_the_run_that_its_configuration_names(consortium):
    started = consortium.start()
    context = Context(9, 0, {}, RecordDict(), {"federation": str(consortium.folder.path), "run": started.id})
    server_app.main(consortium.grid(), context)
    assert started.result()["federation"]["run"] == started.id
    assert "the engine's run 9" in (consortium.folder.server / "fedsieve.log").read_text()


def test_without_a_named_run_a_new_one_is_made_with_all_sites(consortium, monkeypatch):
    monkeypatch.setenv(server_app.FEDERATION, str(consortium.folder.path))
    server_app.main(consortium.grid(), Context(1, 0, {}, RecordDict(), {}))
    (made,) = (consortium.folder.server / "runs").iterdir()
    assert json.loads((made / "selection.json").read_text())["federation"]["sites"] == list(consortium.case.clients)


def test_a_server_that_is_told_no_folder_says_how_to_name_one(consortium, monkeypatch):
    monkeypatch.delenv(server_app.FEDERATION, raising=False)
    with pytest.raises(DataError, match="set the run's 'federation' or the variable FEDSIEVE_FEDERATION"):
        server_app.main(consortium.grid(), Context(1, 0, {}, RecordDict(), {}))


def test_every_message_of_products_is_recorded_with_its_columns(consortium):
    """Later rounds do not name them again."""
    consortium.agree(parameters={"wire": "vectors", "tol": 1e-2})
    consortium.lead()
    lines = (consortium.folder.site("site-1").path / "what-left.jsonl").read_text().splitlines()
    columns = [line["columns"]["number"] for line in map(json.loads, lines) if line["reply"] == "Products"]
    assert len(columns) > 2
    assert all(columns)
