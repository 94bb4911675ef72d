"""`fedsieve federation`: a command on the folder of the other party, or on what is no folder, says whose it is."""

import pytest

from cli.founding import of_two_sites
from fedsieve.deployment.folders import AGREEMENT


@pytest.fixture
def parties(fedsieve, tables):
    """The operator's folder and siteA's."""
    init = ("federation", "init", "--out", tables["fed"], "--with-keys", *of_two_sites(tables))
    assert fedsieve(*init).code == 0
    return tables["fed"], tables["fed"] / "sites" / "siteA"


def everything_in(folder):
    return sorted(str(file) for file in folder.rglob("*"))


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("run", "--out", "result"),
        ("pack",),
        ("site", "--remove", "siteB"),
        ("certificate",),
        ("serve", "--labeled", "server.csv"),
    ],
    ids=lambda command: command[0],
)
def test_an_operator_s_command_on_a_site_s_folder_says_so_and_leaves_nothing(fedsieve, parties, command):
    _, site = parties
    before = everything_in(site)
    result = fedsieve("federation", command[0], site, *command[1:])
    assert result.code == 2
    assert f"{site}: is a site's folder, and this command is the operator's" in result.message
    assert everything_in(site) == before


def test_join_on_what_is_no_site_s_folder_says_what_it_is(fedsieve, tables, parties):
    fed, site = parties

    def joined(folder):
        result = fedsieve("federation", "join", folder, "--data", tables["siteA.csv"])
        assert result.code == 2
        return result.message

    assert "is the operator's folder, and this command is a site's" in joined(fed)
    assert "is a file, no site's folder. Unpack what the operator sent over the folder" in joined(
        fed / "sites" / "siteA.tar"
    )
    (tables["elsewhere"]).mkdir(mode=0o700)
    (tables["elsewhere"] / AGREEMENT).write_bytes((site / AGREEMENT).read_bytes())
    said = joined(tables["elsewhere"])
    assert "holds an agreement, but no key of a site. Unpack the tar over the folder that" in said
    assert "Make one" not in said
    assert "is no site's folder. Make one: fedsieve federation request" in joined(tables["none"])


def test_a_cohort_of_a_federation_without_secure_sums_needs_no_approval(fedsieve, parties):
    result = fedsieve("federation", "approve-cohort", parties[1], "--sites", "siteA,siteB", "--yes")
    assert result.code == 2
    assert "its agreement has no secure sums, so that no cohort needs approval" in result.message
    assert not (parties[1] / "ledger").exists()
