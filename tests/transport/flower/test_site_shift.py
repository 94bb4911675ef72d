"""A site compares its rows with those of the others, by the total that it is told; nobody else learns of it."""

import numpy as np
import pytest

from fedsieve.deployment.site_shift import read_shift
from fedsieve.deployment.what_left import WhatLeft

SECURE = {"min_rows": 10, "secure": True, "min_cell": 0, "rows_per_column": 0}
PLAIN = {"min_rows": 10}
QUICK = {"n_trees": 3, "n_bootstraps": 0, "n_features_to_select": 2}


@pytest.fixture(params=[PLAIN, SECURE], ids=["plain", "secure"])
def shifted(consortium, request):
    """All sites' rows are alike, but those of one lie elsewhere in one column."""
    rng, case = np.random.default_rng(0), consortium.case
    for name in case.clients:
        case.clients[name] = rng.normal(size=(120, len(case.features)))
    case.clients["site-1"][:, 2] += 3.0
    case.X[:] = rng.normal(size=case.X.shape)
    consortium.agree("Sieve", parameters=QUICK, ranges="robust", privacy=request.param)
    return consortium


def test_the_shifted_site_is_the_most_unlike_in_its_column_and_alike_in_all_others(shifted):
    finished = shifted.lead()
    assert finished.result() is not None
    for name in shifted.case.clients:
        site = shifted.folder.site(name)
        columns = read_shift(site.results / finished.id)
        assert [found["column"] for found in columns if found["unlike"]] == [shifted.case.features[2]]
        assert (columns[0]["distance"] > 0.8) == (name == "site-1")  # of the others, most are like it
        assert {found["column"] for found in columns} == set(shifted.case.features)
        assert (site.results / finished.id / "shift.json").stat().st_mode & 0o077 == 0
        assert "shift" not in {line["reply"] for line in WhatLeft(site.path).chain.entries()}
        log = (site.path / "fedsieve.log").read_text(encoding="utf-8")
        assert "columns this site's rows are unlike those of the others: 'f2'" in log
