"""Records are appended whole, never twice, and survive a crash in the middle of a line."""

import fcntl
import json
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from fedsieve.errors import DataError
from fedsieve.experiments import records as records_module
from fedsieve.experiments.records import Records


def test_what_is_appended_is_read_back_in_order(tmp_path):
    records = Records(tmp_path / "new" / "records.jsonl")
    assert records.read() == {}
    assert records.append({"key": "a", "value": 1})
    assert records.append({"key": "b", "value": 2})
    assert list(records.read().items()) == [("a", {"key": "a", "value": 1}), ("b", {"key": "b", "value": 2})]


def test_the_same_key_is_written_once(tmp_path):
    records = Records(tmp_path / "records.jsonl")
    assert records.append({"key": "a", "value": 1})
    assert not records.append({"key": "a", "value": 2})
    assert records.read()["a"]["value"] == 1


def test_a_record_gains_metrics_and_keeps_what_it_said_first(tmp_path):
    records = Records(tmp_path / "records.jsonl")
    assert records.append({"key": "a", "k": 1, "metrics": {"one": {"x": 1}}})
    assert not records.append({"key": "a", "k": 9, "metrics": {"one": {"x": 9}}})
    assert records.append({"key": "a", "k": 9, "new": 2, "metrics": {"one": {"x": 9}, "two": {"x": 2}}})
    assert records.read() == {"a": {"key": "a", "k": 1, "new": 2, "metrics": {"one": {"x": 1}, "two": {"x": 2}}}}
    assert records.path.read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_a_crash_cut_short_is_passed_over_and_replaced(tmp_path, cut):
    records = Records(tmp_path / "records.jsonl")
    records.append({"key": "a", "value": 1})
    records.append({"key": "b", "value": 2})
    whole = records.path.read_bytes()
    records.path.write_bytes(whole[:-cut])
    assert list(records.read()) == ["a"]
    assert records.append({"key": "b", "value": 2})
    assert records.path.read_bytes() == whole


def test_what_was_read_is_not_read_again_and_what_others_add_is_found(tmp_path, monkeypatch):
    ours, theirs = (Records(tmp_path / "records.jsonl") for _ in range(2))
    for key in "abc":
        ours.append({"key": key})
    assert list(ours.read()) == ["a", "b", "c"]
    parsed = []
    monkeypatch.setattr(records_module, "parse_json", lambda line, _: parsed.append(line) or json.loads(line))
    theirs.append({"key": "d", "value": 1})
    parsed.clear()
    assert ours.read()["d"] == {"key": "d", "value": 1}
    assert parsed == [b'{"key": "d", "value": 1}']
    assert not ours.append({"key": "d", "value": 2})
    ours.read()["e"] = {}  # nobody's but the caller's
    assert ours.append({"key": "e"})
    ours.path.write_text('{"key": "x"}\n')  # another file, shorter
    assert list(ours.read()) == ["x"]


def test_a_line_that_is_no_record_is_named(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text('{"key": "a"}\nhello\n')
    with pytest.raises(DataError, match="line 2: is no record"):
        Records(path).read()


def test_who_wants_to_append_waits_for_who_does(tmp_path):
    records = Records(tmp_path / "records.jsonl")
    records.append({"key": "a"})
    before = records.path.read_bytes()
    with ThreadPoolExecutor(1) as pool, records.path.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        waiting = pool.submit(records.append, {"key": "b"})
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.3)
        assert records.path.read_bytes() == before
        fcntl.flock(other, fcntl.LOCK_UN)
        assert waiting.result(timeout=300)
    assert list(records.read()) == ["a", "b"]


def meet_at(barrier):
    global together
    together = barrier


def append_many(path):
    added = 0
    for number in range(60):
        together.wait(timeout=300)  # so that both want to write the same at the same time
        added += Records(path).append({"key": f"k{number}", "text": "x" * 2000})
    return added


def test_two_processes_never_write_the_same_record_twice(tmp_path):
    path, spawn = tmp_path / "records.jsonl", get_context("spawn")
    with ProcessPoolExecutor(2, spawn, initializer=meet_at, initargs=(spawn.Barrier(2),)) as pool:
        added = pool.map(append_many, [path, path])
    assert sum(added) == 60
    keys = [json.loads(line)["key"] for line in path.read_text().splitlines()]
    assert sorted(keys) == sorted(f"k{number}" for number in range(60))
