"""`init --max-rows` is agreed on by all parties, and `join` refuses a larger table at once."""

from fedsieve.deployment.server_folder import ServerFolder


def test_a_table_above_max_rows_is_refused_before_anything_is_sent(fedsieve, tables):
    named = (
        "--out",
        tables["fed"],
        "--sites",
        "siteA,siteB",
        "--min-clients",
        2,
        "--max-rows",
        11,
        "--min-rows",
        10,
        "--with-keys",
    )
    made = fedsieve("federation", "init", *named, "--schema", tables["server.csv"], "--labels", "prefix:label_")
    assert made.code == 0
    assert ServerFolder(tables["fed"]).agreement().method.max_rows == 11
    site = tables["fed"] / "sites" / "siteA"
    (site / "policy.toml").write_text("min_rows = 10\nmin_cohort = 2\n")
    result = fedsieve("federation", "join", site, "--data", tables["siteA.csv"], "--yes")
    assert result.code == 2
    assert result.message == (
        f"{tables['siteA.csv']}: has 12 rows; the agreement lets a site take part with at most 11 (max_rows). "
        "Give fewer rows, or have all parties agree on a larger max_rows."
    )
    assert not (site / "prepared").exists()
