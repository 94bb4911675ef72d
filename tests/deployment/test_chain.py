"""A chained file under the hands of a forger, a power cut, a full disk and several processes at once."""

import errno
import json
import multiprocessing
import os

import pytest

from fedsieve.deployment import chain as chain_file
from fedsieve.deployment.chain import START, Chain, line_hash
from fedsieve.errors import DataError


@pytest.fixture
def chain(tmp_path):
    made = Chain(tmp_path / "what-left.jsonl")
    for number in range(1, 7):
        made.add({"run": f"run-{number}"})
    return made


def lines(chain):
    return chain.path.read_bytes().splitlines(keepends=True)


def rewrite(chain, kept):
    chain.path.write_bytes(b"".join(kept))


def runs(chain):
    return [entry["run"] for entry in chain.entries()]


def test_every_line_holds_its_number_and_the_hash_of_the_line_before(chain):
    before = START
    for number, line in enumerate(lines(chain), start=1):
        entry = json.loads(line)
        assert (entry["n"], entry["before"], entry["run"]) == (number, before, f"run-{number}")
        before = line_hash(line.removesuffix(b"\n"))
    verdict = chain.verify()
    assert (verdict.n_whole, verdict.broken, verdict.notes, verdict.last) == (6, "", [], before)
    assert chain.last()["run"] == "run-6"


def test_files_are_for_their_owner_only(chain):
    assert chain.path.stat().st_mode & 0o777 == 0o600
    assert chain.head.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_not_there_is_an_empty_chain(tmp_path):
    empty = Chain(tmp_path / "none.jsonl")
    assert (empty.verify().n_whole, empty.verify().broken, empty.last(), list(empty.entries())) == (0, "", None, [])


def changed(all_lines, place):
    text = all_lines[place].replace(b'"run-', b'"fun-')
    assert text != all_lines[place]
    return [*all_lines[:place], text, *all_lines[place + 1 :]]


@pytest.mark.parametrize(
    ("forge", "n_whole", "said"),
    [
        (lambda all_: changed(all_, 2), 2, "line 3 was changed: line 4 holds another hash."),
        (lambda all_: changed(all_, 0), 0, "line 1 was changed: line 2 holds another hash."),
        (lambda all_: changed(all_, 5), 6, "the last line was changed: what-left.head holds another hash."),
        (lambda all_: [*all_[:2], *all_[3:]], 2, "line 3 has the number 4, expected 3: 1 before it were removed."),
        (lambda all_: all_[2:], 0, "line 1 has the number 3, expected 1: 2 before it were removed."),
        (lambda all_: [*all_[:2], all_[3], all_[2], *all_[4:]], 2, "expected 3: lines were reordered or repeated."),
        (lambda all_: [*all_[:3], all_[2], *all_[3:]], 3, "line 4 has the number 3, expected 4: lines were"),
        (lambda all_: all_[:4], 4, "lines 5 to 6 are missing at the end: what-left.head tells of them."),
        (lambda _: [], 0, "lines 1 to 6 are missing at the end"),
        (lambda all_: [*all_[:5], all_[5][:20]], 5, "line 6 is torn: its end is missing. The next record will say so."),
        (lambda all_: [*all_[:3], b"nonsense\n", *all_[4:]], 3, "line 4 is no record: it was changed."),
        (lambda all_: [*all_[:3], b"\n", *all_[3:]], 3, "line 4 is no record: it was changed."),
        (lambda all_: [*all_[:3], b"[" * 100_000 + b"\n", *all_[4:]], 3, "line 4 is no record: it was changed."),
        (lambda all_: [*all_[:3], b"\xff\n", *all_[4:]], 3, "line 4 is no record: it was changed."),
        (lambda all_: [*all_[:5], b"x\n", all_[5].replace(b"{", b'{"torn": "x", ')], 5, "line 6 is no record: it was"),
    ],
    ids=["changed", "first", "last", "removed", "begin removed", "reordered", "repeated", "cut", "emptied", "torn",
         "nonsense", "blank", "deep", "bytes", "false torn"],
)  # fmt: skip
def test_what_a_forger_does_is_seen_and_placed(chain, forge, n_whole, said):
    rewrite(chain, forge(lines(chain)))
    verdict = chain.verify()
    assert said in verdict.broken
    assert verdict.n_whole == n_whole


def test_a_changed_line_with_a_new_hash_in_the_next_one_only_moves_the_break(chain):
    forged = changed(lines(chain), 2)
    following = json.loads(forged[3])
    following["before"] = line_hash(forged[2].removesuffix(b"\n"))
    forged[3] = json.dumps(following).encode() + b"\n"
    rewrite(chain, forged)
    assert chain.verify().broken == "line 4 was changed: line 5 holds another hash."


def forge_all(chain, kept):
    """Whoever can write both files can write another chain."""
    for file in (chain.path, chain.head):
        file.unlink()
    for entry in kept:
        chain.add({"run": entry["run"]})


def test_only_a_hash_kept_elsewhere_shows_that_all_was_rewritten(chain):
    noted = chain.verify().last
    entries = list(chain.entries())
    chain.add({"run": "run-7"})
    assert chain.verify(noted).broken == ""
    forge_all(chain, entries[1:])
    assert chain.verify().broken == ""
    assert chain.verify(noted).broken == f"the noted hash {noted[:12]} is of no line here: lines were changed."


