"""One trial's selection: who has which rows, and which of their labels a method is shown."""

from dataclasses import replace

import numpy as np
import pytest

from fedsieve import SSFMLFS, registry
from fedsieve.datasets import load_digits
from fedsieve.errors import DataError, ParameterError, SiteShiftWarning
from fedsieve.experiments.config import LABELS, Trial
from fedsieve.experiments.selection import deal_out, load_by_name, select, shifted

TRIAL = Trial("digits", "SSFMLFS", "server", k=20, n_clients=5)


@pytest.mark.parametrize("partition", ["dirichlet", "iid", "quantity_skew"])
def test_every_row_has_one_place(partition):
    digits = load_digits()
    rows = deal_out(replace(TRIAL, partition=partition), digits)
    everybody = np.concatenate([rows.test, rows.server, *rows.clients])
    assert np.array_equal(np.sort(everybody), np.arange(1797))
    assert np.array_equal(np.sort(np.concatenate([rows.server, *rows.clients])), rows.train)
    assert len(rows.test) == 539
    assert len(rows.server) == round(0.2 * 1258)
    assert len(rows.clients) == 5


def test_the_seed_decides_the_rows():
    digits = load_digits()
    first, again, other = (deal_out(replace(TRIAL, seed=seed), digits) for seed in (0, 0, 1))
    assert np.array_equal(first.test, again.test)
    assert np.array_equal(first.clients[2], again.clients[2])
    assert not np.array_equal(first.test, other.test)


def test_an_official_split_must_exist():
    with pytest.raises(ParameterError, match="'digits' has no official split; use split = 'random'"):
        deal_out(replace(TRIAL, split="official"), load_digits())


@pytest.mark.parametrize(
    ("method", "labels"),
    [("SFSS", "server"), ("D2F", "server"), ("D2F", "all"), ("FMLFS", "server"), ("FMLFS", "all"), ("random", "none")],
)
def test_a_method_sees_the_labels_of_its_trial_and_no_others(method, labels):
    """Labels that it may not see are dealt out anew: its selection stays; those that it may see change it."""
    digits, trial = load_digits(), replace(TRIAL, method=method, labels=labels)
    rows = deal_out(trial, digits)
    hidden = {"none": rows.train, "server": np.concatenate(rows.clients), "all": rows.test}[labels]
    seen = {"none": rows.test, "server": rows.server, "all": np.concatenate(rows.clients)}[labels]
    plain, unseen, changed = (digits.Y.copy() for _ in range(3))
    unseen[hidden] = np.roll(unseen[hidden], 1, axis=0)  # to the next row: their opposites would tell as much
    changed[seen] = np.roll(changed[seen], 1, axis=0)
    chosen = [select(trial, digits.X, Y, rows).draws[0] for Y in (plain, unseen, changed)]
    assert np.array_equal(chosen[0], chosen[1])
    assert np.array_equal(chosen[0], chosen[2]) == (labels == "none")


def test_every_supervision_has_its_labels():
    assert {entry.supervision for entry in registry().values()} == set(LABELS)


def test_a_rival_that_draws_draws_by_the_seed():
    digits = load_digits()
    trials = [replace(TRIAL, method="MLACO", labels="all", seed=seed) for seed in (3, 3, 4)]
    once, again, other = (select(t, digits.X, digits.Y, deal_out(t, digits)).draws[0] for t in trials)
    assert np.array_equal(once, again)
    assert not np.array_equal(once, other)


def test_the_seed_moves_a_rival_that_draws_on_the_same_rows():
    digits = load_digits()
    rows = deal_out(TRIAL, digits)
    trials = [replace(TRIAL, method="MLACO", labels="all", seed=seed) for seed in (3, 4)]
    once, other = (select(trial, digits.X, digits.Y, rows).draws[0] for trial in trials)
    assert not np.array_equal(once, other)


def test_small_shares_of_one_table_are_not_taken_for_other_units():
    """Sixty clients of twenty rows differ by chance, in single columns far enough for `fit` to warn."""
    digits, trial = load_digits(), replace(TRIAL, n_clients=60)
    rows = deal_out(trial, digits)
    with pytest.warns(SiteShiftWarning):
        SSFMLFS(20).fit(digits.X[rows.server], digits.Y[rows.server], clients=[digits.X[part] for part in rows.clients])
    assert len(select(trial, digits.X, digits.Y, rows).draws[0]) == 20  # where a warning would be an error


def test_shifted_sites_have_columns_moved_by_one_number_each():
    digits, trial = load_digits(), replace(TRIAL, shift=0.5)
    rows = deal_out(trial, digits)
    assert shifted(TRIAL, digits.X, rows) is digits.X
    moved = shifted(trial, digits.X, rows) - digits.X
    assert not moved[np.concatenate([rows.server, rows.test])].any()
    in_deviations = np.array([moved[part[0]] for part in rows.clients])[:, digits.X[rows.train].std(axis=0) > 0]
    in_deviations /= digits.X[rows.train].std(axis=0)[digits.X[rows.train].std(axis=0) > 0]
    assert all(np.ptp(moved[part], axis=0).max() < 1e-12 for part in rows.clients)
    assert in_deviations.std() == pytest.approx(0.5, abs=0.1)
    assert len(np.unique(in_deviations.round(9))) == in_deviations.size


def test_a_name_with_a_slash_is_a_file_below_the_data_folder(tmp_path, monkeypatch):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "few.arff").write_text(
        "@relation few\n@attribute a numeric\n@attribute y {0,1}\n@data\n1.5,0\n2.5,1\n"
    )
    labels = '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="y"></label></labels>'
    (tmp_path / "own" / "few.xml").write_text(labels)
    monkeypatch.setenv("FEDSIEVE_DATA", str(tmp_path))
    assert load_by_name("own/few").X.tolist() == [[1.5], [2.5]]
    with pytest.raises(DataError, match=r"dataset 'own/none' is own/none.arff and .xml below FEDSIEVE_DATA; there is"):
        load_by_name("own/none")
    monkeypatch.delenv("FEDSIEVE_DATA")
    with pytest.raises(DataError, match="which is not set"):
        load_by_name("own/few")
