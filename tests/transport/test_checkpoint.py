"""A run whose server dies anywhere goes on from its last complete round to the same bits."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fedsieve.deployment.runs import RunFolder
from fedsieve.errors import DataError
from fedsieve.messages import Refusal
from fedsieve.messages.secure_sum import AskSignature
from fedsieve.methods import SSFMLFSMethod
from fedsieve.protocol import Client, Labeled, Question
from fedsieve.transport import checkpoint, in_process
from fedsieve.transport.checkpoint import Checkpointed
from fedsieve.transport.codec import encoded_size
from fedsieve.transport.exchange import Answer, drive
from protocol.federation import WIRES, example, labeled, sites

CASE = example()


class DeathError(Exception):
    """Of the server's process."""


class Mortal:
    """An exchange with clients that live on, whose server dies before the question number `until`."""

    def __init__(self, until=None, refusing=None):
        self.clients = {name: Client(site) for name, site in sites(CASE).items()}
        self.asked = []
        self.until, self.refusing = until, refusing

    def __call__(self, ask):
        if len(self.asked) == self.until:
            raise DeathError
        self.asked.append(ask)
        replies = {name: self.clients[name].answer(ask.request) for name in ask.clients}
        answers = {name: Answer(reply, encoded_size(reply)) for name, reply in replies.items()}
        if self.refusing in answers and len(self.asked) == 2:
            answers[self.refusing] = Answer(Refusal("größere Pläne"), 0)
        return answers


def attempt(exchange, run, plan, rows=None):
    checkpointed = Checkpointed(exchange, run)
    return drive(plan, rows or labeled(CASE), tuple(CASE.clients), checkpointed), checkpointed


def assert_same(first, second):
    assert first.transcript == second.transcript
    for field in dataclasses.fields(first.selection):
        a, b = getattr(first.selection, field.name), getattr(second.selection, field.name)
        assert_array_equal(a, b) if isinstance(a, np.ndarray) else None
        assert isinstance(a, np.ndarray) or a == b


@pytest.mark.parametrize("ranges", ["federated", "local"])
@pytest.mark.parametrize("wire", WIRES)
def test_death_after_any_number_of_rounds_changes_no_bit_and_asks_nothing_twice(tmp_path, wire, ranges):
    plan = SSFMLFSMethod(CASE.features, wire=wire, ranges=ranges, tol=1e-5)
    whole = in_process.select(plan, labeled(CASE), sites(CASE))
    n_asked = _count(plan)
    for k in range(n_asked):
        run = RunFolder(tmp_path / str(k))
        run.path.mkdir()
        mortal = Mortal(until=k)
        with pytest.raises(DeathError):
            attempt(mortal, run, plan)
        mortal.until = None
        outcome, checkpointed = attempt(mortal, run, plan)
        assert checkpointed.n_repeated == k
        assert len(mortal.asked) == n_asked
        assert_same(outcome, whole)


def _count(plan):
    asked = []
    in_process.select(plan, labeled(CASE), sites(CASE), asked.append)
    return len(asked)


def test_death_in_every_round_is_survived(tmp_path):
    plan = SSFMLFSMethod(CASE.features, wire="vectors", tol=1e-3)
    run, mortal = RunFolder(tmp_path), Mortal(until=0)
    deaths = 0
    while True:
        try:
            outcome, checkpointed = attempt(mortal, run, plan)
            break
        except DeathError:
            deaths += 1
            mortal.until += 1
    assert deaths == len(mortal.asked) == checkpointed.n_repeated + 1
    assert_same(outcome, in_process.select(plan, labeled(CASE), sites(CASE)))


def test_a_refusal_is_kept_too_so_that_a_dropped_site_stays_dropped(tmp_path):
    plan = SSFMLFSMethod(CASE.features, on_bad_client="drop")
    whole, _ = attempt(Mortal(refusing="site-1"), _made(tmp_path / "whole"), plan)
    run, mortal = _made(tmp_path / "cut"), Mortal(until=3, refusing="site-1")
    with pytest.raises(DeathError):
        attempt(mortal, run, plan)
    mortal.until = mortal.refusing = None
    outcome, _ = attempt(mortal, run, plan)
    assert outcome.selection.dropped == {"site-1": "größere Pläne"}
    assert_same(outcome, whole)


@pytest.mark.parametrize("wire", WIRES)
def test_a_changed_plan_or_changed_labeled_rows_cannot_go_on(tmp_path, wire):
    plan = SSFMLFSMethod(CASE.features, wire=wire)
    attempt(Mortal(), RunFolder(tmp_path), plan)
    wider = Labeled(CASE.X * 3, CASE.Y.astype(float))  # other ranges
    others = [dataclasses.replace(plan, lam=1.0), dataclasses.replace(plan, ranges="local")]
    for other, rows in [(plan, wider), *((other, labeled(CASE)) for other in others)]:
        mortal = Mortal()
        with pytest.raises(DataError, match=r"does not fit the agreement and labeled rows of now\. Start a new run"):
            attempt(mortal, RunFolder(tmp_path), other, rows)
        assert mortal.asked == []


