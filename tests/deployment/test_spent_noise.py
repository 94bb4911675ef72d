"""What noisy answers cost is counted before they leave, over runs, agreements, restarts and processes at once."""

import json
import stat
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest

from fedsieve.deployment.spent_noise import FILE, SpentNoise
from fedsieve.errors import DataError, ProtocolError
from fedsieve.privacy import SITE
from fedsieve.privacy.noise import epsilon_spent, noise_multiplier

MULTIPLIER = noise_multiplier(1.0, 1e-6)


@pytest.fixture
def spent(tmp_path):
    return SpentNoise(tmp_path / "ledger")


def spend(ledger, run="run", agreement="f00d", multiplier=MULTIPLIER, policy=SITE):
    ledger.spend(run, agreement, "digest", multiplier, policy, now=1.8e9)


def test_every_answer_is_counted_whatever_the_run_and_the_agreement(spent):
    for number in range(4):
        spend(spent, f"run-{number // 2}", f"agreement-{number}")
        assert spent.epsilon(SITE) == pytest.approx(epsilon_spent([MULTIPLIER] * (number + 1), SITE.max_delta))
    assert [entry["agreement"] for entry in spent.answers()] == [f"agreement-{number}" for number in range(4)]
    assert stat.S_IMODE((spent.path / FILE).stat().st_mode) == 0o600


def test_what_would_cost_too_much_is_refused_and_not_counted(spent):
    policy = replace(SITE, max_epsilon=2.0)
    while epsilon_spent([MULTIPLIER] * (len(spent.answers()) + 1), SITE.max_delta) <= 2:
        spend(spent, policy=policy)
    n_answers = len(spent.answers())
    assert n_answers > 2
    with pytest.raises(ProtocolError) as refused:
        spend(spent, policy=policy)
    assert len(spent.answers()) == n_answers
    assert str(refused.value).startswith(f"has spent epsilon {spent.epsilon(policy):.2f} of 2 (max_epsilon, at delta")
    assert "raise max_epsilon in policy.toml" in str(refused.value)
    spend(spent, multiplier=100.0, policy=policy)  # a quieter question still has room
    with pytest.raises(ProtocolError):
        spend(spent, policy=policy)


def test_it_survives_a_restart(spent):
    spend(spent)
    again = SpentNoise(spent.path)
    assert again.epsilon(SITE) == spent.epsilon(SITE) > 0
    with pytest.raises(ProtocolError):
        spend(again, policy=replace(SITE, max_epsilon=1.0, max_delta=1e-6))


def test_without_a_limit_it_is_counted_all_the_same(spent):
    free = replace(SITE, max_epsilon=0.0)
    for _ in range(3):
        spend(spent, multiplier=0.1, policy=free)
    assert len(spent.answers()) == 3
    assert "and there is no limit" in spent.words(free)


def _try(path):
    try:
        spend(SpentNoise(path), policy=replace(SITE, max_epsilon=2.0))
    except ProtocolError:
        return False
    return True


def test_processes_at_once_cannot_spend_the_same_twice(spent):
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        answered = sum(pool.map(_try, [spent.path] * 12))
    assert answered == len(spent.answers())
    assert spent.epsilon(SITE) <= 2.0
    assert not _try(spent.path)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"answers": 3}', '{"answers": [{}]}', '{"answers": [{"noise_multiplier": 0}]}']
)
def test_a_damaged_ledger_is_no_reason_to_forget(spent, content):
    spend(spent)
    (spent.path / FILE).write_text(content)
    with pytest.raises(DataError, match="Restore it from a backup"):
        spend(spent)
    with pytest.raises(DataError):
        spent.words(SITE)


def test_people_are_told_what_is_left(spent):
    assert spent.words(SITE) == "No noisy answer was given yet: all of epsilon 10 is left (max_epsilon)."
    spend(spent)
    assert spent.words(SITE) == "1 noisy answer cost epsilon 0.88 of 10 (max_epsilon, at delta 1e-05)."
    assert json.loads((spent.path / FILE).read_text())["answers"][0]["run"] == "run"
