"""Another number of features from the totals of a run: as if the run had asked for it, and nobody is asked."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fedsieve.errors import DataError, ParameterError
from fedsieve.methods import FMLFSMethod, SieveMethod, SSFMLFSMethod
from fedsieve.protocol import Labeled
from fedsieve.protocol.totals import KeptTotals
from fedsieve.selection_file import selection_record
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from fedsieve.transport.rerank import rerank, reranked_record
from fedsieve.transport.totals_file import Totals, read_totals, write_totals

FEATURES = tuple(f"f{i}" for i in range(9))
RANGES = dict.fromkeys(FEATURES, (-4.0, 4.0))
QUICK = {"n_trees": 8, "n_bootstraps": 3}
METHODS = {
    "Sieve": SieveMethod(FEATURES, **QUICK),
    "Sieve in robust ranges": SieveMethod(FEATURES, ranges="robust", **QUICK),
    "Sieve with groups": SieveMethod(FEATURES, groups=(("f1", "f7"),), ranges=RANGES, **QUICK),
    "Sieve, wide": SieveMethod(FEATURES, screen=6, n_features_to_select=2, **QUICK),
    "Sieve with secure sums": SieveMethod(FEATURES, ranges="robust", secure=True, min_cell=3, **QUICK),
    "Sieve with noise": SieveMethod(FEATURES, epsilon=20.0, **QUICK),
    "SSFMLFS": SSFMLFSMethod(FEATURES),
    "SSFMLFS by products": SSFMLFSMethod(FEATURES, wire="vectors"),
}


def rows(seed=1, n_rows=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, len(FEATURES)))
    X[:, 8] = 1.0 * (np.arange(n_rows) == 0)  # differs in one row: secure sums leave it out
    return X


def labeled():
    X = rows(0, 30)
    return Labeled(X, np.column_stack([X[:, 0] > 0, X[:, 3] + X[:, 1] > 0, X[:, 5] > 1]).astype(float))


@pytest.fixture(scope="module", params=METHODS)
def run(request):
    """A method, what its run found, and the totals that were kept of it."""
    method = METHODS[request.param]
    kept, sites = KeptTotals(), {name: ArrayTable(FEATURES, rows(seed)) for seed, name in enumerate("abc", start=2)}
    words = {"words": seeded_words()} if method.private else {}
    outcome = in_process.select(method, labeled(), sites, totals=kept, **words)
    assert not kept.why_none
    record = selection_record(method, outcome, ["x", "y", "z"])
    again = {} if method.private else sites  # noise is never the same twice
    return method, outcome, Totals.of(method, labeled(), kept, record), again, record


def seeded_words():
    rng = np.random.default_rng(5)
    return lambda n: rng.integers(0, 2**64, n, dtype=np.uint64)


def same(one, other):
    assert_array_equal(one.order, other.order)
    for name, values in one.columns().items():
        assert_array_equal(values, other.columns()[name], err_msg=name)
    for name, links in one.links().items():
        assert_array_equal(links, other.links()[name], err_msg=name)
    assert (one.left_out, one.n_selected) == (other.left_out, other.n_selected)


def test_the_same_parameters_find_the_same_also_after_the_disk(run, tmp_path):
    method, outcome, totals, _, record = run
    write_totals(totals, tmp_path / "totals.bin")
    assert (tmp_path / "totals.bin").stat().st_mode & 0o777 == 0o600
    read = read_totals(tmp_path / "totals.bin")
    assert read.method.parameters() == method.parameters()
    assert read.result == totals.result
    again, found = rerank(read, labeled(), {})
    same(found, outcome.selection)
    assert again.k == method.k
    record_again = reranked_record(record, again, found)
    assert record_again.pop("reranked_from") == record["parameters"]["n_features_to_select"]
    assert record_again == record


def test_another_number_is_found_as_a_run_would_find_it(run):
    method, _, totals, sites, record = run
    again, found = rerank(totals, labeled(), {"n_features_to_select": 3})
    assert again.k == 3
    if sites:
        same(found, in_process.select(replace(method, n_features_to_select=3), labeled(), sites).selection)
    new = reranked_record(record, again, found)
    assert len(new["selected"]) == (3 if found.n_selected is None else found.n_selected)
    assert new["transcript"] == record["transcript"]
    assert new["parameters"]["n_features_to_select"] == len(new["selected"])


def test_what_sites_are_asked_or_agreed_to_cannot_change(run):
    method, _, totals, _, _ = run
    for name, value in {"ranges": "robust", "max_rows": 10, "nominal": ("f0",)}.items():
        with pytest.raises(ParameterError, match=rf"{method.name}: '{name}' decides what the sites are asked"):
            rerank(totals, labeled(), {name: value})
    with pytest.raises(ParameterError, match=r"has no parameter 'colour'\."):
        rerank(totals, labeled(), {"colour": 3})


def test_other_labeled_rows_are_refused(run):
    _, _, totals, _, _ = run
    other = labeled()
    other.Y[0, 0] = 1 - other.Y[0, 0]
    with pytest.raises(DataError, match=r"\(30 rows, 9 features\) are not those of the run\."):
        rerank(totals, other, {"n_features_to_select": 3})


def kept_of(method, sites):
    kept = KeptTotals()
    outcome = in_process.select(method, labeled(), sites, totals=kept)
    return kept, outcome


SITES = {name: ArrayTable(FEATURES, rows(seed)) for seed, name in enumerate("ab", start=2)}


@pytest.mark.parametrize("changes", [{"n_features_to_select": 4}, {"ridge": 0.9}])
def test_in_a_wide_table_a_change_that_asks_otherwise_is_refused_by_name(changes):
    method = METHODS["Sieve, wide"]
    kept, _ = kept_of(method, SITES)
    ((name, value),) = changes.items()
    with pytest.raises(ParameterError, match=rf"Sieve: {name}={value} would ask the sites otherwise than the run did"):
        rerank(Totals.of(method, labeled(), kept), labeled(), changes)


def test_of_single_replies_nothing_is_kept():
    rng = np.random.default_rng(3)
    sites = {
        name: ArrayTable(FEATURES, rows(seed), ("x", "y"), rng.integers(0, 2, (40, 2)).astype(float))
        for seed, name in enumerate("ab", start=2)
    }
    kept = KeptTotals()
    own = Labeled(labeled().X, labeled().Y[:, :2])
    in_process.select(FMLFSMethod(FEATURES, labels=("x", "y")), own, sites, totals=kept)
    assert kept.told == ()
    assert "every site's own replies" in kept.why_none


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda _: b"", lambda data: data[:40] + b"x" + data[41:]])
def test_a_damaged_file_is_one_clear_error(tmp_path, damage):
    method = METHODS["Sieve"]
    kept, _ = kept_of(method, SITES)
    file = tmp_path / "totals.bin"
    write_totals(Totals.of(method, labeled(), kept), file)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(DataError, match=r"totals\.bin: are no totals of format .*It takes a new run\."):
        read_totals(file)
    with pytest.raises(DataError, match=r"no\.bin: cannot be read: No such file"):
        read_totals(tmp_path / "no.bin")
