"""The server's generator: who is asked what and when, and what it refuses before asking anybody."""

import numpy as np
import pytest

from fedsieve.errors import DataError, ParameterError
from fedsieve.methods import SSFMLFSMethod
from fedsieve.protocol import Labeled, federated_selection
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from protocol.federation import WIRES, drive, example, labeled, sites


def kinds(asked):
    return [type(question.request).__name__ for question in asked]


@pytest.mark.parametrize(
    ("ranges", "rounds"),
    [
        ("federated", ["AskRangesAndMoments", "AskPairSums"]),
        ("robust", ["AskHistograms", "AskMoments", "AskPairSums"]),
    ],
)
@pytest.mark.parametrize("spread", ["pooled", "mean"])
def test_statistics_takes_two_rounds_with_exact_ranges_and_three_with_robust_ones(ranges, rounds, spread):
    case = example()
    _, asked = drive(SSFMLFSMethod(case.features, ranges=ranges, spread=spread), labeled(case), sites(case))
    assert kinds(asked) == rounds
    assert [question.round for question in asked] == [*range(1, len(rounds) + 1)]
    assert all(question.clients == ("site-0", "site-1", "site-2") for question in asked)


@pytest.mark.parametrize("wire", WIRES)
def test_clients_are_asked_and_added_up_by_name_whatever_order_they_are_given_in(wire):
    """The last bit of a sum depends on the order of additions."""
    case = example(n_clients=5)
    method, tables = SSFMLFSMethod(case.features, wire=wire), sites(case)
    straight, asked = drive(method, labeled(case), tables)
    mixed, again = drive(method, labeled(case), {name: tables[name] for name in sorted(tables, reverse=True)})
    assert [question.clients for question in again] == [question.clients for question in asked]
    assert asked[0].clients == tuple(sorted(tables))
    np.testing.assert_array_equal(mixed.scores, straight.scores)
    np.testing.assert_array_equal(mixed.radius, straight.radius)


def test_local_and_declared_ranges_need_no_message_about_ranges():
    case = example()
    for ranges in ("local", dict.fromkeys(case.features, (-10.0, 10.0))):
        _, asked = drive(SSFMLFSMethod(case.features, ranges=ranges), labeled(case), sites(case))
        assert kinds(asked) == ["AskMoments", "AskPairSums"]


def test_matrices_are_asked_for_one_client_at_a_time_in_one_round():
    case = example()
    _, asked = drive(SSFMLFSMethod(case.features, wire="matrices"), labeled(case), sites(case))
    assert [(question.round, question.clients) for question in asked[1:]] == [
        (2, ("site-0",)),
        (2, ("site-1",)),
        (2, ("site-2",)),
    ]


def test_vectors_take_one_round_for_degrees_and_one_per_iteration_and_send_the_relation_once():
    case = example()
    result, asked = drive(SSFMLFSMethod(case.features, wire="vectors"), labeled(case), sites(case))
    products = [question.request for question in asked[1:]]
    assert len(products) == 1 + result.n_iter
    assert products[0].relation is not None
    assert all(request.relation is None for request in products[1:])
    np.testing.assert_array_equal(products[0].vector, 1)


def test_only_features_that_vary_are_asked_about_in_the_graph():
    case = example()
    for X in case.clients.values():
        X[:, 3] = 7.0
    _, asked = drive(SSFMLFSMethod(case.features), labeled(case), sites(case))
    assert asked[1].request.relation.columns.features == ("f0", "f1", "f2", "f4", "f5")


def test_a_federation_needs_two_clients():
    case = example()
    with pytest.raises(ParameterError, match=r"at least 2 clients; got 1\. For rows in one place call fit\(X, Y\)"):
        next(federated_selection(SSFMLFSMethod(case.features), labeled(case), ["alone"]))


@pytest.mark.parametrize("names", [("a", "a"), ("a", "server")])
def test_client_names_must_be_usable(names):
    case = example()
    with pytest.raises(ParameterError, match="client names must differ"):
        next(federated_selection(SSFMLFSMethod(case.features), labeled(case), names))


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (Labeled(np.zeros((5, 5)), np.zeros((5, 2))), DataError, "have 5 columns, the plan 6"),
        (Labeled(np.zeros((5, 6)), np.zeros((4, 2))), DataError, r"labels have shape \(4, 2\)"),
        (Labeled(np.zeros((3, 6)), np.zeros((3, 2))), ParameterError, "below the number of labeled rows, 3; got 3"),
        (Labeled(np.full((5, 6), np.nan), np.zeros((5, 2))), DataError, r"labeled rows have 5 missing \(NaN\)"),
    ],
)
def test_unusable_labeled_rows_are_refused_before_anybody_is_asked(rows, error, message):
    case = example()
    with pytest.raises(error, match=message):
        next(federated_selection(SSFMLFSMethod(case.features), rows, case.clients))


def test_a_message_above_the_limit_is_refused_and_the_other_forms_are_named():
    case = example()
    method = SSFMLFSMethod(case.features, wire="matrices", max_message_bytes=6 * 16 * 16 * 8 - 1)
    with pytest.raises(
        ParameterError, match=r"client 'site-2' \(6 features, 16 rows\).*'statistics'.* or wire='vectors'"
    ):
        in_process.select(method, labeled(case), sites(case))
    wide = example(n_features=60)
    with pytest.raises(
        ParameterError, match=r"needs a message of 14,640 bytes .*Use wire='vectors' \(480 bytes\), or raise"
    ):
        in_process.select(SSFMLFSMethod(wide.features, max_message_bytes=8000), labeled(wide), sites(wide))
    in_process.select(SSFMLFSMethod(wide.features, wire="vectors", max_message_bytes=8000), labeled(wide), sites(wide))


def test_no_message_of_any_kind_is_above_the_limit():
    case = example()
    largest = max(
        entry.n_bytes
        for entry in in_process.select(SSFMLFSMethod(case.features), labeled(case), sites(case)).transcript
    )
    method = SSFMLFSMethod(case.features, max_message_bytes=largest - 1)
    with pytest.raises(ParameterError, match=rf"takes {largest} bytes, above max_message_bytes={largest - 1}"):
        in_process.select(method, labeled(case), sites(case))
    in_process.select(SSFMLFSMethod(case.features, max_message_bytes=largest), labeled(case), sites(case))


def test_corel5k_in_matrices_is_above_the_default_limit_before_anything_is_built():
    features = tuple(f"w{p}" for p in range(499))
    rng = np.random.default_rng(0)
    tables = {name: (rng.random((400, 499)) < 0.1).astype(float) for name in "ab"}
    clients = {name: ArrayTable(features, X) for name, X in tables.items()}
    rows = Labeled(tables["a"][:9], rng.integers(0, 2, (9, 3)).astype(float))
    with pytest.raises(ParameterError, match=r"638\.7 MB.*above max_message_bytes=512000000"):
        in_process.select(SSFMLFSMethod(features, wire="matrices"), rows, clients)
