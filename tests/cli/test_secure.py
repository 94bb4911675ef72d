"""Secure sums on the command line: an agreement that asks for them, and a site that approves a smaller cohort."""

import json

import pytest

from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.told_cohorts import ToldCohort, ToldCohorts
from fedsieve.errors import ParameterError

SCHEMA = "a,b,label_y\n0,1,0\n1,0,1\n2,1,1\n"


@pytest.fixture
def made(fedsieve, tmp_path):
    def init(*options, sites="s1,s2,s3"):
        (tmp_path / "server.csv").write_text(SCHEMA)
        where = ("--out", tmp_path / "fed", "--schema", tmp_path / "server.csv", "--labels", "prefix:label_")
        return fedsieve("federation", "init", "--sites", sites, *where, *options)

    return init


def test_init_writes_it_into_the_agreement(made, tmp_path):
    assert made("--secure", "--with-keys").code == 0
    text = (tmp_path / "fed" / "federation.toml").read_text()
    assert "secure = true  # true: the server sees totals over sites only" in text
    method = parse_agreement(text).method
    assert (method.secure, method.min_cell, method.rows_per_column) == (True, 5, 3)
    plain = parse_agreement(
        text.replace("secure = true", "secure = false").replace("min_cell = 5\nrows_per_column = 3", "")
    )
    assert (plain.method.secure, plain.method.min_cell) == (False, 0)
    assert plain.fingerprint != parse_agreement(text).fingerprint


def test_what_does_not_go_together_is_refused(made, tmp_path):
    assert "a federation needs 3 or more (--secure)" in made("--secure", "--min-clients", 2, sites="s1,s2").err
    assert "Use ranges='robust'" in made("--secure", "--ranges", "federated").err
    assert "information does not add up" in made("--secure", "--method", "FMLFS").err
    assert made("--with-keys", "--secure").code == 0
    text = (tmp_path / "fed" / "federation.toml").read_text()
    with pytest.raises(ParameterError, match="max_sites_per_client must be 1"):
        parse_agreement(text.replace("max_sites_per_client = 1", "max_sites_per_client = 2"))
    with pytest.raises(ParameterError, match=r"\[privacy\] has unknown 'min_cell', 'rows_per_column'"):
        parse_agreement(text.replace("secure = true", "secure = false"))
    with pytest.raises(ParameterError, match="secure must be True or False; got 1"):
        parse_agreement(text.replace("secure = true", "secure = 1").replace("min_cell = 5\nrows_per_column = 3", ""))


def test_a_site_approves_a_cohort_and_sees_what_that_tells(fedsieve, made, tmp_path):
    made("--secure", "--with-keys", sites="s1,s2,s3,s4")
    folder = tmp_path / "fed" / "sites" / "s1"
    site = SiteFolder(folder)
    cohorts = ToldCohorts(site.ledger)
    cohorts.keep(ToldCohort("run-1", ("s1", "s2", "s3", "s4"), "rows", "cells"))
    asked = fedsieve("federation", "approve-cohort", folder, "--sites", "s1,s2,s3")
    assert asked.code == 2
    assert "Give --yes to approve unattended" in asked.err
    done = fedsieve("federation", "approve-cohort", folder, "--sites", "s3,s1,s2", "--yes")
    assert done.code == 0, done.err
    said = " ".join((done.out + done.err).split())
    assert "the operator can compute by subtraction the sums of 's4' alone: of one site, all that plain runs" in said
    assert "with the totals of 'run-1' together, totals over 's1', 's2', 's3' give the sums of 's4' alone." in said
    assert cohorts.approved() == [["s1", "s2", "s3"]]
    assert json.loads((site.ledger / "approved-cohorts.json").read_text())
    for sites in ("s2,s3,s4", "s1,s2,stranger", "s1,s2,s2"):
        refused = fedsieve("federation", "approve-cohort", folder, "--sites", sites, "--yes")
        assert "--sites must name members of the agreement, each once and 's1' too" in " ".join(refused.err.split())


def test_a_dry_run_shows_all_that_is_behind_the_masks_and_holds_nothing_back_by_itself(fedsieve, made, tmp_path):
    """Which columns are left out, a total over all sites decides, not this site's rows."""
    made("--secure", "--with-keys")
    folder, data = tmp_path / "fed" / "sites" / "s1", tmp_path / "rows.csv"
    data.write_text("a,b\n" + "".join(f"{i / 7},{int(i < 2)}\n" for i in range(30)))  # two ones: too few at one site
    result = fedsieve("federation", "join", folder, "--data", data, "--dry-run")
    assert result.code == 0, result.message
    assert "held back" not in result.out
    assert "a first total over all sites (Cells) decides which columns are left out" in result.out
    cells = json.loads((folder / "dry-run" / "01-Cells.json").read_text())
    assert (cells["n_rows"], cells["others"]) == (30, {"a": 29, "b": 2})
