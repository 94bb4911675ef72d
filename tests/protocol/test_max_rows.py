"""A site may not claim more rows than agreed: one that does would outweigh all others in every sum."""

from dataclasses import replace

import numpy as np
import pytest

from fedsieve.errors import ParameterError, ProtocolError
from fedsieve.kernels import MAX_ROWS
from fedsieve.methods import SieveMethod, SSFMLFSMethod
from fedsieve.tables import Table
from fedsieve.transport import in_process
from protocol.federation import drive, example, labeled, select_by_edges, sites

CLAIM = 1_000_001


def claims_many(_question, name, reply):
    return replace(reply, n_rows=CLAIM) if name == "site-1" else reply


@pytest.mark.parametrize("kind", [SieveMethod, SSFMLFSMethod])
def test_a_claim_above_the_agreed_rows_is_refused_and_not_reweighted(kind):
    case = example()
    method = kind(case.features, max_rows=1_000_000, on_bad_client="drop")
    selection, _ = drive(method, labeled(case), sites(case), claims_many)
    assert "claims 1000001 rows, more than the agreed 1000000 (max_rows)" in selection.dropped["site-1"]
    assert "site-1" not in selection.n_rows


def test_as_many_rows_as_agreed_are_fine():
    case = example()
    most = max(len(X) for X in case.clients.values())
    drive(SieveMethod(case.features, max_rows=most), labeled(case), sites(case))
    with pytest.raises(ProtocolError, match=rf"claims {most} rows, more than the agreed {most - 1} \(max_rows\)"):
        drive(SieveMethod(case.features, max_rows=most - 1), labeled(case), sites(case))


def test_an_edge_server_may_claim_the_rows_of_all_its_sites_and_none_of_them_more_than_its_own():
    case = example(n_clients=4)
    tables = sites(case)
    most = max(table.n_rows for table in tables.values())
    groups = {"edge-0": dict(list(tables.items())[:2]), "edge-1": dict(list(tables.items())[2:])}
    method = SieveMethod(case.features, max_sites_per_client=2, max_rows=most)
    selection, _ = select_by_edges(method, labeled(case), groups)
    assert max(selection.n_rows.values()) > most
    tight = replace(method, max_rows=most // 2, max_sites_per_client=1)
    with pytest.raises(ProtocolError, match=r"site 'site-\d': claims \d+ rows"):
        select_by_edges(tight, labeled(case), groups)


class MadeUpTable(Table):
    """So many rows that no memory need hold them: each batch is drawn when it is read, the same every time."""

    batch_rows = 1 << 19

    def __init__(self, names, n_rows):
        self.names, self.n_rows = names, n_rows

    def read(self, columns, start, stop):
        rows = np.random.default_rng(start).normal(size=(stop - start, len(self.names)))
        return rows[:, [self.names.index(name) for name in columns]]


def test_sites_may_have_more_rows_than_all_pairs_of_rows_can_be_added_up_of():
    case = example(n_features=3)
    tables = {name: MadeUpTable(case.features, MAX_ROWS + 1) for name in ("site-0", "site-1")}
    selection = in_process.select(SieveMethod(case.features), labeled(case), tables).selection
    assert selection.n_rows == dict.fromkeys(tables, MAX_ROWS + 1)
    assert sorted(selection.order) == [0, 1, 2]
    by_pairs = in_process.select(SSFMLFSMethod(case.features, max_pairs=100_000), labeled(case), tables).selection
    assert by_pairs.n_rows == dict.fromkeys(tables, MAX_ROWS + 1)
    assert by_pairs.score_error.all()


def test_what_no_float_counts_is_too_much_for_any_method():
    with pytest.raises(ParameterError, match=r"max_rows must be a whole number in \[2, 9007199254740991\]"):
        SieveMethod(("a",), max_rows=1 << 53)
    with pytest.raises(ParameterError, match=r"max_rows must be a whole number in \[2, 9007199254740991\]"):
        SSFMLFSMethod(("a",), max_rows=1 << 53)
