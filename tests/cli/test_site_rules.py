"""`fedsieve federation join` before anything is sent: the site's own rules, who consents, and a dry run."""

import json

import numpy as np
import pandas as pd
import pytest

from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.policy_file import read_policy
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.privacy import SITE

FREE = "min_rows = 10\nmin_cohort = 2\nrows_per_column = 1\nallow_exact_ranges = true\n"


@pytest.fixture
def init(fedsieve, tables):
    def call(*more: object):
        named = (
            "--out",
            tables["fed"],
            "--sites",
            "siteA,siteB",
            "--min-clients",
            2,
            "--schema",
            tables["server.csv"],
            "--with-keys",
        )
        lenient = ("--ranges", "federated", "--min-rows", 10)
        assert fedsieve("federation", "init", *named, "--labels", "prefix:label_", *lenient, *more).code == 0
        return SiteFolder(tables["fed"] / "sites" / "siteA")

    return call


@pytest.fixture
def join(fedsieve, tables):
    def call(site, *more: object, policy: str | None = FREE, data="siteA.csv"):
        if policy is not None:
            (site.path / "policy.toml").write_text(policy)
        return fedsieve("federation", "join", site.path, "--data", tables[data], *more)

    return call


def test_init_policy_writes_the_rules_and_ends_and_never_overwrites_them(fedsieve, init):
    site = init()
    result = fedsieve("federation", "join", site.path, "--init-policy")
    assert result.code == 0
    assert "min_cell = 5" in (site.path / "policy.toml").read_text()
    assert "policy.toml. Change what you need; it holds from the next answer on" in " ".join(result.out.split())
    (site.path / "policy.toml").write_text("min_rows = 99\n")
    again = fedsieve("federation", "join", site.path, "--init-policy")
    assert again.code == 2
    assert "is there already and stays as it is" in again.message
    assert (site.path / "policy.toml").read_text() == "min_rows = 99\n"


def test_init_policy_in_a_wrong_folder_writes_nothing(fedsieve, tmp_path):
    result = fedsieve("federation", "join", tmp_path, "--init-policy")
    assert result.code == 2
    assert "is no site's folder" in result.message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("min_row = 5\n", "policy.toml: has no rule 'min_row'. Rules: min_rows, "),
        ('columns_never_used = ["dose"]\n' + FREE, "siteA: the agreement asks for 'dose', which its policy never uses"),
        ('methods = ["SSFMLFS"]\n' + FREE, "siteA: its policy allows 'SSFMLFS' (methods); the agreement's"),
        ("min_rows = 13\nallow_exact_ranges = true\n", "has 12 rows; this site's policy asks for at least 13 ("),
        (None, "its policy does not allow that (allow_exact_ranges = false)"),
    ],
    ids=["typo", "column", "method", "rows", "ranges"],
)  # fmt: skip
def test_join_refuses_at_once_what_the_site_s_rules_never_allow(init, join, policy, said):
    site = init()
    result = join(site, "--yes", policy=policy)
    assert result.code == 2
    assert said in result.message
    assert not site.prepared.exists()
    assert not (site.path / "consent.jsonl").exists()


def test_join_shows_the_rules_in_force_beside_what_leaves_and_marks_what_is_no_default(init, join):
    site = init()
    result = join(site, policy=FREE + 'columns_never_used = ["zip code"]\n')
    assert "nobody is there to ask" in result.message
    assert "What leaves siteA (12 rows" in result.out
    assert "This site's own rules (policy.toml)" in result.out
    rows = {line.split("│")[1].strip(): line for line in result.out.splitlines() if line.count("│") == 4}
    assert [part.strip() for part in rows["min_cell"].split("│")[2:4]] == ["5", "yes"]
    assert [part.strip() for part in rows["allow_exact_ranges"].split("│")[2:4]] == ["yes", "no: no"]
    assert [part.strip() for part in rows["columns_never_used"].split("│")[2:4]] == ["zip code", "no: -"]


def test_a_cohort_that_can_never_be_large_enough_is_told_when_joining(init, join):
    result = join(init(), policy="allow_exact_ranges = true\nmin_cohort = 3\nmin_rows = 10\n")
    assert "the agreement names 2 sites; a run needs 3 (min_cohort in policy.toml), or siteA refuses" in result.err


def test_rules_that_changed_since_the_last_consent_are_told(init, join):
    site = init()
    ConsentRecord(site.path).join(site.agreement(), SITE, {"file": "rows.csv", "rows": 12, "columns": 6})
    assert "these rules are not those of this site's last consent (20" in join(site).err
    ConsentRecord(site.path).join(site.agreement(), read_policy(site), {"file": "rows.csv", "rows": 12, "columns": 6})
    assert "last consent" not in join(site).err


@pytest.mark.parametrize(("option", "value"), [("--for-runs", 0), ("--for-days", -3)])
def test_consent_for_no_time_is_refused(init, join, option, value):
    result = join(init(), option, value, "--yes")
    assert (result.code, result.message) == (2, f"{option} must be a whole number of at least 1; got {value}.")


def test_how_long_a_consent_holds_is_said_before_it_is_asked_for(init, join):
    result = join(init(), "--for-runs", 2, "--for-days", 7)
    assert "This consent is for 2 runs or 7 days, whichever ends first." in result.out


