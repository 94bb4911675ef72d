"""One server and three sites as real processes with TLS and keys on loopback: what one process finds, they find."""

import json
import threading
from types import SimpleNamespace

import pytest

from federation.consortium import Consortium
from federation.processes import MARK, command_line, environ, listeners
from federation.tables import assert_same, given_to_sites
from fedsieve.deployment.consent import ConsentRecord

pytestmark = pytest.mark.federation

LOOPBACK = "0100007F"  # 127.0.0.1 as the kernel writes it
SWITCHES = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}


class Watch(threading.Thread):
    """Looks at all processes of a consortium, again and again: where they listen, how they were started."""

    def __init__(self, consortium):
        super().__init__(daemon=True)
        self.consortium, self.ended = consortium, threading.Event()
        self.addresses, self.engine = set(), {}

    def run(self):
        while not self.ended.wait(0.4):
            pids = self.consortium.pids()
            self.addresses |= listeners(pids)
            for pid in set(pids) - set(self.engine):
                variables = environ(pid)
                if "FLWR_HOME" in variables:
                    self.engine[pid] = (variables[MARK].partition("/")[2], command_line(pid), variables)


def lived_through(folder):
    """A federation from its founding to its end, looked at from outside; the checks ask what was seen."""
    with Consortium(folder).init() as consortium:
        watch = Watch(consortium)
        watch.start()
        server, joins = consortium.serve(), consortium.join_all()
        run = consortium.run()
        story = SimpleNamespace(consortium=consortium, watch=watch, record=run.result(), run=run.folder.id)
        story.output = run.command.text
        story.status = consortium.call("status", consortium.fed).text
        story.codes = [command.end() for command in (*joins.values(), server)]
        story.left = [command_line(pid) for pid in consortium.pids()]
        watch.ended.set()
        watch.join()
        return story


def the_result_is_that_of_one_process_to_the_last_bit(story):
    assert_same(story.record, story.consortium.expected(), "transcript", "bytes", "dropped", "versions", "labels")
    assert story.record["dropped"] == {}
    assert story.record["federation"]["rounds_from_checkpoint"] == 0


def every_site_is_given_the_same_result(story):
    for name in story.consortium.names:
        file = story.consortium.site(name) / "results" / story.run / "selection.json"
        assert json.loads(file.read_text()) == given_to_sites(story.record)


def the_runs_id_is_in_every_log_and_result(story):
    assert story.record["federation"]["run"] == story.run
    places = [story.consortium.fed / "server", *(story.consortium.site(name) for name in story.consortium.names)]
    for place in places:
        lines = (place / "fedsieve.log").read_text().splitlines()
        assert lines
        assert all(f"run={story.run} " in line for line in lines)
    assert story.run in story.status
    assert story.run in story.output


def status_shows_who_is_there_and_what_came(story):
    assert f"The server of {story.consortium.fed} is up." in story.status
    for name in story.consortium.names:
        assert any(name in line and "online" in line for line in story.status.splitlines()), story.status
    assert "has its result, round 2" in story.status


def nobody_listens_anywhere_but_on_loopback(story):
    assert story.watch.addresses == {LOOPBACK}


def telemetry_update_checks_and_installations_are_off_in_every_process_of_the_engine(story):
    seen = list(story.watch.engine.values())
    for party, kinds in {"server": ("superlink", "serverapp"), "siteA": ("supernode", "flwr-clientapp")}.items():
        lines = [line for one, line, _ in seen if one == party]
        assert [kind for kind in kinds if not any(kind in line for line in lines)] == [], lines
    for _, line, variables in seen:
        assert {key: variables.get(key) for key in SWITCHES} == SWITCHES, line


def no_value_of_a_row_is_in_any_log(story):
    texts = story.consortium.tables.texts_of_values()
    files = story.consortium.log_files()
    assert len(files) > 8
    for file in files:
        content = file.read_text(errors="replace")
        assert not [text for text in texts if text in content], file


def at_the_end_all_processes_and_all_prepared_rows_are_gone(story):
    assert story.codes == [0, 0, 0, 0]
    assert story.left == []
    for name in story.consortium.names:
        assert not (story.consortium.site(name) / "prepared").exists()


def consent_is_recorded_from_its_beginning_to_its_end_and_stays(story):
    for name in story.consortium.names:
        chain = ConsentRecord(story.consortium.site(name)).chain
        joined, left = chain.entries()
        assert (joined["what"], joined["how"], joined["table"]["rows"]) == ("joined", "--yes", 12)
        assert (left["what"], left["how"]) == ("left", "ended by this site")
        assert chain.verify().broken == ""


def the_replies_of_all_sites_are_deleted_and_that_is_said(story):
    assert not (story.consortium.fed / "server" / "runs" / story.run / "rounds").exists()
    for text in (story.output, story.status):
        assert "The sites' replies are deleted" in text


CHECKS = (
    the_result_is_that_of_one_process_to_the_last_bit,
    every_site_is_given_the_same_result,
    the_runs_id_is_in_every_log_and_result,
    status_shows_who_is_there_and_what_came,
    nobody_listens_anywhere_but_on_loopback,
    telemetry_update_checks_and_installations_are_off_in_every_process_of_the_engine,
    no_value_of_a_row_is_in_any_log,
    at_the_end_all_processes_and_all_prepared_rows_are_gone,
    consent_is_recorded_from_its_beginning_to_its_end_and_stays,
    the_replies_of_all_sites_are_deleted_and_that_is_said,
)


def test_a_federation_of_real_processes_finds_what_one_process_finds_and_leaves_nothing_behind(tmp_path):
    """One test, not one for each check: workers of xdist would each found a federation."""
    story, failures = lived_through(tmp_path), []
    for check in CHECKS:
        try:
            check(story)
        except AssertionError as error:
            error.add_note(f"in: {check.__name__}")
            failures.append(error)
    if failures:
        failures[0].add_note(story.consortium.tails())
        raise ExceptionGroup("what does not hold", failures)
