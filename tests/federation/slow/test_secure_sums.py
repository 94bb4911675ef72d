"""Secure sums between real processes: the order of a plain run, also without a site that is killed in the second sum.

Deaths in every other phase are in `federation/chaos`.
"""

import pytest

from federation.consortium import running

pytestmark = pytest.mark.federation

LENIENT = {"min_cell = 5": "min_cell = 0", "rows_per_column = 3": "rows_per_column = 0"}  # tables here have few rows


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    """One for both tests, in their order."""
    place, sites = tmp_path_factory.mktemp("secure"), "siteA,siteB,siteC,siteD"
    with running(place, sites, "--secure", "--ranges", "robust", changes=LENIENT) as consortium:
        yield consortium


def test_the_order_is_that_of_one_process_and_no_single_reply_is_seen(consortium):
    record = consortium.run().result()
    assert record["order"] == consortium.expected()["order"]
    assert (record["n_rows"], record["dropped"], record["left_out"]) == (None, {}, [])
    said = {entry["kind"] for entry in record["transcript"] if entry["sender"] != "server"}
    assert said == {"Keys", "Shares", "Masked", "Signature", "Unmasking"}


def test_a_site_killed_in_the_second_sum_is_left_out(consortium):
    run = consortium.run(out="killed")
    run.asked("AskMasked", after=1)
    consortium.kill_site("siteC")
    record = run.result()
    assert set(record["dropped"]) <= {"siteC"}  # nothing, where it had answered all before it was killed
    assert record["order"] == consortium.expected(*record["dropped"])["order"]
