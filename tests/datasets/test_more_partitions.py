"""Even and uneven numbers of rows, and the report of how unlike clients are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve import partition
from fedsieve.errors import ParameterError
from fedsieve.report.pictures import draw_skew

SPLITS = (partition.iid, partition.quantity_skew, partition.dirichlet)


@given(st.sampled_from(SPLITS), st.integers(10, 80), st.integers(1, 5), st.integers(0, 999))
def test_every_row_goes_to_exactly_one_client_and_each_has_two(split, n_samples, n_clients, seed):
    Y = np.random.default_rng(seed).integers(0, 2, (n_samples, 3))
    parts = split(Y, n_clients, random_state=seed)
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(n_samples))
    assert min(len(part) for part in parts) >= 2
    again = split(Y, n_clients, random_state=seed)
    assert all(np.array_equal(a, b) for a, b in zip(parts, again, strict=True))


def test_iid_parts_differ_by_one_row_at_most_and_are_drawn_at_random():
    sizes = [len(part) for part in partition.iid(np.ones((103, 2), int), 10)]
    assert max(sizes) - min(sizes) == 1
    assert not np.array_equal(partition.iid(np.ones((40, 1), int), 2)[0], np.arange(20))


def test_quantity_skew_makes_numbers_unlike_and_leaves_labels_alike():
    Y = np.tile(np.eye(4, dtype=int), (500, 1))
    uneven = partition.quantity_skew(Y, 8, alpha=0.3, random_state=1)
    sizes = np.array([len(part) for part in uneven])
    assert sizes.max() > 4 * np.median(sizes)
    by_label = partition.dirichlet(Y, 8, alpha=0.3, random_state=1)
    large = sizes > 50
    distances = np.array([entry.label_distance for entry in partition.skew(uneven, Y)])
    assert distances[large].max() < 0.1 < np.mean([entry.label_distance for entry in partition.skew(by_label, Y)])


@pytest.mark.parametrize("split", SPLITS)
def test_more_clients_than_rows_is_refused(split):
    with pytest.raises(
        ParameterError, match=r"20 clients with at least 2 rows each need 40 rows.*got 30 rows\. Take fewer"
    ):
        split(np.ones((30, 2), int), 20)


@pytest.mark.parametrize("split", [partition.quantity_skew, partition.dirichlet])
@pytest.mark.parametrize("alpha", [0, -1.0, np.nan, np.inf])
def test_alpha_must_be_positive(split, alpha):
    with pytest.raises(ParameterError, match="alpha must be a positive number"):
        split(np.ones((30, 2), int), 3, alpha)


def test_skew_is_what_its_definition_says():
    X = np.array([[0.0, 5.0], [2.0, 5.0], [4.0, 5.0], [6.0, 5.0]])
    Y = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    first, second = partition.skew([np.array([0, 1, 2]), np.array([3])], Y, X)
    assert (first.n_rows, second.n_rows) == (3, 1)
    assert second.label_distance == pytest.approx(0.5)
    assert first.label_distance == pytest.approx((2 / 3 - 1 / 2 + 2 / 3 - 1 / 2) / 2)
    assert first.feature_drift == pytest.approx(1 / np.sqrt(5))  # the constant feature is left out
    assert np.isnan(partition.skew([np.array([0])], Y)[0].feature_drift)


def test_skew_can_be_drawn(tmp_path):
    Y = np.random.default_rng(0).integers(0, 2, (60, 3))
    report = partition.skew(partition.dirichlet(Y, 5), Y, Y.astype(float))
    draw_skew(report, tmp_path / "skew.png", "five clients")
    assert (tmp_path / "skew.png").read_bytes().startswith(b"\x89PNG")
