"""What was found out about some rows is kept in a site's folder for these rows alone."""

import numpy as np
import pytest

from fedsieve import tables
from fedsieve.deployment import site_folder
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.membership import create
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.privacy import GuardedTable, HeldBack
from fedsieve.tables import ArrayTable

FEATURES, SITES = ("a", "b"), ["north", "south", "east"]
CODES = np.repeat([[0.0, 0.0], [1.0, 1.0], [2.0, 5.0]], 20, axis=0)
ALL = {"a": (-9.0, 9.0)}


def folder(place, *, nominal=()):
    text = agreement_text("fed", "h:1", SITES, list(FEATURES), ["y"], method="Sieve", nominal=list(nominal))
    return create(place, text, SITES, "127.0.0.1:9443").site("north")


def held(site, X, ranges=None):
    site.write_rows(FEATURES, X)
    return site.held_back(ArrayTable(FEATURES, X), 5, ranges)


@pytest.mark.parametrize("ranges", [None, ALL])
def test_other_rows_are_looked_at_anew(tmp_path, ranges):
    site, lone = folder(tmp_path / "fed"), CODES.copy()
    lone[:, 0] = np.arange(60) == 17
    assert held(site, CODES, ranges).constant == {}
    assert held(site, lone, ranges).constant == {"a": 0.0}
    assert held(site, CODES, ranges).constant == {}


def test_so_are_rows_whose_columns_became_codes(tmp_path):
    """A code that few rows have is no number among others."""
    rare = CODES.copy()
    rare[:2, 0] = 1.5
    numbers, codes = folder(tmp_path / "numbers"), folder(tmp_path / "codes", nominal=["a"])
    assert held(numbers, rare).replaced == {}
    numbers.prepared.rename(codes.prepared)
    assert held(codes, rare).replaced == {"a": {"1.5": 1.0}}


def test_the_same_rows_are_looked_at_once(tmp_path, monkeypatch):
    site = folder(tmp_path / "fed")
    first = held(site, CODES)
    monkeypatch.setattr("fedsieve.deployment.site_folder.held_back", None)
    assert held(site, CODES.copy()) == first


def test_each_site_draws_the_rows_that_it_compares_from_its_own_key(tmp_path, monkeypatch):
    monkeypatch.setattr(site_folder, "LARGE", 0)
    monkeypatch.setattr(tables, "MOST_COMPARED", 20)
    north = folder(tmp_path / "fed")
    south = SiteFolder(north.path.parent / "south")
    for site in (north, south):
        site.write_rows(FEATURES, np.asfortranarray(CODES))
    drawn = [tables.compared_rows(site.rows()).tolist() for site in (north, south, north)]
    assert drawn[0] == drawn[2] != drawn[1]
    assert tables.compared_rows(GuardedTable(north.rows(), HeldBack())).tolist() == drawn[0]
    whole = north.held_back(north.rows(), 5)
    assert whole == north.held_back(north.rows().drawing_from(b"another"), 5)  # found anew, though by other rows
