"""No answer without a living `join`: the lock that dies with its process, and the token that dies with the rows."""

import multiprocessing
import os
import signal
import threading
import time

import numpy as np
import pytest

from fedsieve.deployment import lease
from fedsieve.deployment.folders import make_private, write_json
from fedsieve.deployment.lease import LOCK, check_lease, clear_rows, forget_rows, joined, new_lease
from fedsieve.deployment.site_folder import INCOMING, SiteFolder
from fedsieve.errors import DataError, ProtocolError

NOBODY = 1 << 30  # more than any process has for its number


@pytest.fixture
def site(tmp_path):
    site = SiteFolder(make_private(tmp_path / "siteA"))
    write_json(site.path / "site.json", {"name": "siteA"})
    make_private(site.prepared)
    np.save(site.prepared / "rows.npy", np.ones(3))
    return site


@pytest.fixture
def join(site):
    """A process that has joined; (it, its token)."""
    ours, theirs = multiprocessing.Pipe()

    def hold():
        with joined(site):
            theirs.send(new_lease(site))
            time.sleep(600)

    process = multiprocessing.get_context("fork").Process(target=hold)
    process.start()
    yield process, ours.recv()
    process.kill()
    process.join()


def test_while_join_is_alive_its_processes_answer_and_no_others(site, join):
    _, token = join
    check_lease(site, token)
    for other in ("", None, token[:-1], "0" * 32):
        with pytest.raises(ProtocolError, match="belongs to a 'join' that is gone"):
            check_lease(site, other)
    assert site.prepared.exists()


def test_after_sigkill_nothing_is_answered_and_no_rows_stay(site, join):
    process, token = join
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    with pytest.raises(ProtocolError, match="the 'join' that consented is gone"):
        check_lease(site, token)
    assert not site.prepared.exists()


def test_processes_of_an_earlier_join_have_no_part_in_a_later_one(site, join):
    process, before = join
    process.kill()
    process.join()
    with joined(site):
        new_lease(site)
        with pytest.raises(ProtocolError, match="belongs to a 'join' that is gone"):
            check_lease(site, before)
        assert site.prepared.exists()


def test_rows_that_another_process_died_over_while_it_removed_them_are_removed_still(site, join):
    process, _ = join
    killing = threading.Timer(0.3, process.kill)
    killing.start()
    forget_rows(site)
    killing.join()
    assert not site.prepared.exists()


def test_what_is_written_while_rows_are_removed_is_removed_as_well(site, join, monkeypatch):
    """An answer that was on its way: the folder is not empty when its turn to be removed comes, and stays."""
    join[0].kill()
    join[0].join()
    remove, times = lease.shutil.rmtree, []

    def beside_a_writer(folder, **how):
        remove(folder, **how)
        times.append(folder)
        if len(times) == 1:
            make_private(site.prepared / "answers")

    monkeypatch.setattr(lease.shutil, "rmtree", beside_a_writer)
    forget_rows(site)
    assert not site.prepared.exists()
    assert len(times) == 2


def test_rows_of_a_living_join_are_not_forgotten_for_it(site, join, monkeypatch):
    monkeypatch.setattr(lease, "PATIENCE", 0.2)
    forget_rows(site)
    assert site.prepared.exists()
    with pytest.raises(DataError, match="has joined already"), joined(site):
        raise AssertionError
    assert (site.path / LOCK).read_text() == str(join[0].pid)


def test_rows_that_a_living_process_is_storing_are_its_own(site, join):
    """A dry run of a large file, say, beside a site that joins."""
    living, gone = (make_private(site.path / f"{INCOMING}{pid}") for pid in (join[0].pid, NOBODY))
    clear_rows(site)
    assert (living.exists(), gone.exists()) == (True, False)
    join[0].kill()
    join[0].join()
    clear_rows(site)
    assert not living.exists()


def test_what_an_earlier_join_left_is_cleared_or_the_next_one_does_not_begin(site, tmp_path):
    clear_rows(site)
    assert not site.prepared.exists()
    clear_rows(site)  # nothing there is no error
    (tmp_path / "elsewhere").mkdir()
    site.prepared.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match=r"prepared: was left .* cannot be removed: .*\. Remove it by hand\."):
        clear_rows(site)
