"""A `join` as a real process, without a server: consent is recorded at once, and its end, or that none was recorded."""

import pytest

from federation.consortium import Consortium
from federation.processes import PATIENCE, wait_until
from fedsieve.deployment.consent import ConsentRecord

pytestmark = pytest.mark.federation


def recorded(record, n):
    entries = wait_until(
        lambda: (found := list(record.chain.entries())) and len(found) >= n and found, PATIENCE, f"{n} lines"
    )
    return [(entry["what"], entry["how"]) for entry in entries]


def test_the_end_of_a_join_is_recorded_and_a_killed_one_by_the_next(tmp_path):
    with Consortium(tmp_path).init() as consortium:
        record = ConsentRecord(consortium.site("siteA"))
        first = consortium.join("siteA", ready=False)
        assert recorded(record, 1) == [("joined", "--yes")]
        first.kill()
        second = consortium.join("siteA", ready=False)
        assert recorded(record, 3)[1:] == [
            ("left", "no end was recorded: the process was killed, or the machine went down"),
            ("joined", "--yes"),
        ]
        third = consortium.join("siteA", ready=False)
        assert third.wait() == 2
        assert "has joined already, by another process" in third.message
        assert second.end() == 0
        assert recorded(record, 4)[3:] == [("left", "ended by this site")]
        assert record.chain.verify().broken == ""
