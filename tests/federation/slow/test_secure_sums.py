"""Secure sums between real processes: the order of a plain run, and a site killed in any phase of the second sum."""

import pytest

from federation.consortium import running

pytestmark = pytest.mark.federation

SITES = "siteA,siteB,siteC,siteD"
SECURE = ("--secure", "--ranges", "robust")
LENIENT = {"min_cell = 5": "min_cell = 0", "rows_per_column = 3": "rows_per_column = 0"}  # tables here have few rows


def test_the_order_is_that_of_one_process_and_no_single_reply_is_seen(tmp_path):
    with running(tmp_path, SITES, *SECURE, changes=LENIENT) as consortium:
        record = consortium.run().result()
        assert record["order"] == consortium.expected()["order"]
        assert (record["n_rows"], record["dropped"], record["left_out"]) == (None, {}, [])
        said = {entry["kind"] for entry in record["transcript"] if entry["sender"] != "server"}
        assert said == {"Keys", "Shares", "Masked", "Signature", "Unmasking"}


@pytest.mark.parametrize("kind", ["AskMasked", "AskSignature", "AskUnmasking"])
def test_a_site_killed_in_any_phase_is_left_out(tmp_path, kind):
    changes = {**LENIENT, "timeout_seconds = 300": "timeout_seconds = 20"}
    with running(tmp_path, SITES, *SECURE, changes=changes) as consortium:
        run = consortium.run()
        run.asked(kind, after=1)
        consortium.kill_site("siteC")
        record = run.result()
        assert set(record["dropped"]) <= {"siteC"}  # nothing, where it had answered all before it was killed
        assert record["order"] == consortium.expected(*record["dropped"])["order"]
