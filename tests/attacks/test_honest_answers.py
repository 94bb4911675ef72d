"""A curious server, and what it reads from honest answers: each attack is performed, with and without a site's rules.

Without rules (`library`) every attack succeeds, or it would prove nothing; under `site` it must read no row.
"""

import os
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.privacy import cases

from fedsieve.audit.sites import overheard_run
from fedsieve.datasets import load
from fedsieve.errors import ProtocolError
from fedsieve.methods import SieveMethod, SSFMLFSMethod
from fedsieve.privacy import LIBRARY, SITE
from fedsieve.protocol import Labeled
from fedsieve.tables import ArrayTable
from fedsieve.values import dense

ATTACKS = {
    "a lone 1 in covariances": (cases.covariances_of_lone, 5000, 20),
    "a lone count in covariances": (cases.covariances_of_lone_count, 5000, 20),
    "a lone code in covariances": (cases.covariances_of_lone_code, 5000, 18),
    "two columns that differ in one row": (cases.covariances_of_disagreement, 500, 20),
    "a lone label": (cases.covariances_of_lone_label, 200, 10),
    "two labels that differ in one row": (cases.covariances_of_disagreeing_labels, 200, 10),
    "0/1 rows from covariances": (cases.covariances_of_binary, 12, 30),
    "0/1 rows from covariances, 50 of them": (cases.covariances_of_binary, 50, 100),
    "continuous rows from covariances and extremes": (cases.covariances_of_continuous, 10, 200),
    "0/1 rows from pair sums": (cases.pair_sums_of_binary, 21, 40),
    "0/1 rows that are in every possible table": (cases.certain_rows_of, 6, 6),
    "continuous rows from pair sums, moments and extremes": (cases.pair_sums_of_continuous, 4, 10),
    "counts from products": (cases.products_of_binary, 51, 8),
    "0/1 rows from information": (cases.information_of_binary, 15, 30),
    "a lone 1 in projections": (cases.projections_of_lone, 200, 40),
}
FEW_ROWS, FEW_PER_COLUMN = r"rows; its rules ask for 50 \(min_rows\)", r"\(rows_per_column = 3\)"
EXACT = r"\(allow_exact_ranges = false\)"
CLOSED_BY = {
    "0/1 rows from covariances": FEW_ROWS,
    "0/1 rows from covariances, 50 of them": FEW_PER_COLUMN,
    "continuous rows from covariances and extremes": EXACT,
    "0/1 rows from pair sums": FEW_ROWS,
    "0/1 rows that are in every possible table": FEW_ROWS,
    "continuous rows from pair sums, moments and extremes": EXACT,
    "0/1 rows from information": FEW_ROWS,
}
"""The refusal that ends an attack; the others are answered, from columns that are held back."""


@pytest.mark.parametrize("name", ATTACKS)
def test_without_rules_the_attack_succeeds(name):
    attack, n_rows, n_columns = ATTACKS[name]
    assert attack(n_rows, n_columns, LIBRARY) == 1.0


@pytest.mark.parametrize("name", [name for name in ATTACKS if "lone" in name or "differ" in name])
def test_of_columns_that_are_held_back_no_row_is_read_though_all_is_answered(name):
    attack, n_rows, n_columns = ATTACKS[name]
    assert attack(n_rows, n_columns, SITE) == 0.0
    assert attack(n_rows, n_columns, replace(SITE, min_cell=0)) == 1.0  # it is this rule that closes it


@pytest.mark.parametrize("name", CLOSED_BY)
def test_a_site_refuses_what_would_give_its_rows_away(name):
    attack, n_rows, n_columns = ATTACKS[name]
    with pytest.raises(ProtocolError, match=CLOSED_BY[name]):
        attack(n_rows, n_columns, SITE)


@pytest.mark.parametrize("name", [name for name, rule in CLOSED_BY.items() if rule == EXACT])
def test_extremes_that_a_site_allows_do_not_open_its_few_rows(name):
    attack, n_rows, n_columns = ATTACKS[name]
    with pytest.raises(ProtocolError, match=FEW_ROWS):
        attack(n_rows, n_columns, replace(SITE, allow_exact_ranges=True))


