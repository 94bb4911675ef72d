"""SSFMLFS on a sample of row pairs: one sample per run, the same in all wire forms, and how certain ranks are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import SSFMLFS
from fedsieve import tables as tables_of_sites
from fedsieve.errors import ParameterError
from fedsieve.fuzzy.graph import PageRank
from fedsieve.kernels import costs
from fedsieve.methods import SSFMLFSMethod
from fedsieve.methods.sampling_error import Sampled, certain_places, sampled
from fedsieve.protocol import Labeled
from fedsieve.tables import ArrayTable, StreamedTable
from fedsieve.transport import in_process
from protocol.federation import select_by_edges

N_ROWS, MAX_PAIRS = 160, 4000  # 12,720 pairs


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(4)
    loadings = rng.normal(size=(3, 12))

    def rows(n):
        return rng.normal(size=(n, 3)) @ loadings + rng.normal(size=(n, 12))

    X = rows(40)
    return X, (X[:, :3] > 0).astype(int), [rows(N_ROWS) for _ in range(3)]


def fit(tables, **parameters):
    X, Y, clients = tables
    return SSFMLFS(**parameters).fit(X, Y, clients=clients)


def test_below_max_pairs_nothing_is_drawn(tables):
    exact, again = fit(tables), fit(tables, max_pairs=N_ROWS**2, random_state=7)
    assert_array_equal(exact.scores_, again.scores_)
    assert not exact.score_error_.any()
    assert not exact.rank_error_.any()
    assert "why" not in exact.explain()[0]


def test_one_number_draws_one_sample_in_all_wire_forms(tables, monkeypatch):
    found = fit(tables, max_pairs=MAX_PAIRS, wire="statistics")
    assert_allclose(fit(tables, max_pairs=MAX_PAIRS, wire="vectors").scores_, found.scores_, rtol=1e-12)
    assert np.any(fit(tables, max_pairs=MAX_PAIRS, random_state=1).scores_ != found.scores_)
    monkeypatch.setattr(costs, "ALWAYS_SUMS", 0)
    monkeypatch.setattr(costs, "MOST_SUMS", 0)  # so that sites multiply from their rows
    assert_allclose(fit(tables, max_pairs=MAX_PAIRS, wire="vectors").scores_, found.scores_, rtol=1e-6)


def test_scores_are_right_on_average_and_within_their_errors(tables):
    exact = fit(tables)
    runs = [fit(tables, max_pairs=1000, random_state=seed) for seed in range(40)]
    off = np.array([run.scores_ - exact.scores_ for run in runs])
    assert np.all(np.abs(off.mean(axis=0)) < 4 * off.std(axis=0) / np.sqrt(len(runs)) + 1e-4)
    assert np.sqrt((off**2).mean()) < np.mean([run.score_error_ for run in runs])
    for run in runs:
        assert np.all(np.abs(run.ranking_ - exact.ranking_) <= run.rank_error_)


def test_each_feature_says_how_certain_its_rank_is(tables):
    found = fit(tables, max_pairs=MAX_PAIRS)
    first, places = found.explain()[0], int(found.rank_error_[found.order_[0]])
    assert first["rank_error"] == places
    assert places
    assert first["why"] == f"its rank is certain to ±{places} place{'s' * (places > 1)}"


def test_matrices_hold_all_pairs(tables):
    assert_array_equal(fit(tables, wire="matrices", max_pairs=1000).scores_, fit(tables, wire="matrices").scores_)


def test_edge_servers_add_up_samples(tables):
    X, Y, clients = tables
    names = tuple(f"x{i}" for i in range(12))
    rows = {f"site-{i}": ArrayTable(names, Z) for i, Z in enumerate([*clients, clients[0][::-1]])}
    groups = {"edge-0": dict(list(rows.items())[:2]), "edge-1": dict(list(rows.items())[2:])}
    method = SSFMLFSMethod(names, max_sites_per_client=2, max_pairs=MAX_PAIRS)
    by_edges = select_by_edges(method, Labeled(X, Y.astype(float)), groups)[0]
    exact = fit((X, Y, [*clients, clients[0]]))
    assert np.all(by_edges.score_error > 0)
    assert np.all(np.abs(by_edges.scores - exact.scores_) < 3 * by_edges.score_error)


class Streamed(StreamedTable):
    def __init__(self, names, X):
        self.names, self.n_rows, self._X = names, len(X), X

    def parts(self, columns, size):
        for start in range(0, len(self._X), size):
            yield self._X[start : start + size, [self.names.index(name) for name in columns]]


@pytest.mark.parametrize("max_pairs", [N_ROWS**2, 1000])
def test_a_sample_of_rows_is_no_certain_rank_either(tables, monkeypatch, max_pairs):
    monkeypatch.setattr(tables_of_sites, "MOST_COMPARED", 60)
    X, Y, clients = tables
    names = tuple(f"x{i}" for i in range(12))
    method = SSFMLFSMethod(names, max_pairs=max_pairs)

    def select(kind):
        sites = {f"site-{i}": kind(names, Z) for i, Z in enumerate(clients)}
        return in_process.select(method, Labeled(X, Y.astype(float)), sites).selection

    whole, some = select(ArrayTable), select(Streamed)
    exact = fit(tables).scores_
    assert whole.score_error.any() == (max_pairs == 1000)  # rows in memory are all compared
    assert np.all(some.score_error > whole.score_error)
    assert np.all(np.abs(some.scores - exact) < 3 * some.score_error)
    assert np.sqrt(((some.scores - exact) ** 2).mean()) < some.score_error.mean()


def test_a_streamed_table_draws_its_rows_from_the_seed(tables, monkeypatch):
    monkeypatch.setattr(tables_of_sites, "MOST_COMPARED", 60)
    X, Y, clients = tables
    names = tuple(f"x{i}" for i in range(12))
    sites = {f"site-{i}": Streamed(names, Z) for i, Z in enumerate(clients)}

    def scores(seed):
        method = SSFMLFSMethod(names, max_pairs=N_ROWS**2)  # all pairs of the rows that are drawn
        return in_process.select(method, Labeled(X, Y.astype(float)), sites, seed=seed).selection.scores

    assert_array_equal(scores(0), scores(0))
    assert np.any(scores(0) != scores(1))


def test_too_few_pairs_are_refused():
    with pytest.raises(ParameterError, match=r"max_pairs must be a whole number in \[1000, 549755813887\]; got 999"):
        SSFMLFSMethod(("a", "b"), max_pairs=999)


def test_the_error_of_a_total_is_at_least_that_of_its_sites():
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows = {f"s{i}": int(n) for i, n in enumerate(rng.integers(2, 3000, rng.integers(1, 6)))}
        n, max_pairs = sum(rows.values()), 100_000
        shares = {name: (size / n) ** 2 for name, size in rows.items()}
        known = sampled(shares, rows, rows, max_pairs, 1)
        drew = [name for name, size in rows.items() if size * (size - 1) // 2 > max_pairs]
        assert (known is None) == (not drew)
        if known is None:
            continue
        x = {name: rng.random() for name in rows}
        total = sum(shares[name] * x[name] for name in rows)
        least = sum(shares[name] ** 2 * x[name] * (1 - x[name]) / max_pairs for name in drew)
        found = PageRank(np.array([total]), 1, 0.0, 1.0)
        assert known.errors(found, np.zeros(1), 0.999999999) ** 2 >= least * (1 - 1e-6)
        unseen = sampled(None, {"all": n}, {"all": n}, max_pairs, 1)
        assert unseen.errors(found, np.zeros(1), 0.999999999) ** 2 >= least * (1 - 1e-6)


def test_places_count_the_features_on_either_side_that_cannot_be_told_apart():
    scores = np.random.default_rng(1).random(60)
    errors = np.random.default_rng(2).random(60) / 40
    for p, places in enumerate(certain_places(scores, errors)):
        near = np.abs(scores - scores[p]) <= 2 * (errors + errors[p])
        assert places == max((near & (scores > scores[p])).sum(), (near & (scores < scores[p])).sum())


def test_without_damping_no_edge_counts():
    assert not Sampled(1.0, 1.0, 10.0).errors(PageRank(np.ones(3), 1, 0.0, 1.0), np.ones(3), 0.0).any()