def test_the_next_record_tells_of_a_line_that_was_cut_off_and_the_chain_goes_on(chain):
    all_lines = lines(chain)
    rewrite(chain, [*all_lines, b'{"n": 7, "before": "ab'])
    assert "line 7 is torn" in chain.verify().broken
    added = chain.add({"run": "after the power cut"})
    assert added["n"] == 7
    assert added["torn"]["bytes"] == 22
    assert "missing" not in added
    verdict = chain.verify()
    assert (verdict.n_whole, verdict.broken) == (7, "")
    assert verdict.notes == ["line 7 was cut off while it was written, as line 8 records."]
    assert runs(chain)[-2:] == ["run-6", "after the power cut"]


def test_two_power_cuts_in_a_row_are_told_too(chain):
    rewrite(chain, [*lines(chain), b'{"n": 7\n{"n": 7, "be'])
    chain.add({"run": "later"})
    assert chain.verify().broken == ""
    assert len(chain.verify().notes) == 1


def test_a_torn_line_cannot_be_passed_off_as_another_one(chain):
    rewrite(chain, [*lines(chain), b'{"n": 7, "before": "ab'])
    chain.add({"run": "later"})
    chain.path.write_bytes(chain.path.read_bytes().replace(b'"before": "ab\n', b'"before": "xx\n'))
    assert chain.verify().broken == "line 7 is no record: it was changed."


def test_only_the_end_of_a_line_lost_loses_nothing(chain):
    chain.path.write_bytes(chain.path.read_bytes().removesuffix(b"\n"))
    assert chain.verify().broken == ""
    chain.add({"run": "run-7"})
    assert (chain.verify().n_whole, chain.verify().broken) == (7, "")


@pytest.mark.parametrize("damage", [lambda all_: all_[:4], lambda all_: [*all_[:5], b"garbage"], lambda _: []])
def test_lines_removed_at_the_end_stay_seen_after_the_next_record(chain, damage):
    rewrite(chain, damage(lines(chain)))
    chain.add({"run": "later"})
    chain.add({"run": "and later"})
    assert "lines were removed: what-left.head told of 6 lines" in chain.verify().broken


def test_a_last_line_changed_before_the_next_record_stays_seen(chain):
    rewrite(chain, changed(lines(chain), 5))
    chain.add({"run": "later"})
    assert "what-left.head held another hash of line 6" in chain.verify().broken


@pytest.mark.parametrize("content", [None, b"", b"[]", b'{"n": "x"}', b"[" * 100_000])
def test_without_a_readable_head_the_chain_is_checked_and_what_is_open_is_said(chain, content):
    if content is None:
        chain.head.unlink()
    else:
        chain.head.write_bytes(content)
    verdict = chain.verify()
    assert (verdict.n_whole, verdict.broken) == (6, "")
    assert "whether lines are missing at the end is open" in verdict.notes[0]
    chain.add({"run": "run-7"})
    assert chain.verify().notes == []


def test_a_head_that_is_one_behind_is_no_forgery(chain):
    before = chain.head.read_bytes()
    chain.add({"run": "run-7"})
    chain.head.write_bytes(before)  # ended between the two writes
    verdict = chain.verify()
    assert (verdict.n_whole, verdict.broken) == (7, "")
    assert verdict.notes == ["what-left.head is behind by 1: a process was ended in between."]


def test_a_full_disk_leaves_no_half_line_and_says_that_nothing_leaves(chain, monkeypatch):
    before, real = chain.path.read_bytes(), os.write

    def half(descriptor, data):
        if len(data) > 20:
            return real(descriptor, data[:20])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(chain_file.os, "write", half)
    with pytest.raises(DataError, match=r"what-left\.jsonl: cannot be written: No space left on device\. What is not"):
        chain.add({"run": "x" * 50})
    monkeypatch.undo()
    assert chain.path.read_bytes() == before
    assert chain.verify().broken == ""


def test_a_folder_that_is_gone_is_named(tmp_path):
    with pytest.raises(DataError, match=r"gone/what-left\.jsonl: cannot be written: No such file"):
        Chain(tmp_path / "gone" / "what-left.jsonl").add({})


def test_the_last_line_is_found_however_long_it_is(chain):
    chain.add({"run": "long", "held_back": [f"column {i}" for i in range(30_000)]})
    chain.add({"run": "last"})
    assert chain.last()["n"] == 8
    rewrite(chain, lines(chain)[:-1])
    assert chain.last()["run"] == "long"


def add_many(path, who):
    for number in range(40):
        Chain(path).add({"run": f"{who}-{number}"})


def test_processes_that_add_at_once_make_one_chain(tmp_path):
    path = tmp_path / "what-left.jsonl"
    workers = [multiprocessing.get_context("fork").Process(target=add_many, args=(path, who)) for who in "abc"]
    for worker in workers:
        worker.start()
    chain, seen = Chain(path), []
    while any(worker.is_alive() for worker in workers):  # and whoever reads meanwhile sees no half of a line
        verdict = chain.verify()
        seen.append((verdict.broken, verdict.notes))
    assert all(one == ("", []) for one in seen), seen
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert (chain.verify().n_whole, chain.verify().broken, chain.verify().notes) == (120, "", [])
    found = runs(chain)
    for who in "abc":
        assert [run for run in found if run.startswith(who)] == [f"{who}-{number}" for number in range(40)]
