"""Adding, renewing and removing a site changes exactly that site."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fedsieve.deployment import keys, membership
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.errors import DataError, ParameterError

SITES = ["north", "south"]
COMMENT = "# the operator's own remark: sites = [keep me]\n"


@pytest.fixture
def folder(tmp_path):
    text = COMMENT + agreement_text("fed", "h:1", SITES, ["sites = [x]", "f1"], ["y"], method="SSFMLFS")
    return membership.create(tmp_path / "fed", text, SITES, "h:1")


def snapshot(folder):
    files = (path for path in folder.path.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {path.relative_to(folder.path): path.read_bytes() for path in files}


def changed(before, after):
    return {str(name) for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def site_files(name):
    made = {"site.json", AGREEMENT, "ca.crt", "ca.sig", "operator.pub", "site.key", "site.pub"}
    return {f"sites/{name}.tar", *(f"sites/{name}/{file}" for file in made)}


def handed_over(*names):
    """What a new agreement changes of sites whose keys stay."""
    return {file for name in names for file in (f"sites/{name}.tar", f"sites/{name}/{AGREEMENT}")}


def line(folder, name):
    """The agreement's line of a member."""
    key = folder.agreement().members[name]
    return f'"{name}" = "{key}"\n'.encode()


def text_of(folder):
    return (folder.path / AGREEMENT).read_bytes()


def test_adding_makes_one_site_more_and_changes_one_line(folder):
    before, text = snapshot(folder), text_of(folder)
    membership.add_site(folder, "east")
    assert changed(before, snapshot(folder)) == {AGREEMENT, *site_files("east"), *handed_over(*SITES)}
    assert text_of(folder).replace(line(folder, "east"), b"") == text
    assert folder.agreement().sites == ("north", "south", "east")
    own = keys.read_private_key(folder.site("east").path / "site.key").public_key()
    assert own == folder.public_keys(("east",))["east"]


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: membership.add_site(folder, "east"),
        lambda folder: membership.renew_site(folder, "north"),
        lambda folder: membership.remove_site(folder, "north"),
    ],
    ids=["add", "renew", "remove"],
)
def test_an_agreement_with_other_members_or_keys_is_another_one_and_is_packed_for_all(folder, change):
    before = folder.agreement().fingerprint
    change(folder)
    after = folder.agreement()
    assert after.fingerprint != before
    assert {folder.site(name).agreement().fingerprint for name in after.sites} == {after.fingerprint}


def test_no_reader_ever_sees_a_member_without_its_key(folder, monkeypatch):
    """Every state that the agreement's file has while sites come and go."""
    seen, real = [], membership.write_atomically

    def watched(path, *arguments, **options):
        seen.append(folder.public_keys(folder.agreement().sites).keys() == set(folder.agreement().sites))
        real(path, *arguments, **options)

    monkeypatch.setattr(membership, "write_atomically", watched)
    monkeypatch.setattr(keys, "write_atomically", watched)
    membership.add_site(folder, "east")
    membership.renew_site(folder, "north")
    membership.remove_site(folder, "south")
    assert len(seen) > 10
    assert all(seen)


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
    wanted = {AGREEMENT, *handed_over(*SITES), "sites/south/site.key", "sites/south/site.pub"}
    assert changed(before, snapshot(folder)) == wanted
    new = folder.public_keys(("south",))["south"]
    assert new != old_private.public_key()
    assert new == keys.read_private_key(folder.site("south").path / "site.key").public_key()
    old = keys.public_text(old_private.public_key()).encode()
    assert all(old not in content for content in snapshot(folder).values())


def test_removing_forgets_all_of_one_site_and_changes_one_line(folder):
    before, text, gone = snapshot(folder), text_of(folder), line(folder, "north")
    membership.remove_site(folder, "north")
    assert changed(before, snapshot(folder)) == {AGREEMENT, *site_files("north"), *handed_over("south")}
    assert not folder.site("north").path.exists()
    assert text_of(folder) == text.replace(gone, b"")


def test_an_unknown_site_is_named_with_those_that_are_known(folder):
    before = snapshot(folder)
    for act in (
        lambda: membership.remove_site(folder, "west"),
        lambda: membership.known_sites(folder, ["north", "west"]),
    ):
        with pytest.raises(ParameterError, match="has no site 'west'; it has 'north', 'south'"):
            act()
    assert snapshot(folder) == before


def test_members_between_remarks_and_other_sections_can_be_changed_too(folder):
    file = folder.path / AGREEMENT
    text, _, section = file.read_text().partition("[members]")
    section = f"[members]{section}".replace('"north" =', "# asked in May\nnorth =") + "\n# the end\n\n"
    file.write_text(text.replace("[rounds]", f"{section}[rounds]"))
    membership.remove_site(folder, "north")
    assert folder.agreement().sites == ("south",)
    assert "# asked in May\n" in file.read_text()
    assert "# the end\n\n[rounds]" in file.read_text()


@pytest.fixture(params=["'members'", "[ members ]"])
def unusual(request, folder):
    """A folder whose agreement lists its members in a way that is valid, but not ours to edit."""
    file = folder.path / AGREEMENT
    text, _, section = file.read_text().partition("[members]")
    header = request.param if request.param.startswith("[") else f"[{request.param}]"
    file.write_text(f"{text}{header}{section}")
    assert folder.agreement().sites == tuple(SITES)
    return folder


@pytest.mark.parametrize("change", [membership.remove_site, membership.renew_site])
def test_where_the_section_cannot_be_changed_that_is_said_and_the_agreement_stays(unusual, change):
    before = text_of(unusual)
    with pytest.raises(DataError, match=r"federation\.toml: has no section \[members\] that can be changed"):
        change(unusual, "north")
    assert text_of(unusual) == before


def test_a_site_that_cannot_be_added_leaves_nothing_behind(unusual):
    before = snapshot(unusual)
    with pytest.raises(DataError, match="has no section"):
        membership.add_site(unusual, "east")
    assert snapshot(unusual) == before


def test_a_site_whose_key_cannot_be_written_is_not_added(folder, monkeypatch):
    before = snapshot(folder)

    def full(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(keys, "write_public_key", full)
    with pytest.raises(OSError, match="the disk is full"):
        membership.add_site(folder, "east")
    assert snapshot(folder) == before


def test_handing_over_again_brings_the_present_agreement_and_keeps_the_keys(folder):
    before = snapshot(folder)
    file = folder.path / AGREEMENT
    file.write_text(file.read_text().replace("lam = 1.2", "lam = 1.0"))
    membership.hand_over(folder, "north")
    assert changed(before, snapshot(folder)) == {AGREEMENT, f"sites/north/{AGREEMENT}", "sites/north.tar"}
    assert folder.site("north").agreement().fingerprint == folder.agreement().fingerprint
    assert folder.site("south").agreement().fingerprint != folder.agreement().fingerprint


def test_two_changes_at_once_are_both_made(folder, monkeypatch):
    replaced = membership.replace_members

    def slowly(text, members):
        time.sleep(0.3)
        return replaced(text, members)

    monkeypatch.setattr(membership, "replace_members", slowly)
    new = {name: keys.public_text(keys.new_key().public_key()) for name in ("east", "west")}
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda name: membership.change_members(folder, {name: new[name]}), new))
    assert {**new, **folder.agreement().members} == folder.agreement().members
    assert {path.name for path in folder.sites.glob("*.tar")} == {f"{name}.tar" for name in (*SITES, *new)}
