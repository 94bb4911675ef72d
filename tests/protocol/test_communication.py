"""The communication cost of the paper: its formula, its Table VI, and the selection's own messages."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve import SSFMLFS, communication_cost
from fedsieve.errors import ParameterError
from fedsieve.protocol import SentMessage, bytes_by_client

ROWS = st.lists(st.integers(0, 500), min_size=1, max_size=12)


@given(ROWS, st.integers(1, 40), st.integers(1, 64), st.data())
def test_it_is_the_formula_term_by_term(rows, n_features, bits, data):
    k = data.draw(st.integers(1, n_features))
    distances = data.draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows)))
    before = after = 0
    for D, N in zip(distances, rows, strict=True):
        before += D * N * n_features * bits
        after += D * N * k * bits
    cost = communication_cost(rows, n_features, k, distances=distances, bits=bits)
    assert (cost.before, cost.after, cost.selection, cost.in_all) == (before, after, 0, after)
    assert cost.pays == (after < before)


def test_the_table_of_the_paper(request):
    """As printed, with D_i and b left as they are: each client counts with all rows of a dataset."""
    published = Path(request.config.rootpath) / "benchmarks" / "paper" / "published" / "table8_communication.csv"
    with published.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 5
    for row in rows:
        n, before, after = (int(row[key]) for key in ("instances", "features_before", "features_after"))
        cost = communication_cost([n] * 3, before, after, distances=[1, 2, 3], bits=1)
        assert (cost.before, cost.after) == (6 * n * before, 6 * n * after)


def test_the_selection_s_own_messages_count_by_the_same_distances(rng):
    sites = {"near": rng.random((30, 5)), "far": rng.random((20, 5))}
    X, Y = rng.random((12, 5)), rng.integers(0, 2, (12, 2))
    selector = SSFMLFS(2).fit(X, Y, clients=sites)
    n_rows, distances = {"near": 30, "far": 20}, {"near": 1.0, "far": 10.0}
    cost = communication_cost(n_rows, 5, 2, distances=distances, messages=selector.transcript_)
    spent = bytes_by_client(selector.transcript_)
    assert cost.selection == 8 * (spent["near"] + 10 * spent["far"])
    assert cost.in_all == cost.after + cost.selection
    assert not cost.pays  # of so few rows
    as_written = [entry._asdict() for entry in selector.transcript_]
    assert communication_cost(n_rows, 5, 2, distances=distances, messages=as_written) == cost
    assert communication_cost(n_rows, 5, 2, distances=distances, messages=spent) == cost
    in_order = communication_cost([20, 30], 5, 2, distances=[10.0, 1.0], messages=spent)  # "far" comes first
    assert in_order == cost


def test_a_client_that_was_dropped_has_sent_as_well():
    sent = [SentMessage(1, "a", "server", "Ranges", 10), SentMessage(1, "gone", "server", "Ranges", 5)]
    assert communication_cost({"a": 4}, 3, 1, messages=sent).selection == 8 * 15
    with pytest.raises(ParameterError, match="communication_cost: distances has none of 'gone'; give one per client"):
        communication_cost({"a": 4}, 3, 1, distances={"a": 2}, messages=sent)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_selected": 6}, r"n_selected must be a whole number in \[1, n_features=5\]; got 6"),
        ({"n_features": 0}, "n_features must be a whole number of at least 1; got 0"),
        ({"bits": 0}, "bits must be a whole number of at least 1; got 0"),
        ({"n_rows": [3, -1]}, "n_rows of 'client-1' must be a whole number of at least 0; got -1"),
        ({"distances": [1]}, "distances has 1 entries for 2 clients; give one each"),
        ({"distances": [1, np.nan]}, "the distance of 'client-1' must be a number above 0; got nan"),
        ({"n_rows": {"a": 3}, "distances": {"a": 1, "b": 2}}, "distances names no such client: 'b'; there are 'a'"),
        ({"distances": 2}, "distances must be a list, or a dict by client; got 2"),
        ({"n_rows": 7}, "n_rows must be a list, or a dict by client; got 7"),
        ({"n_rows": "12"}, "n_rows must be a list, or a dict by client; got '12'"),
        ({"messages": {"a": -5, "b": 1}}, "the bytes of 'a' must be a whole number of at least 0; got -5"),
        ({"messages": {"a": "x", "b": 1}}, "the bytes of 'a' must be a whole number of at least 0; got 'x'"),
        ({"messages": 5}, "messages must be a transcript_, or a dict of bytes by client; got 5"),
        ({"messages": [{"x": 1}]}, "messages must be a transcript_, .*; it holds {'x': 1}"),
        ({"messages": ["abc"]}, "messages must be a transcript_, .*; it holds 'abc'"),
        ({"messages": [SentMessage(1, "a", "server", "Ranges", -2)]}, "n_bytes of a message must be .*; got -2"),
        ({"messages": [SentMessage(1, "a", "server", "Ranges", "x")]}, "n_bytes of a message must be .*; got 'x'"),
    ],
)
def test_what_cannot_be_is_said(wrong, words):
    given = {"n_rows": [3, 4], "n_features": 5, "n_selected": 2}
    with pytest.raises(ParameterError, match=f"communication_cost: {words}"):
        communication_cost(**{**given, **wrong})


def test_no_clients_are_an_error():
    with pytest.raises(ParameterError, match="n_rows is empty; give one entry per client"):
        communication_cost([], 3, 2)
