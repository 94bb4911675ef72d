"""Adding, renewing and removing a site changes exactly that site."""

import pytest

from fedsieve.deployment import keys, membership
from fedsieve.deployment.agreement import agreement_text
from fedsieve.deployment.folders import AGREEMENT, SiteFolder
from fedsieve.errors import DataError, ParameterError

SITES = ["north", "south"]
COMMENT = "# the operator's own remark: sites = [keep me]\n"


@pytest.fixture
def folder(tmp_path):
    text = COMMENT + agreement_text("fed", "h:1", SITES, ["sites = [x]", "f1"], ["y"], method="SSFMLFS")
    return membership.create(tmp_path / "fed", text, SITES, "h:1")


def snapshot(folder):
    return {path.relative_to(folder.path): path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}


def changed(before, after):
    return {str(name) for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def site_files(name):
    made = {"site.json", AGREEMENT, "ca.crt", "operator.pub", "site.key", "site.pub"}
    return {f"server/keys/{name}.pub", f"sites/{name}.tar", *(f"sites/{name}/{file}" for file in made)}


def test_adding_makes_one_site_more_and_changes_one_line(folder):
    before = snapshot(folder)
    membership.add_site(folder, "east")
    assert changed(before, snapshot(folder)) == {AGREEMENT, *site_files("east")}
    text = (folder.path / AGREEMENT).read_text()
    assert text.replace('["north", "south", "east"]', '["north", "south"]').encode() == before[_agreement(before)]
    assert folder.agreement().sites == ("north", "south", "east")
    own = keys.read_private_key(folder.site("east").path / "site.key").public_key()
    assert own == folder.public_keys(("east",))["east"]


def test_an_agreement_with_other_sites_is_the_same_agreement(folder):
    before = folder.agreement().fingerprint
    membership.add_site(folder, "east")
    membership.remove_site(folder, "north")
    assert folder.agreement().fingerprint == before


def test_the_new_sites_own_copy_of_the_agreement_lists_it(folder):
    membership.add_site(folder, "east")
    assert "east" in SiteFolder(folder.sites / "east").agreement().sites


@pytest.mark.parametrize("name", ["north", "NORTH", "server", "../up", ""])
def test_a_name_that_is_taken_or_bad_is_refused_and_nothing_changes(folder, name):
    before = snapshot(folder)
    with pytest.raises(ParameterError, match="site names"):
        membership.add_site(folder, name)
    assert snapshot(folder) == before


def test_renewing_replaces_the_key_and_the_old_public_key_is_gone(folder):
    before = snapshot(folder)
    old_private = keys.read_private_key(folder.site("south").path / "site.key")
    membership.renew_site(folder, "south")
    wanted = {"server/keys/south.pub", "sites/south.tar", "sites/south/site.key", "sites/south/site.pub"}
    assert changed(before, snapshot(folder)) == wanted
    new = folder.public_keys(("south",))["south"]
    assert new != old_private.public_key()
    assert new == keys.read_private_key(folder.site("south").path / "site.key").public_key()
    old = before[next(path for path in before if str(path) == "server/keys/south.pub")].split()[1]
    assert all(old not in content for content in snapshot(folder).values())


def test_removing_forgets_all_of_one_site_and_changes_one_line(folder):
    before = snapshot(folder)
    membership.remove_site(folder, "north")
    assert changed(before, snapshot(folder)) == {AGREEMENT, *site_files("north")}
    assert not folder.site("north").path.exists()
    assert not folder.public_key_file("north").exists()
    text = (folder.path / AGREEMENT).read_text()
    assert text.replace('sites = ["south"]', 'sites = ["north", "south"]').encode() == before[_agreement(before)]


def test_an_unknown_site_is_named_with_those_that_are_known(folder):
    before = snapshot(folder)
    for act in (
        lambda: membership.remove_site(folder, "west"),
        lambda: membership.known_sites(folder, ["north", "west"]),
    ):
        with pytest.raises(ParameterError, match="has no site 'west'; it has 'north', 'south'"):
            act()
    assert snapshot(folder) == before


def test_a_list_of_sites_over_several_lines_can_be_changed_too(folder):
    file = folder.path / AGREEMENT
    file.write_text(file.read_text().replace('["north", "south"]', '[\n  "north",\n  "south",\n]'))
    membership.remove_site(folder, "north")
    assert folder.agreement().sites == ("south",)


@pytest.fixture
def unusual(folder):
    """A folder whose agreement lists its sites in a way that is valid, but not ours to edit."""
    file = folder.path / AGREEMENT
    file.write_text(file.read_text().replace("\nsites = [", "\n'sites' = [", 1))
    assert folder.agreement().sites == tuple(SITES)
    return folder


def test_removing_where_the_line_cannot_be_changed_is_refused_and_nothing_changes(unusual):
    before = snapshot(unusual)
    with pytest.raises(DataError, match=r"has no line 'sites = \[...\]' to change"):
        membership.remove_site(unusual, "north")
    assert snapshot(unusual) == before


def test_adding_where_the_line_cannot_be_changed_is_refused_and_nothing_changes(unusual):
    before = snapshot(unusual)
    with pytest.raises(DataError, match="has no line"):
        membership.add_site(unusual, "east")
    assert changed(before, snapshot(unusual)) == set()


def test_a_site_that_cannot_be_added_leaves_the_agreement_as_it_was(folder, monkeypatch):
    before = snapshot(folder)

    def full(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(keys, "write_public_key", full)
    with pytest.raises(OSError, match="the disk is full"):
        membership.add_site(folder, "east")
    assert AGREEMENT not in changed(before, snapshot(folder))
    assert folder.agreement().sites == tuple(SITES)


def test_handing_over_again_brings_the_present_agreement_and_keeps_the_keys(folder):
    before = snapshot(folder)
    file = folder.path / AGREEMENT
    file.write_text(file.read_text().replace("lam = 1.2", "lam = 1.0"))
    membership.hand_over(folder, "north")
    assert changed(before, snapshot(folder)) == {AGREEMENT, f"sites/north/{AGREEMENT}", "sites/north.tar"}
    assert folder.site("north").agreement().fingerprint == folder.agreement().fingerprint
    assert folder.site("south").agreement().fingerprint != folder.agreement().fingerprint


def _agreement(files):
    return next(path for path in files if str(path) == AGREEMENT)
