"""What `run` and `collect` are told of distances and bits, and what they say and write of the paper's formula."""

import pytest

from fedsieve import communication_cost
from fedsieve.cli.communication import Way, rows_cost, rows_cost_line, way_to
from fedsieve.errors import ParameterError

SITES = ("siteA", "siteB")
SENT = [
    {"round": 1, "sender": "server", "receiver": "siteA", "kind": "AskRanges", "n_bytes": 40},
    {"round": 1, "sender": "siteA", "receiver": "server", "kind": "Ranges", "n_bytes": 60},
    {"round": 1, "sender": "gone", "receiver": "server", "kind": "Ranges", "n_bytes": 7},
]
RECORD = {"n_rows": {"siteA": 10, "siteB": 20}, "order": list("pqrst"), "selected": list("pq"), "transcript": SENT}


@pytest.mark.parametrize(
    ("distances", "bits", "said"),
    [
        ("siteA=1", 32, "--distances has none of 'siteB'; give one for each site, or none at all"),
        ("siteA=1,siteC=2", 32, "--distances: 'siteC' is no site; sites are 'siteA', 'siteB'. Give NAME=NUMBER"),
        ("siteA=1,siteA=2,siteB=1", 32, "--distances: 'siteA' is given twice"),
        ("siteA,siteB=1", 32, "--distances siteA must be a number above 0; got ''"),
        ("siteA=far,siteB=1", 32, "--distances siteA must be a number above 0; got 'far'"),
        ("siteA=0,siteB=1", 32, "--distances siteA must be a number above 0; got 0.0"),
        ("siteA=nan,siteB=1", 32, "--distances siteA must be a number above 0; got nan"),
        ("2,3", 32, "--distances: '2' is no site"),
        ("", 0, "--bits must be"),
    ],
)
def test_mistakes_are_named_before_anything_is_done(distances, bits, said):
    with pytest.raises(ParameterError, match=said):
        way_to(SITES, distances, bits)


def test_a_record_has_what_the_public_function_gives():
    way = Way({"siteA": 1.0, "siteB": 2.5}, 16)
    far = {"siteA": 1.0, "siteB": 2.5, "gone": 1}  # which was dropped, and is no site of today's agreement
    expected = communication_cost(RECORD["n_rows"], 5, 2, distances=far, bits=16, messages=SENT)
    assert rows_cost(RECORD, way) == {
        "distances": far,
        "bits_per_value": 16,
        "before_bits": expected.before,
        "after_bits": expected.after,
        "selection_bits": expected.selection,
        "in_all_bits": expected.in_all,
    }
    assert rows_cost_line(RECORD, way).endswith("(each site's times its distance, a value has 16 bits).")


def test_rows_of_some_sites_count_and_what_nobody_knows_is_not_told():
    some = rows_cost(RECORD, Way(), {"siteA": 10})
    assert (some["before_bits"], some["after_bits"]) == (10 * 5 * 32, 10 * 2 * 32)
    assert some["selection_bits"] == 8 * 107
    assert rows_cost({**RECORD, "n_rows": None}, Way()) is None  # secure sums
    assert rows_cost_line({**RECORD, "n_rows": None}) == ""
    assert rows_cost(RECORD, Way(), {}) is None
