"""`fedsieve federation` in a folder that other accounts can write to: nothing is made, served or joined there."""

import os
import pwd
from types import SimpleNamespace

import pytest

from cli.founding import of_two_sites
from fedsieve.deployment.site_folder import SiteFolder

IN_ITS_PLACE = "can be written by other accounts (mode 777): another folder could be put in its place"
STRANGER = pwd.getpwnam("nobody").pw_uid


@pytest.fixture
def project(tables):
    folder = tables["project"]
    folder.mkdir()
    folder.chmod(0o755)
    return folder


@pytest.fixture
def made(fedsieve, tables, project):
    """A federation in that folder, made before it was opened to others."""
    assert fedsieve("federation", "init", "--out", project / "fed", *of_two_sites(tables), "--with-keys").code == 0
    site = SiteFolder(project / "fed" / "sites" / "siteA")
    return SimpleNamespace(
        serve=("serve", project / "fed", "--labeled", tables["server.csv"]),
        join=("join", site.path, "--data", tables["siteA.csv"], "--yes"),
        site=site,
    )


@pytest.mark.parametrize("verb", ["serve", "join"])
def test_a_folder_that_others_could_replace_is_not_used(fedsieve, project, made, verb):
    project.chmod(0o777)
    result = fedsieve("federation", *getattr(made, verb))
    assert result.code == 2
    assert IN_ITS_PLACE in result.message
    assert result.out == ""  # nothing was shown or asked before


def test_a_server_s_folder_that_others_can_fill_is_not_used(fedsieve, project, made):
    (project / "fed").chmod(0o777)
    result = fedsieve("federation", *made.serve)
    assert result.code == 2
    assert IN_ITS_PLACE in result.message


@pytest.mark.parametrize(
    "arguments", [("init", "--sites", "siteA,siteB", "--min-clients", 2), ("request", "--name", "siteA")]
)
def test_no_key_is_made_where_others_could_replace_its_folder(fedsieve, project, arguments):
    project.chmod(0o777)
    result = fedsieve("federation", *arguments, "--out", project / "new")
    assert result.code == 2
    assert IN_ITS_PLACE in result.message
    assert list(project.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another account")
def test_rules_that_another_account_left_in_a_sites_folder_are_not_those_of_the_site(fedsieve, made):
    rules = made.site.path / "policy.toml"
    rules.write_text("rows_may_leave = true\n")
    os.chown(rules, STRANGER, STRANGER)
    result = fedsieve("federation", *made.join)
    assert result.code == 2
    assert "policy.toml: belongs to the account nobody, not to you" in result.message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another account")
@pytest.mark.parametrize("name", ["here.log", "here.engine.log"])
def test_nothing_is_logged_into_a_file_of_another_account(fedsieve, tables, made, name):
    left = tables[name]
    left.write_text("")
    os.chown(left, STRANGER, STRANGER)
    result = fedsieve("federation", *made.serve, "--log-file", tables["here.log"])
    assert result.code == 2
    assert f"{name}: belongs to the account nobody" in result.message
