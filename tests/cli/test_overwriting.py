"""A result on disk is replaced on demand only, and never by half of another."""

import errno
import os

import pytest

from fedsieve.errors import DataError
from fedsieve.result_folder import check_folder

NAMES = ("selection.json", "ranking.csv")
BESIDE = ("report.html", "summary.json", "totals.bin")


@pytest.fixture
def old(fedsieve, tables) -> dict[str, bytes]:
    assert fedsieve(*tables.select("-k", 2)).code == 0
    return contents(tables)


def contents(tables) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in tables["result"].iterdir()}


def test_an_old_result_stays_without_force(fedsieve, tables, old):
    result = fedsieve(*tables.select("-k", 5))
    assert result.code == 2
    assert result.message == (
        f"{tables['result'] / 'selection.json'} exists already. Choose another --out, or give --force to replace it."
    )
    assert contents(tables) == old


@pytest.mark.parametrize("name", NAMES)
def test_one_of_the_two_files_is_enough_to_refuse(fedsieve, tables, name):
    tables["result"].mkdir()
    (tables["result"] / name).write_text("mine")
    assert fedsieve(*tables.select()).code == 2
    assert contents(tables) == {name: b"mine"}


def test_other_files_in_the_folder_do_no_harm(fedsieve, tables):
    tables["result"].mkdir()
    (tables["result"] / "notes.txt").write_text("mine")
    assert fedsieve(*tables.select()).code == 0
    assert set(contents(tables)) == {"notes.txt", *NAMES, *BESIDE}


def test_force_replaces_the_result(fedsieve, tables, old):
    assert fedsieve(*tables.select("-k", 5, "--force")).code == 0
    new = contents(tables)
    assert set(new) == {*NAMES, *BESIDE}
    assert all(new[name] != old[name] for name in {*new} - {"totals.bin"})


def test_a_failure_with_force_leaves_the_old_result(fedsieve, tables, old):
    assert fedsieve(*tables.select("-k", 5, "--force", "--lam", 9)).code == 2
    assert contents(tables) == old


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_the_old_result(fedsieve, tables, old, monkeypatch):
    monkeypatch.setattr("fedsieve.files.os.replace", full_disk)
    result = fedsieve(*tables.select("-k", 5, "--force"))
    assert result.code == 2
    assert result.message == f"{tables['result'] / 'ranking.csv'}: cannot be written: No space left on device."
    assert contents(tables) == old


def test_a_full_disk_leaves_no_half_result(fedsieve, tables, monkeypatch):
    monkeypatch.setattr("fedsieve.files.os.replace", full_disk)
    assert fedsieve(*tables.select()).code == 2
    assert contents(tables) == {}


def test_a_file_where_the_folder_should_be_is_named_before_any_work(fedsieve, tables):
    tables["result"].write_text("mine")
    result = fedsieve(*tables.select())
    assert result.code == 2
    assert result.message == f"{tables['result']}: is a file; the result needs a folder. Choose another folder."
    assert "round" not in result.err
    assert tables["result"].read_text() == "mine"


@pytest.mark.parametrize("more", [(), ("--force",)])
@pytest.mark.parametrize("command", ["select", "evaluate", "rerank", "benchmark"])
def test_a_file_among_the_folders_above_is_named_before_any_work(fedsieve, tables, command, more):
    """There is no input either, of which nobody would be told who did the work first."""
    tables["file"].write_text("mine")
    absent, site = tables["absent.csv"], ("--client", tables["siteA.csv"], "--client", tables["siteC.csv"])
    arguments = {
        "select": ("--labeled", absent, "--labels", "a", *site, *more),
        "evaluate": ("--labeled", absent, "--labels", "a", *more),
        "rerank": (tables["absent"], "-k", 2, *more),
        "benchmark": (tables["absent.toml"],),
    }
    result = fedsieve(command, *arguments[command], "--out", tables["file"] / "new")
    assert result.code == 2
    assert result.message == (
        f"{tables['file'] / 'new'}: cannot be made: {tables['file']} is a file. Choose another folder."
    )


def test_a_folder_in_which_nobody_may_write_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("fedsieve.result_folder.os.access", lambda *_: False)  # this account may be root
    with pytest.raises(DataError, match=f"new: cannot be written: this account may not write in {tmp_path}. Choose"):
        check_folder(tmp_path / "new")