def test_join_without_a_table_says_what_it_needs(fedsieve, init):
    site = init()
    (site.path / "policy.toml").write_text(FREE)
    result = fedsieve("federation", "join", site.path, "--yes")
    assert (result.code, result.message) == (2, "join needs this site's rows: --data FILE.")


def dry(site):
    return {path.name: path for path in (site.path / "dry-run").iterdir()}


def test_a_dry_run_writes_the_numbers_that_would_leave_by_name_and_sends_nothing(init, join, tables):
    site = init()
    result = join(site, "--dry-run")
    assert result.code == 0, result.err
    files = dry(site)
    assert sorted(files) == ["01-Ranges.json", "02-Covariances.json", "what-would-leave.txt"]
    rows = tables.clients["siteA"]
    ranges = json.loads(files["01-Ranges.json"].read_text())
    assert ranges["low"] == {name: rows[name].min() for name in ranges["features"]}
    assert ranges["numbers"] == "follow from the rows and the agreement alone"
    covariances = json.loads(files["02-Covariances.json"].read_text())
    assert covariances["numbers"] == "depends on what the server asks"
    assert set(covariances["sums"]) == set(tables.features)
    assert set(covariances["upper"][covariances["features"][0]]) == set(tables.features)
    assert not (site.path / "consent.jsonl").exists()
    assert not site.prepared.exists()
    assert (site.path / "dry-run").stat().st_mode & 0o077 == 0


def test_a_dry_run_says_what_is_made_up_and_what_each_message_can_give_away(init, join):
    site = init()
    join(site, "--dry-run")
    text = dry(site)["what-would-leave.txt"].read_text()
    assert "labels made up by chance stand for them" in text
    assert "02-Covariances.json: " in text
    assert "Ranges: the smallest and the largest value of 6 columns, exactly" in text
    assert "as if they were constant" not in text


def test_a_dry_run_names_columns_of_which_too_few_rows_differ(init, join, tables):
    rows = tables.clients["siteA"].assign(code=[7, 7, 7, 7, 7, 7, 7, 7, 7, 1, 2, 3])
    tables.save("rare.csv", rows)
    site = init()
    join(site, "--dry-run", data="rare.csv")
    text = dry(site)["what-would-leave.txt"].read_text()
    assert "held back as if they were constant (min_cell = 5):" in " ".join(text.lower().split())
    assert text.rstrip().endswith("code: its values differ from the most frequent one in 3 rows only")


@pytest.mark.parametrize(
    ("method", "options"),
    [("SSFMLFS", ["--wire", "statistics"]), ("SSFMLFS", ["--wire", "matrices"]), ("FMLFS", []), ("FedCMFS", [])],
)
def test_every_method_can_be_rehearsed(init, join, tables, method, options):
    rng = np.random.default_rng(3)
    labels = pd.DataFrame({name: rng.integers(0, 2, 12) for name in tables.labels})
    tables.save("both.csv", pd.concat([tables.clients["siteA"].reset_index(drop=True), labels], axis=1))
    site = init("--method", method, *options)
    result = join(site, "--dry-run", data="both.csv", policy=FREE + "allow_matrices = true\nallow_tests = true\n")
    assert result.code == 0, result.err
    names = sorted(dry(site))
    assert len(names) > 1
    for name in names[:-1]:
        assert json.loads(dry(site)[name].read_text())["bytes"] > 0
    assert "The rehearsal ended here" not in result.out


def test_a_table_that_cannot_be_used_is_refused_before_a_dry_run(init, join, tables):
    rows = tables.clients["siteA"].assign(dose=1e301)
    tables.save("huge.csv", rows)
    site = init("--method", "SSFMLFS", "--nominal", "code")
    result = join(site, "--dry-run", data="huge.csv")
    assert result.code == 2
    assert "12 too large (beyond ±1e+300) values in column 'dose'" in result.message
    assert not (site.path / "dry-run").exists()


def test_a_second_dry_run_replaces_the_first_and_nothing_else(init, join, tables):
    site = init()
    assert join(site, "--dry-run").code == 0
    assert join(site, "--dry-run").code == 0
    (tables["mine"]).mkdir()
    (tables["mine"] / "thesis.txt").write_text("years of work")
    result = join(site, "--dry-run", "--out", tables["mine"])
    assert result.code == 2
    assert "exists and is no earlier dry run" in result.message
    assert (tables["mine"] / "thesis.txt").exists()
    assert join(site, "--dry-run", "--out", tables["elsewhere"]).code == 0
    assert (tables["elsewhere"] / "01-Ranges.json").is_file()


def test_a_dry_run_and_a_new_policy_are_documents_too(fedsieve, init, join):
    site = init()
    document = json.loads(fedsieve("federation", "join", site.path, "--init-policy", "--json").out)
    assert document == {"site": "siteA", "policy": str(site.path / "policy.toml")}
    document = json.loads(join(site, "--dry-run", "--json").out)
    assert (document["site"], document["n_rows"], document["out"]) == ("siteA", 12, str(site.path / "dry-run"))
    assert document["messages"]
    for message in document["messages"]:
        written = json.loads((site.path / "dry-run" / message["file"]).read_text())
        assert (message["message"], message["bytes"]) == (written["message"], written["bytes"])
    assert {message["message"] for message in document["messages"]} <= set(document["may_leave"])
    assert (document["held_back"], document["ended"]) == ({}, None)
