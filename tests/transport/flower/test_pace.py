"""How long the engine's loops sleep, and that an engine we did not try keeps its own pace."""

import inspect
import time

import pytest
from flwr.supercore.inflatable import inflatable_utils
from flwr.supernode import start_client_internal

from fedsieve.transport.flower import launch, pace


def test_the_engine_still_sleeps_as_long_as_we_know():
    """`Pace` knows a sleep by its length: another length would be kept as it is, and runs be slow again."""
    node = inspect.getsource(start_client_internal)
    assert f"time.sleep({pace.NODE_SLEEPS:g})" in node
    assert f"time.sleep({pace.REPLY_SLEEPS:g})" in node


def test_a_node_asks_often_only_while_a_run_goes_on():
    one = pace.node_pace(3)
    assert one.seconds(3) == 1
    one.work_came()
    assert one.seconds(3) == 0.1
    assert one.seconds(7) == 7  # what we know nothing about
    one._busy_until = time.monotonic() - 1
    assert one.seconds(3) == 1
    assert one.monotonic is time.monotonic


@pytest.mark.parametrize("n", [1, 2, 10, 40, 100, 119, 1000])
def test_all_sites_together_never_call_more_often_than_a_server_can_bear(n):
    one = pace.node_pace(n)
    idle, one.busy = one.seconds(3), one.work_came()
    busy = one.seconds(3)
    assert busy <= idle <= 3
    assert idle == 3 or n / idle <= pace.CALLS_IDLE
    assert busy == 3 or n / busy <= pace.CALLS_BUSY


def test_an_engine_that_was_not_tried_keeps_its_pace_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr(pace, "version", lambda _: "1.50.0")
    launch.set_pace("flwr.supernode.start_client_internal", pace.node_pace(3))
    assert start_client_internal.time is time
    assert "flwr 1.50.0 was not tried, only 1.41 and 1.42" in capsys.readouterr().err


def test_parts_of_a_message_that_come_late_are_asked_for_again_soon_and_no_less_long():
    """The engine would pause for a second and for two; it gives up after 500 tries, which would be sooner here."""
    missing = {"a": 3, "b": 0}

    def pull_one(part):
        missing[part] -= 1
        if missing[part] >= 0:
            raise inflatable_utils.ObjectUnavailableError(part)
        return part.encode()

    start = time.monotonic()
    pull = pace.sooner(inflatable_utils.pull_objects)
    assert pull(["a", "b"], pull_object_fn=pull_one, initial_backoff=1) == {"a": b"a", "b": b"b"}
    assert time.monotonic() - start < 0.9  # 0.05 + 0.1 + 0.2 and a fifth more at most; the engine's are 7 s
    missing["a"] = 10**9
    with pytest.raises(inflatable_utils.ObjectPullError):
        pull(["a"], pull_object_fn=pull_one, max_time=0.1)


def test_an_engine_that_was_not_tried_keeps_its_pauses(monkeypatch):
    monkeypatch.setattr(pace, "version", lambda _: "1.50.0")
    launch.pull_sooner("flwr.supernode.start_client_internal")
    assert start_client_internal.pull_objects is inflatable_utils.pull_objects
