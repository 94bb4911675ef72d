"""Files that are read once while they stay the same, reach the disk before they are in place, or are held by one."""

import fcntl
import os
import threading
from collections import Counter

import pytest

from fedsieve.errors import DataError
from fedsieve.files import holder, only_one, read_once, write_atomically

MONDAY = 1_700_000_000_000_000_000  # a time, in nanoseconds


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    path.write_text("one")
    os.utime(path, ns=(MONDAY, MONDAY))
    return path


def other_time(file):
    os.utime(file, ns=(MONDAY, MONDAY + 1))


def other_size(file):
    file.write_text("three")


def other_rights(file):
    file.chmod(0o600 if file.stat().st_mode & 0o077 else 0o644)


def another_file(file):
    (file.parent / "new").write_text("two")
    (file.parent / "new").replace(file)


@pytest.mark.parametrize("change", [other_time, other_size, other_rights, another_file])
def test_a_file_is_read_again_after_any_change_and_only_then(file, change):
    read = Counter()

    def count(path):
        read[path] += 1
        return path.read_text()

    assert [read_once(file, count) for _ in range(3)] == ["one"] * 3
    assert read[file] == 1
    change(file)
    if change is not other_time:
        os.utime(file, ns=(MONDAY, MONDAY))
    assert [read_once(file, count) for _ in range(3)] == [file.read_text()] * 3
    assert read[file] == 2


def test_who_reads_in_another_way_is_not_told_what_the_first_read(file):
    assert read_once(file, lambda path: path.read_text()) == "one"
    assert read_once(file, lambda path: path.read_bytes()) == b"one"


def test_a_file_that_is_not_there_is_the_reader_s_to_name(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_once(tmp_path / "no", lambda path: path.read_text())


def test_a_file_is_on_the_disk_before_it_takes_its_place(file, monkeypatch):
    """Else a power failure could leave an empty one."""
    done, sync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda number: (done.append("on the disk"), sync(number)))
    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("in place"), replace(*paths)))
    write_atomically(file, lambda path: path.write_text("new"))
    assert done == ["on the disk", "in place"]
    assert file.read_text() == "new"


def test_who_looks_whether_a_file_is_held_keeps_nobody_from_holding_it(file):
    """A look has the lock for a moment, here for a long one."""
    look = file.open()
    fcntl.flock(look, fcntl.LOCK_SH)
    end = threading.Timer(0.05, look.close)
    end.start()
    with only_one(file, DataError("is held")):
        assert holder(file) == os.getpid()
    end.join()


def test_a_file_that_is_held_is_nobody_else_s(file):
    with only_one(file, DataError("is held")):
        assert holder(file) == os.getpid()
        with pytest.raises(DataError, match="is held"), only_one(file, DataError("is held")):
            raise AssertionError
    assert holder(file) is None
