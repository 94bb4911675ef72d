"""The files of a party's folder, cut, empty or of another form: one error that names the file and the way out."""

import logging
import re

import numpy as np
import pytest

from fedsieve.deployment import membership
from fedsieve.deployment.agreement import read_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.ledger import Ledger
from fedsieve.deployment.logs import open_log
from fedsieve.deployment.runs import new_run
from fedsieve.errors import DataError
from fedsieve.privacy import SITE, Story
from fedsieve.tables import ArrayTable
from fedsieve.transport.folder_state import FolderState
from policies import LENIENT

SITES = ["north", "south"]
FEATURES = ("f0", "f1")
DAMAGE = {
    "empty": "",
    "cut": '{"id": "2026',
    "a list": "[]",
    "empty object": "{}",
    "deep": '{"a":' * 100_000,
    "values of other kinds": '{"name": 1, "reason": [], "id": {}, "sites": "ab", "north": {"node": "1"}}',
}


@pytest.fixture
def folder(tmp_path):
    text = agreement_text("fed", "h:1", SITES, list(FEATURES), ["y"])
    return membership.create(tmp_path / "fed", text, SITES, "h:1")


@pytest.fixture
def run(folder):
    return new_run(folder, SITES, [])


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_named_with_the_way_out(folder, run, damage):
    site = folder.site("north")
    site.prepared.mkdir()
    cases = [
        (run.path / "run.json", run.settings, r"Start a new run\."),
        (run.path / "failed.json", run.failure, r"Remove .*failed\.json\."),
        (site.path / "site.json", lambda: site.name, "It holds one line, "),
        (site.prepared / "consent.json", site.rows, "join again"),
    ]
    if damage != "{}":  # which says that there are no nodes, or that nothing was asked
        cases.append((folder.server / "nodes.json", folder.nodes, "start it again"))
    for file, read, way_out in cases:
        file.write_text(damage)
        with pytest.raises(DataError, match=rf"{file.name}: .*{way_out}"):
            read()


@pytest.mark.parametrize("damage", ["", "[", "[]", "[" * 100_000])
def test_a_broken_line_among_events_is_named_by_its_number(run, damage):
    run.tell("started", pid=1)
    with (run.path / "events.jsonl").open("a") as file:
        file.write(f"{damage}\n")
    run.tell("finished")
    with pytest.raises(DataError, match=r"events\.jsonl, line 2: .* Remove the line"):
        run.events()


@pytest.mark.parametrize("damage", ["", "[", "[]", "[" * 100_000])
def test_what_was_asked_before_is_not_forgotten_because_its_file_is_damaged(folder, damage):
    """Else damage, or whoever does it, would start a run's story anew, or count no runs."""
    site = folder.site("north")
    state = FolderState(site, lambda: LENIENT)
    story = Story(("north", "south"), (("AskZeros", "digest"),), {})
    state.keep_story("run", story)
    assert state.story("run") == story
    (site.ledger / "stories" / "run.json").write_text(damage)
    with pytest.raises(DataError, match=r"run\.json: "):
        state.story("run")
    (site.ledger / "runs.json").write_text(damage)
    with pytest.raises(DataError, match=r"runs\.json: "):
        Ledger(site.ledger).runs()
    state.keep_lasting({"bins": "digest"})
    (pins,) = site.ledger.glob("pins-*.json")
    pins.write_text(damage)
    with pytest.raises(DataError, match=r"pins-.*\.json: "):
        state.lasting()


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("rows.key", b""),  # hashes without a key could be tried out
        ("rows.key", bytes(31)),
        ("rows.key", None),
        ("runs.json", b'{"runs": [7]}'),
        ("runs.json", b'{"runs": [{"run": "r"}]}'),
        ("stories/run.json", b'{"cohort": [], "asked": ["AskRanges"], "pins": {}}'),
    ],
)
def test_nothing_of_a_ledger_is_forgotten_because_it_is_damaged(tmp_path, name, damage):
    ledger, rows = Ledger(tmp_path / "ledger"), ArrayTable(FEATURES, np.eye(2))
    ledger.admit("run", "f00d", SITE, rows)
    ledger.keep_story("run", Story(("north",), (("AskRanges", "digest"),), {}))
    (ledger.path / name).unlink()
    if damage is not None:
        (ledger.path / name).write_bytes(damage)
    with pytest.raises(DataError, match=rf"{name}: is gone, cut or damaged.* Restore it from a backup"):
        ledger.as_before(rows), ledger.runs_under(None), ledger.story("run")


@pytest.mark.parametrize("damage", [*DAMAGE.values(), '{"file": "elsewhere.log", "level": "shout"}'])
def test_a_log_whose_settings_are_damaged_says_so_in_the_default_file(tmp_path, damage):
    (tmp_path / "log.json").write_text(damage)
    log = open_log(tmp_path, "run-1", tmp_path.name)
    log.info("here")
    for handler in logging.getLogger(f"fedsieve.{tmp_path.name}.run-1").handlers:
        handler.close()
    first, second = (tmp_path / "fedsieve.log").read_text().splitlines()
    assert "log.json" in first
    assert first.endswith("It is logged here instead.")
    assert second.endswith("run=run-1 " + tmp_path.name + ": here")


@pytest.mark.parametrize("length", [0, 1, 100, 300])
def test_labeled_rows_that_are_cut_are_named(folder, length):
    file = folder.server / "labeled.npz"
    file.write_bytes(b"PK\x03\x04".ljust(length)[:length])
    with pytest.raises(DataError, match=r"labeled\.npz: is cut or damaged\. Start the server again"):
        folder.labeled()


BAD_NUMBERS = {
    "4000 digits": "9" * 4000,
    "hexadecimal": "0x" + "f" * 9000,
    "deep": "[" * 100_000,
    "deep, though it can be parsed": "[" * 300 + "]" * 300,
}


@pytest.mark.parametrize("value", BAD_NUMBERS.values(), ids=BAD_NUMBERS)
@pytest.mark.parametrize("key", ["min_clients = 2", "timeout_seconds = 300", "min_rows = 50", 'name = "fed"'])
def test_an_agreement_with_a_monstrous_value_is_refused_in_few_words(folder, key, value):
    file = folder.path / "federation.toml"
    text = file.read_text()
    assert key in text
    file.write_text(text.replace(key, f"{key.split()[0]} = {value}"))
    with pytest.raises(DataError, match=r"federation\.toml: is no TOML that can be used") as refused:
        read_agreement(file)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("value", ["nan", "1e400", "-inf"])
@pytest.mark.parametrize("key", ["min_clients", "timeout_seconds", "min_rows", "name", "max_message_bytes", "lam"])
def test_a_number_that_is_not_finite_is_refused_by_the_rule_of_its_key(folder, key, value):
    file = folder.path / "federation.toml"
    text = agreement_text("fed", "h:1", SITES, list(FEATURES), ["y"], method="SSFMLFS")
    file.write_text(re.sub(rf"(?m)^{key} = .*$", f"{key} = {value}", text))
    with pytest.raises(DataError, match=rf"federation\.toml: .*{key} must be .*; got {float(value)}\.$"):
        read_agreement(file)
