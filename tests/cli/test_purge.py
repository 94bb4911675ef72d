"""`fedsieve federation purge`: what it deletes, what it never touches, and whom it asks."""

import os
import time

import pytest

from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.folders import make_private, write_json
from fedsieve.deployment.runs import new_run
from fedsieve.deployment.server_folder import ServerFolder

DAY = 86_400


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "fed"
    make_private(folder / "server")
    (folder / "federation.toml").write_text(agreement_text("fed", "h:1", ["a", "b"], ["age"], ["y"]))
    return ServerFolder(folder)


def run_with_replies(server, days=0):
    run = new_run(server, ["a", "b"], [])
    for number in (1, 2):
        run.keep_file(number, lambda path: path.write_bytes(b"x" * 5000))
    then = time.time() - days * DAY
    os.utime(run.replies, (then, then))
    return run


@pytest.fixture
def site(tmp_path):
    folder = make_private(tmp_path / "siteA")
    write_json(folder / "site.json", {"name": "siteA"})
    for name in ("what-left.jsonl", "what-left.head", "consent.jsonl", "policy.toml", "site.key"):
        (folder / name).write_text("precious")
    for name in ("run-1", "run-2"):
        make_private(folder / "results" / name)
        (folder / "results" / name / "selection.json").write_text("{}" * 600)
    return folder


def test_replies_of_a_run_are_deleted_and_all_else_of_it_stays(fedsieve, server):
    run, other = run_with_replies(server), run_with_replies(server)
    result = fedsieve("federation", "purge", server.path, "--runs", run.id, "--yes")
    assert result.code == 0
    assert result.out.splitlines()[-1] == "Deleted what was kept of 1 run; 10.0 kB are free."
    assert not run.replies.exists()
    assert (run.path / "run.json").is_file()
    assert other.replies.is_dir()


def test_totals_go_with_the_replies_or_alone(fedsieve, server):
    both, alone = run_with_replies(server), new_run(server, ["a", "b"], [])
    for run in (both, alone):
        run.totals.write_bytes(b"x" * 2000)
    result = fedsieve("federation", "purge", server.path, "--all", "--yes")
    assert result.code == 0, result.err
    assert "totals over all sites" in " ".join(result.out.split())
    assert result.out.splitlines()[-1] == "Deleted what was kept of 2 runs; 14.0 kB are free."
    assert not any(path.exists() for path in (both.replies, both.totals, alone.totals))


def test_only_old_ones_are_deleted(fedsieve, server):
    old, new = run_with_replies(server, days=31), run_with_replies(server, days=29)
    assert fedsieve("federation", "purge", server.path, "--older-than", 30, "--yes").code == 0
    assert (old.replies.exists(), new.replies.exists()) == (False, True)


def test_a_run_that_goes_on_is_refused_by_name_and_passed_over_by_all(fedsieve, server):
    going, ended = run_with_replies(server), run_with_replies(server)
    with going.lead():
        named = fedsieve("federation", "purge", server.path, "--runs", f"{going.id},{ended.id}", "--yes")
        assert named.code == 2
        assert named.message == f"'{going.id}' goes on: its replies are needed. Wait for its end, or end it."
        assert ended.replies.exists()
        result = fedsieve("federation", "purge", server.path, "--all", "--yes")
        assert f"Run {going.id} goes on; its replies stay." in " ".join(result.out.split())
    assert (going.replies.exists(), ended.replies.exists()) == (True, False)


def test_a_run_that_starts_while_a_person_thinks_is_refused(server):
    from fedsieve.deployment.retention import kept_in
    from fedsieve.errors import ProtocolError

    run = run_with_replies(server)
    (kept,) = kept_in(server.path)
    with run.lead(), pytest.raises(ProtocolError, match="is led by a process now"):
        kept.delete()
    assert run.replies.is_dir()


def test_nobody_there_to_ask_means_no(fedsieve, server):
    run = run_with_replies(server)
    result = fedsieve("federation", "purge", server.path, "--all")
    assert (result.code, run.replies.exists()) == (2, True)
    assert result.message == "nothing was deleted: nobody is there to ask. Give --yes to delete unattended."
    assert run.id[:8] in result.out


def test_it_is_said_that_a_run_without_a_result_cannot_be_resumed_afterwards(fedsieve, server):
    run_with_replies(server)
    result = fedsieve("federation", "purge", server.path, "--all", "--yes")
    assert "cannot be resumed" in " ".join(result.out.replace("│", " ").split())
    assert "Deleted what was kept of 1 run; " in result.out


@pytest.mark.parametrize("options", [[], ["--all", "--older-than", 3], ["--runs", "x", "--all"]])
def test_what_to_delete_must_be_said_once(fedsieve, server, options):
    run = run_with_replies(server)
    result = fedsieve("federation", "purge", server.path, *options, "--yes")
    assert (result.code, run.replies.exists()) == (2, True)
    assert result.message.startswith("purge needs one of --runs ID,ID, --older-than DAYS and --all")


@pytest.mark.parametrize("name", ["nothing", "..", "../../keys"])
def test_a_run_that_is_not_there_is_named_and_nothing_is_deleted(fedsieve, server, name):
    run = run_with_replies(server)
    result = fedsieve("federation", "purge", server.path, "--runs", f"{run.id},{name}", "--yes")
    assert result.code == 2
    assert result.message.startswith(f"nothing is kept of '{name}'. Kept: '{run.id}'")
    assert run.replies.is_dir()


def test_at_a_site_results_go_and_records_rules_and_keys_stay(fedsieve, site):
    before = sorted(path.name for path in site.iterdir())
    result = fedsieve("federation", "purge", site, "--runs", "run-1", "--yes")
    assert result.code == 0
    assert [path.name for path in (site / "results").iterdir()] == ["run-2"]
    assert fedsieve("federation", "purge", site, "--all", "--yes").code == 0
    assert list((site / "results").iterdir()) == []
    assert sorted(path.name for path in site.iterdir()) == before
    assert fedsieve("federation", "purge", site, "--all", "--yes").out.startswith("Nothing to delete")


def test_any_other_folder_is_left_alone(fedsieve, tmp_path):
    (tmp_path / "results" / "mine").mkdir(parents=True)
    result = fedsieve("federation", "purge", tmp_path, "--all", "--yes")
    assert result.code == 2
    assert "is no federation's and no site's folder" in result.message
    assert (tmp_path / "results" / "mine").is_dir()
