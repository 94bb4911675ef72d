"""A site may not claim more rows than agreed: one that does would outweigh all others in every sum."""

from dataclasses import replace

import pytest

from fedsieve.errors import ProtocolError
from fedsieve.methods import SieveMethod, SSFMLFSMethod
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