@pytest.mark.parametrize("wire", WIRES)
def test_changed_labels_are_refused_or_give_what_a_new_run_would_give(tmp_path, wire):
    """Where no question depends on the labels, the kept answers fit any; nothing of the old labels may remain."""
    plan = SSFMLFSMethod(CASE.features, wire=wire)
    attempt(Mortal(), RunFolder(tmp_path), plan)
    rows = Labeled(CASE.X, np.roll(CASE.Y, 1, axis=1).astype(float)[::-1])
    if wire == "vectors":
        with pytest.raises(DataError, match="Start a new run"):
            attempt(Mortal(), RunFolder(tmp_path), plan, rows)
    else:
        outcome, _ = attempt(Mortal(), RunFolder(tmp_path), plan, rows)
        assert_same(outcome, in_process.select(plan, rows, sites(CASE)))


def test_other_clients_cannot_go_on(tmp_path):
    plan = SSFMLFSMethod(CASE.features)
    attempt(Mortal(), RunFolder(tmp_path), plan)
    checkpointed = Checkpointed(Mortal(), RunFolder(tmp_path))
    with pytest.raises(DataError, match="Start a new run"):
        drive(plan, labeled(CASE), ("site-0", "site-1"), checkpointed)
    assert checkpointed.n_repeated == 0  # not even the first answers are taken for those of fewer clients


def test_death_while_a_round_is_written_leaves_no_half_of_it(tmp_path, monkeypatch):
    plan, mortal, run = SSFMLFSMethod(CASE.features), Mortal(), RunFolder(tmp_path)
    pack, written = checkpoint._pack, []

    def half(path, *content):
        written.append(path)
        pack(path, *content)
        if len(written) == 2:
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
            raise DeathError

    monkeypatch.setattr(checkpoint, "_pack", half)
    with pytest.raises(DeathError):
        attempt(mortal, run, plan)
    assert [path.name for path in (tmp_path / "rounds").iterdir()] == ["00001"]
    monkeypatch.undo()
    outcome, checkpointed = attempt(mortal, run, plan)
    assert checkpointed.n_repeated == 1
    assert_same(outcome, in_process.select(plan, labeled(CASE), sites(CASE)))


DAMAGE = {
    "empty": lambda _: b"",
    "cut in its digest": lambda whole: whole[:10],
    "cut in its length": lambda whole: whole[:34],
    "cut in its header": lambda whole: whole[:60],
    "cut in its replies": lambda whole: whole[:-1],
    "longer": lambda whole: whole + b"x",
    "a length beyond the file": lambda whole: whole[:32] + b"\xff\xff\xff\x7f" + whole[36:],
    "no JSON": lambda whole: whole[:36] + b"[" * (len(whole) - 36),
    "a bit": lambda whole: whole[:100] + bytes([whole[100] ^ 1]) + whole[101:],
    "of no version": lambda _: b"{}",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_damaged_round_is_set_aside_and_asked_again(tmp_path, number, damage):
    plan, run, mortal = SSFMLFSMethod(CASE.features, ranges="robust"), RunFolder(tmp_path), Mortal()
    whole, _ = attempt(mortal, run, plan)
    n_asked, file = len(mortal.asked), tmp_path / "rounds" / f"{number:05d}"
    damaged, good = damage(file.read_bytes()), file.read_bytes()
    file.write_bytes(damaged)
    outcome, checkpointed = attempt(mortal, run, plan)
    assert_same(outcome, whole)
    assert (len(mortal.asked), checkpointed.n_repeated) == (n_asked + 1, n_asked - 1)
    assert file.read_bytes() == good
    assert file.with_suffix(".damaged").read_bytes() == damaged
    (event,) = run.events()
    assert (event["event"], event["number"]) == ("asked again", number)
    assert "cut or damaged" in event["reason"]
    assert event["file"].endswith(f"{number:05d}.damaged")


def test_rounds_after_a_damaged_one_that_is_answered_otherwise_are_asked_again_too(tmp_path):
    """The site that refused in the second round does not do so again."""
    plan, run = SSFMLFSMethod(CASE.features, ranges="robust", on_bad_client="drop"), RunFolder(tmp_path)
    attempt(Mortal(refusing="site-1"), run, plan)
    (tmp_path / "rounds" / "00002").write_bytes(b"")
    mortal = Mortal()
    outcome, checkpointed = attempt(mortal, run, plan)
    assert checkpointed.n_repeated == 1
    assert_same(outcome, attempt(Mortal(), _made(tmp_path / "fresh"), plan)[0])
    assert "answered otherwise now" in run.events()[-1]["reason"]


def _made(path):
    path.mkdir()
    return RunFolder(path)


def test_requests_to_single_clients_are_part_of_the_question(tmp_path):
    """What was meant for one client alone is not taken for the answer to something else."""
    run, asked = RunFolder(tmp_path), []

    def exchange(question):
        asked.append(question)
        return {"a": Answer(Refusal("no"), 1)}

    def question(number):
        return Question(1, ("a",), AskSignature(0, ("a",)), own={"a": AskSignature(number, ("a",))})

    Checkpointed(exchange, run)(question(1))
    assert Checkpointed(exchange, run)(question(1))["a"].reply.reason == "no"
    assert len(asked) == 1
    with pytest.raises(DataError, match="does not fit the agreement"):
        Checkpointed(exchange, run)(question(2))
