"""SSFMLFS: one rule per parameter; the three wire forms, the partition's order and the columns' order: one answer."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve.errors import ParameterError
from fedsieve.methods import SSFMLFSMethod
from fedsieve.protocol import Labeled
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from protocol.federation import WIRES, example, labeled, select, sites
from reference import selection_loops
from strategies import Federation, federations

FEATURES = ("a", "b", "c")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"lam": 0.39}, r"lam must be in \[0.4, 2\]; got 0.39"),
        ({"lam": 2.01}, r"lam must be in \[0.4, 2\]"),
        ({"lam": "x"}, r"lam must be in \[0.4, 2\]; got 'x'"),
        ({"lam": float("nan")}, "got nan"),
        ({"damping": 1.0}, r"damping must be in \[0, 1\); got 1.0"),
        ({"damping": -0.1}, "damping"),
        ({"tol": 0.0}, "tol must be above 0"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1; got 0"),
        ({"n_neighbors": 2.5}, "got 2.5"),
        ({"n_neighbors": True}, "got True"),
        ({"max_iter": 0}, "max_iter"),
        ({"max_message_bytes": 0}, "max_message_bytes"),
        (
            {"n_features_to_select": 0},
            r"n_features_to_select must be a whole number in \[1, n_features=3\], or a share between 0 and 1; got 0",
        ),
        ({"n_features_to_select": 4}, r"in \[1, n_features=3\], or a share .*; got 4"),
        ({"relation": "near"}, "relation must be one of 'distance', 'similarity'; got 'near'"),
        ({"irrelevant": "x"}, "irrelevant must be one of"),
        ({"decisions": "x"}, "decisions must be one of 'crisp', 'soft'"),
        ({"spread": "x"}, "spread must be one of"),
        ({"aggregation": "sum"}, "aggregation must be one of 'blocks', 'mean', 'weighted'; got 'sum'"),
        (
            {"aggregation": "mean", "wire": "vectors"},
            "aggregation='mean' needs each client's own distances, which wire='vectors' does not tell. Use wire='stat",
        ),
        (
            {"aggregation": "weighted", "secure": True, "ranges": "robust"},
            "secure=True needs replies that add up; aggregation='weighted' averages over single sites",
        ),
        ({"wire": "pigeon"}, "wire must be one of 'auto', 'matrices', 'statistics', 'vectors'"),
        ({"missing": "drop"}, "missing must be one of 'error', 'unrelated'"),
        ({"constant": "x"}, "constant must be one of"),
        ({"on_bad_client": "x"}, "on_bad_client must be one of 'raise', 'drop'"),
        ({"nominal": ("z",)}, "nominal names no such feature: 'z'"),
        ({"ranges": "global"}, "ranges must be 'federated', 'robust', 'local' or"),
        ({"ranges": {"a": (0, 1)}}, "ranges declares no range for 'b', 'c'"),
        ({"ranges": {"a": (0, 1), "b": (1, 0), "c": (0, 1)}}, r"ranges\['b'\] must be finite with low <= high"),
        ({"ranges": {"a": (0, 1), "b": (0, np.inf), "c": (0, 1)}}, r"ranges\['b'\] must be finite"),
        ({"features": ()}, "at least one feature"),
        ({"features": ("a", "a")}, "feature names must differ; 'a' occurs twice"),
    ],
)
def test_a_parameter_outside_its_rule_is_named(wrong, message):
    with pytest.raises(ParameterError, match=message):
        SSFMLFSMethod(**{"features": FEATURES, **wrong})


def test_numpy_numbers_are_numbers():
    method = SSFMLFSMethod(FEATURES, lam=np.float32(1.5), n_neighbors=np.int64(2), n_features_to_select=np.int32(2))
    assert method.k == 2


def test_auto_takes_statistics_up_to_two_thousand_features():
    assert SSFMLFSMethod(tuple(map(str, range(2080)))).wire_form == "statistics"
    assert SSFMLFSMethod(tuple(map(str, range(2110)))).wire_form == "vectors"
    assert SSFMLFSMethod(FEATURES, wire="matrices").wire_form == "matrices"
    assert SSFMLFSMethod(tuple(map(str, range(2110))), aggregation="mean").wire_form == "statistics"


def assert_same_order_up_to_ties(first, second, rel=1e-6):
    """The same order, except among features whose scores are within `rel` of each other."""
    scores = first.scores
    for a, b in zip(first.order, second.order, strict=True):
        assert abs(scores[a] - scores[b]) <= rel * scores.max()


FEW_STEPS = {"tol": 1e-4}  # of PageRank: the same number of them in all that is compared


@settings(max_examples=15)
@given(federations(), st.sampled_from(["distance", "similarity"]), st.sampled_from(["last", "keep"]))
def test_all_wire_forms_give_the_same_scores_and_order(case, relation, constant):
    results = [select(case, wire=wire, relation=relation, constant=constant, **FEW_STEPS) for wire in WIRES]
    for other in results[1:]:
        assert_allclose(other.scores, results[0].scores, rtol=1e-6, atol=1e-12)
        assert_same_order_up_to_ties(results[0], other)
    assert_array_equal(results[0].distance, results[1].distance)  # the sums are exact: equal to the last bit
    assert results[2].distance is None


@settings(max_examples=12)
@given(federations(), st.randoms(use_true_random=False))
def test_neither_the_clients_order_nor_their_names_matter(case, random):
    names = list(case.clients)
    random.shuffle(names)
    renamed = {f"r{i}": case.clients[name] for i, name in enumerate(names)}
    for wire in WIRES:
        before, after = (select(some, wire=wire, **FEW_STEPS) for some in (case, Federation(renamed, case.X, case.Y)))
        assert after.n_iter == before.n_iter
        assert_allclose(after.scores, before.scores, rtol=1e-9)
        assert_same_order_up_to_ties(before, after)


@settings(max_examples=12)
@given(federations(), st.randoms(use_true_random=False), st.sampled_from(WIRES))
def test_columns_are_matched_by_name_whatever_their_order(case, random, wire):
    method = SSFMLFSMethod(case.features, wire=wire, **FEW_STEPS)
    shuffled = {}
    for name, X in case.clients.items():
        order = list(range(X.shape[1]))
        random.shuffle(order)
        shuffled[name] = ArrayTable(tuple(case.features[p] for p in order), X[:, order])
    before = in_process.select(method, labeled(case), sites(case)).selection
    after = in_process.select(method, labeled(case), shuffled).selection
    assert_array_equal(after.scores, before.scores)
    assert_array_equal(after.order, before.order)


@settings(max_examples=12)
@given(federations(), st.randoms(use_true_random=False))
def test_permuted_features_have_permuted_scores(case, random):
    order = list(range(len(case.features)))
    random.shuffle(order)
    permuted = Federation({name: X[:, order] for name, X in case.clients.items()}, case.X[:, order], case.Y)
    assert_allclose(select(permuted).scores, select(case).scores[order], rtol=1e-7, atol=1e-12)


@settings(max_examples=20)
@given(
    federations(max_clients=3),
    st.sampled_from(["distance", "similarity"]),
    st.sampled_from(["least", "nonnegative"]),
    st.sampled_from(["crisp", "soft"]),
    st.sampled_from(["federated", "local"]),
    st.sampled_from(["pooled", "mean"]),
    st.sampled_from(["blocks", "mean", "weighted"]),
)
def test_the_selection_is_the_paper_s_by_literal_loops(
    case, relation, irrelevant, decisions, ranges, spread, aggregation
):
    options = {
        "relation": relation,
        "irrelevant": irrelevant,
        "decisions": decisions,
        "ranges": ranges,
        "spread": spread,
        "aggregation": aggregation,
    }
    # Where all vertices are copies, the literal D is rounding noise, which Equation 13 would blow up.
    assume(not has_vertex_near_copies_only(case, options))
    slow = selection_loops.select(case.clients, case.X, case.Y, **options)
    fast = select(case, tol=1e-12, **options)
    assert_allclose(fast.relevance, slow.relevance, atol=1e-12)
    assert_allclose(fast.radius, slow.radius, rtol=1e-12, atol=1e-15)
    assert_allclose(fast.distance, slow.distance, atol=2e-7)
    assert_allclose(fast.scores, slow.scores, rtol=1e-5, atol=1e-9)


def has_vertex_near_copies_only(case: Federation, options: dict[str, str]) -> bool:
    found = select(case, **options)
    return bool(np.any((found.scores > 0) & (found.distance.sum(axis=1) < 1e-3)))


@settings(max_examples=15)
@given(federations(), st.sampled_from(["mean", "weighted"]))
def test_the_mean_of_distances_is_the_same_in_both_wire_forms(case, aggregation):
    one, other = (select(case, wire=wire, aggregation=aggregation, **FEW_STEPS) for wire in WIRES[:2])
    assert_array_equal(one.distance, other.distance)
    assert_array_equal(one.scores, other.scores)


@settings(max_examples=15)
@given(federations(max_clients=4))
def test_three_ways_to_aggregate_are_three_weights_of_the_clients_own_distances(case):
    """(n_i / n)², 1 / M and n_i / n; so with M clients of equally many rows the mean is M times that of blocks."""
    ways = {way: select(case, aggregation=way, **FEW_STEPS) for way in ("blocks", "mean", "weighted")}
    sizes = np.array([len(X) for X in case.clients.values()])
    n, most = sizes.sum(), sizes.max()
    blocks, mean, weighted = (ways[way].distance for way in ("blocks", "mean", "weighted"))
    assert np.all(blocks <= weighted * most / n + 1e-12)
    assert np.all(weighted <= mean * len(sizes) * most / n + 1e-12)
    if len(set(sizes)) == 1:
        assert_allclose(mean, weighted, atol=1e-12)
        assert_allclose(mean, blocks * len(sizes), atol=1e-9)


def test_with_clients_of_equal_size_the_aggregation_changes_no_order():
    """PageRank divides by the degrees, so a common factor of all distances drops out."""
    case = example(n_clients=4)
    case = Federation({name: X[:10] for name, X in case.clients.items()}, case.X, case.Y)
    first, *others = (select(case, aggregation=way, tol=1e-12) for way in ("blocks", "mean", "weighted"))
    for other in others:
        assert_allclose(other.scores, first.scores, rtol=1e-9)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "options",
    [
        {"missing": "unrelated"},
        {"missing": "unrelated", "nominal": ("f2",)},
        {"missing": "unrelated", "relation": "similarity", "spread": "mean", "ranges": "local"},
    ],
)
def test_missing_values_are_unrelated_in_every_wire_form(wire, options):
    case = example(seed=3)
    rng = np.random.default_rng(1)
    holes = {name: np.where(rng.random(X.shape) < 0.2, np.nan, X) for name, X in case.clients.items()}
    holes["site-0"][:, 4] = np.nan  # a column that one site does not have at all
    case = Federation(holes, np.where(rng.random(case.X.shape) < 0.1, np.nan, case.X), case.Y)
    slow_options = {**options, "nominal": tuple(int(name[1:]) for name in options.get("nominal", ()))}
    slow = selection_loops.select(case.clients, case.X, case.Y, **slow_options)
    fast = select(case, wire=wire, tol=1e-12, **options)
    assert_allclose(fast.scores, slow.scores, rtol=1e-6)
    assert list(fast.order) == slow.order


@pytest.mark.parametrize("wire", WIRES)
def test_declared_ranges_clip_and_count(wire):
    case = example(seed=5)
    declared = dict.fromkeys(case.features, (-1.0, 3.0))
    fast = select(case, wire=wire, ranges=declared, tol=1e-12)
    slow = selection_loops.select(case.clients, case.X, case.Y, ranges=list(declared.values()))
    assert_allclose(fast.scores, slow.scores, rtol=1e-6)
    outside = {name: int(((X < -1) | (X > 3)).sum()) for name, X in case.clients.items()}
    assert fast.n_clipped == {"server": int(((case.X < -1) | (case.X > 3)).sum()), **outside}
    assert sum(outside.values()) > 0


@pytest.mark.parametrize("wire", WIRES)
def test_constant_features_come_last_with_nothing(wire):
    case = example()
    for X in case.clients.values():
        X[:, [0, 4]] = 0.1
    result = select(case, wire=wire)  # the server's rows vary there, which does not count
    assert list(result.order[-2:]) == [0, 4]
    for values in (result.scores, result.relevance, result.radius):
        assert_array_equal(values[[0, 4]], 0)
        assert np.all(values[[1, 2, 3, 5]] > 0)
    if result.distance is not None:
        assert_array_equal(result.distance[[0, 4]], 0)


@pytest.mark.parametrize("wire", WIRES)
def test_a_table_of_constants_is_ranked_by_index(wire):
    case = example()
    flat = Federation({name: np.ones_like(X) for name, X in case.clients.items()}, case.X, case.Y)
    result = select(flat, wire=wire)
    assert list(result.order) == list(range(6))
    assert_array_equal(result.scores, 0)


def test_only_copies_of_one_feature_are_isolated_vertices_that_keep_their_teleport_share():
    x = np.random.default_rng(0).random((30, 1))
    case = Federation(
        {"a": np.hstack([x, x, x])[:12], "b": np.hstack([x, x, x])[12:20]}, np.hstack([x, x, x])[20:], np.eye(10)[:, :4]
    )
    for wire in WIRES:
        result = select(case, wire=wire)
        assert_allclose(result.scores, 0.15 * result.relevance)
        assert list(result.order) == [0, 1, 2]


def test_vectors_can_fetch_the_distances_among_the_selected_features():
    case = example()
    pooled = select(case, n_features_to_select=3)
    remote = select(case, n_features_to_select=3, wire="vectors", selected_distance=True)
    assert_array_equal(remote.selected_distance, pooled.selected_distance)
    assert pooled.selected_distance.shape == (3, 3)
    assert select(case, n_features_to_select=3, wire="vectors").selected_distance is None


def test_sparse_0_1_sites_give_the_same_answer_as_dense_ones():
    rng = np.random.default_rng(2)
    tables = {name: (rng.random((20, 40)) < 0.2).astype(float) for name in "ab"}
    rows = Labeled((rng.random((15, 40)) < 0.2).astype(float), rng.integers(0, 2, (15, 3)).astype(float))
    method = SSFMLFSMethod(tuple(f"w{p}" for p in range(40)))
    dense = in_process.select(method, rows, {n: ArrayTable(method.features, X) for n, X in tables.items()}).selection
    thin = in_process.select(
        method, rows, {n: ArrayTable(method.features, sparse.csr_array(X)) for n, X in tables.items()}
    ).selection
    assert_array_equal(thin.distance, dense.distance)
    assert_array_equal(thin.order, dense.order)
