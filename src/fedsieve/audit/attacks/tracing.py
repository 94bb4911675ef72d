"""Whether given rows are in a table, from any answers about it: a row that is in it pulls them its own way.

The server knows the requests, so that it can answer them itself, from its own rows. How one more row moves such an
answer is that row's pull; a site's answer that departs from the server's own in the direction of the pull speaks for
the row (Homer et al. 2008, Dwork et al. 2015). Knows no message: it reads whatever numbers a reply holds.
"""

from dataclasses import fields

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.messages import Refusal, Reply, Request
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable
from fedsieve.values import dense

N_BESIDE = 30  # rows beside which a candidate's pull is measured
MOST_ROUNDS = 4  # of one kind of request; further ones of an iteration tell hardly more
NOTHING = 1e-12


def pulls_towards(seen: list[tuple[Request, Reply]], own: ArrayTable, candidates: ArrayTable) -> Float:
    """How far the answers lean towards each candidate, (n_candidates,); `own` are the server's rows."""
    asked, told = _first_rounds(seen)
    beside = some_rows(own, np.arange(min(N_BESIDE, own.n_rows)))
    growth = _growth(asked, beside)
    expected = _numbers(asked, own, growth)
    without = _numbers(asked, beside, growth)
    usable = [
        place
        for place, number in enumerate(without)
        if number is not None and expected[place] is not None and number.shape == _flat(told[place], 0.0).shape
    ]
    if not usable:
        return np.zeros(candidates.n_rows)

    def pull(table: ArrayTable, row: int) -> Float:
        numbers = _numbers(asked, _with_row(beside, table, row), growth)
        return np.concatenate([numbers[place] - without[place] for place in usable])

    own_pulls = np.array([pull(own, row) for row in range(own.n_rows - N_BESIDE, own.n_rows) if row >= 0])
    pulls = np.array([pull(candidates, row) for row in range(candidates.n_rows)])
    surplus = np.concatenate([_flat(told[place], growth[place]) - expected[place] for place in usable])
    spread = own_pulls.var(axis=0)
    weight = np.where(spread > NOTHING * spread.max(initial=0.0), 1 / np.maximum(spread, 1e-300), 0.0)
    score: Float = pulls @ (weight * surplus)
    return score


def _first_rounds(seen: list[tuple[Request, Reply]]) -> tuple[list[Request], list[Reply]]:
    counts: dict[type[Request], int] = {}
    asked, told = [], []
    for request, reply in seen:
        counts[type(request)] = counts.get(type(request), 0) + 1
        if counts[type(request)] <= MOST_ROUNDS:
            asked.append(request)
            told.append(reply)
    return asked, told


def _growth(asked: list[Request], table: ArrayTable) -> list[float]:
    """With which power of the number of rows each reply grows, found by asking about the same rows twice."""
    twice = some_rows(table, np.tile(np.arange(table.n_rows), 2))
    zero = [0.0] * len(asked)
    powers = []
    for once, double in zip(_numbers(asked, table, zero), _numbers(asked, twice, zero), strict=True):
        if once is None or double is None or once.shape != double.shape or not np.abs(once).sum():
            powers.append(0.0)
        else:
            powers.append(float(np.round(np.log2(np.abs(double).sum() / np.abs(once).sum()))))
    return powers


def _numbers(asked: list[Request], table: ArrayTable, growth: list[float]) -> list[Float]:
    """The numbers of the replies that this table would give, per row as they grow; none where it refuses."""
    client = Client(table)
    replies = [client.answer(request) for request in asked]
    return [
        np.empty(0) if isinstance(reply, Refusal) else _flat(reply, power)
        for reply, power in zip(replies, growth, strict=True)
    ]


def _flat(reply: Reply, power: float) -> Float:
    values = [getattr(reply, part.name) for part in fields(reply)]  # type: ignore[arg-type] # all are dataclasses
    arrays = [np.asarray(value, dtype=np.float64).ravel() for value in values if isinstance(value, np.ndarray)]
    flat: Float = np.nan_to_num(np.concatenate([*arrays, np.empty(0)])) / float(reply.n_rows) ** power
    return flat


def some_rows(table: ArrayTable, rows: Int) -> ArrayTable:
    """Some rows of a table."""
    return ArrayTable(table.names, dense(table.whole(table.names))[rows])


def _with_row(table: ArrayTable, other: ArrayTable, row: int) -> ArrayTable:
    whole, more = dense(table.whole(table.names)), dense(other.read(table.names, row, row + 1))
    return ArrayTable(table.names, np.vstack([whole, more]))