@pytest.mark.parametrize(
    ("attack", "n_rows", "n_columns"),
    [(cases.pair_sums_of_binary, 51, 40), (cases.information_of_binary, 51, 30), (cases.products_of_binary, 51, 18)],
)
def test_second_moments_in_other_forms_need_as_many_rows(attack, n_rows, n_columns):
    with pytest.raises(ProtocolError, match=FEW_PER_COLUMN):
        attack(n_rows, n_columns, SITE)


@pytest.mark.parametrize(("n_rows", "n_columns"), [(60, 20), (90, 30)])
def test_three_rows_per_column_leave_the_lattice_without_a_row(n_rows, n_columns):
    assert cases.covariances_of_binary(n_rows, n_columns, LIBRARY, n_shuffles=5) == 0.0
    assert cases.pair_sums_of_binary(n_rows + 1, n_columns, LIBRARY) == 0.0


def test_fifty_rows_of_six_columns_are_answered_and_no_row_is_in_every_possible_table():
    assert cases.certain_rows_of(50, 6, SITE) == 0.0


def words(n_rows, n_columns, rng):
    """0/1 columns in Enron's shape: a few words that many rows have, and many that few have."""
    share = np.minimum(0.5, 2.0 / np.arange(1, n_columns + 1))
    return (rng.random((n_rows, n_columns)) < share).astype(float)


def test_of_rare_words_no_row_is_read(rng):
    X = words(100, 300, rng)
    assert cases.lone_values_of(X, LIBRARY) > 0.5
    with pytest.raises(ProtocolError, match=FEW_PER_COLUMN):
        cases.lone_values_of(X, SITE)
    for_any_number_of_columns = replace(SITE, rows_per_column=0)
    assert cases.lone_values_of(X, for_any_number_of_columns) == 0.0
    assert cases.lone_values_of(X, replace(for_any_number_of_columns, min_cell=0)) > 0.5


@pytest.mark.full
@pytest.mark.skipif(not os.environ.get("FEDSIEVE_DATA"), reason="FEDSIEVE_DATA is not set")
@pytest.mark.parametrize("n_rows", [100, 200])
def test_of_enron_no_row_is_read(n_rows, rng):
    X = dense(load("enron").X)[rng.choice(1702, n_rows, replace=False)]
    assert cases.lone_values_of(X, LIBRARY) > 0.1
    with pytest.raises(ProtocolError, match=FEW_PER_COLUMN):
        cases.lone_values_of(X, SITE)
    assert cases.lone_values_of(X, replace(SITE, rows_per_column=0)) == 0.0


@pytest.mark.parametrize("wire", [None, "statistics", "vectors"])
def test_a_site_that_would_be_refused_in_the_end_tells_nothing_before(wire, rng):
    """Whether a row was among 108 of 72 columns was told from the histograms alone with an AUC of 0.85."""
    names = tuple(f"x{place}" for place in range(72))
    kind = SieveMethod(names, ranges="robust") if wire is None else SSFMLFSMethod(names, ranges="robust", wire=wire)
    tables = {name: ArrayTable(names, rng.normal(size=(108, 72))) for name in "abc"}
    labeled = Labeled(rng.normal(size=(60, 72)), rng.integers(0, 2, (60, 2)).astype(float))
    refused = overheard_run(kind, labeled, tables, SITE, "a")
    assert not refused.seen
    assert "has 108 rows; every run compares 72 columns, which need 216 rows at one site" in refused.ended
    assert overheard_run(kind, labeled, tables, replace(SITE, rows_per_column=1), "a").seen


def test_a_site_looks_for_that_before_its_first_answer_and_not_again(monkeypatch, rng):
    looked = []
    monkeypatch.setattr("fedsieve.transport.endpoint.check_rows_needed", lambda *seen: looked.append(seen))
    names = tuple(f"x{place}" for place in range(6))
    tables = {name: ArrayTable(names, rng.normal(size=(60, 6))) for name in "abc"}
    labeled = Labeled(rng.normal(size=(30, 6)), rng.integers(0, 2, (30, 2)).astype(float))
    seen = overheard_run(
        SSFMLFSMethod(names, ranges="robust", wire="vectors", max_iter=3), labeled, tables, SITE, "a"
    ).seen
    assert len(seen) > 3
    assert len(looked) == len(tables)
