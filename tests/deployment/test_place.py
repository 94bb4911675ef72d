"""Where a federation's folder lies: another account that could replace it, or fill it, is noticed first."""

import os
import sys
from struct import pack
from types import SimpleNamespace

import pytest

from fedsieve.deployment import place
from fedsieve.deployment.place import check_place
from fedsieve.errors import DataError

STRANGER = 64_321  # the number of no account
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another account")


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "project" / "siteA"
    made.mkdir(parents=True, mode=0o700)
    (made / "site.json").write_text("{}")
    made.parent.chmod(0o755)
    return made


def refused(folder, words):
    with pytest.raises(DataError, match=words) as caught:
        check_place(folder)
    assert "\n" not in str(caught.value)


def test_a_folder_of_ones_own_is_good(folder):
    check_place(folder)
    check_place(folder.with_name("not-there-yet"))
    check_place(folder / "nor" / "this")


def test_what_cannot_be_looked_at_is_refused_in_one_sentence(folder):
    refused(folder / ("x" * 300), "x: cannot be read: File name too long")


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o703])
def test_where_all_others_can_write_it_could_be_replaced(folder, mode):
    folder.parent.chmod(mode)
    for one in (folder, folder.with_name("not-there-yet"), folder / "deeper"):
        refused(one, rf"lies in {folder.parent}, which can be written by other accounts \(mode {mode:o}\): ")


def test_the_sticky_bit_protects_as_in_tmp(folder):
    folder.parent.chmod(0o1777)
    check_place(folder)


@pytest.mark.parametrize("own", [True, False])
def test_a_group_that_may_write_is_others_unless_it_is_ones_own(folder, monkeypatch, own):
    monkeypatch.setattr(place, "_is_own_group", lambda _: own)
    folder.parent.chmod(0o775)
    if own:
        check_place(folder)
    else:
        refused(folder, r"can be written by other accounts \(mode 775\)")


@pytest.mark.parametrize(
    ("group", "members", "own"),
    [("me", [], True), ("me", ["me"], True), ("me", ["me", "mallory"], False), ("staff", [], False)],
)
def test_ones_own_group_has_ones_name_and_nobody_else(monkeypatch, group, members, own):
    monkeypatch.setattr(place.grp, "getgrgid", lambda _: SimpleNamespace(gr_name=group, gr_mem=members))
    monkeypatch.setattr(place.pwd, "getpwuid", lambda _: SimpleNamespace(pw_name="me"))
    assert place._is_own_group(4242) is own


def test_a_group_that_nobody_knows_has_nobody_in_it():
    assert place._is_own_group(STRANGER)


@pytest.mark.skipif(sys.platform != "linux", reason="access lists are kept elsewhere")
def test_an_access_list_may_let_in_others_whatever_the_group(folder, monkeypatch):
    monkeypatch.setattr(place, "_is_own_group", lambda _: True)
    none = 2**32 - 1
    entries = [(1, 7, none), (2, 7, STRANGER), (4, 5, none), (16, 7, none), (32, 5, none)]  # one more account: rwx
    try:
        os.setxattr(folder.parent, place.ACCESS_LIST, pack("<I", 2) + b"".join(pack("<HHI", *one) for one in entries))
    except OSError as error:
        pytest.skip(f"this disk has no access lists: {error.strerror}")
    refused(folder, r"can be written by other accounts \(mode 775\)")


@pytest.fixture
def mallory(monkeypatch):
    """Another account of this machine."""
    known = place.pwd.getpwuid

    def getpwuid(number):
        return SimpleNamespace(pw_name="mallory") if number == STRANGER else known(number)

    monkeypatch.setattr(place.pwd, "getpwuid", getpwuid)


@AS_ROOT
@pytest.mark.usefixtures("mallory")
def test_what_another_account_owns_is_not_trusted(folder):
    os.chown(folder / "site.json", STRANGER, STRANGER)
    refused(folder, r"site\.json: belongs to the account mallory, not to you")
    os.chown(folder / "site.json", 0, 0)
    os.chown(folder, STRANGER, STRANGER)
    refused(folder, r"siteA: belongs to the account mallory")
    os.chown(folder, 0, 0)
    os.chown(folder.parent, STRANGER, STRANGER)
    refused(folder, rf"lies in {folder.parent}, which belongs to the account mallory")


@AS_ROOT
def test_a_number_without_an_account_is_nobody_here(folder):
    """A container sees folders of its host so, whose owner has no account within."""
    for path in (folder / "site.json", folder, folder.parent):
        os.chown(path, STRANGER, STRANGER)
    folder.parent.chmod(0o775)
    check_place(folder)


def test_a_link_is_judged_where_it_lies_and_where_it_leads(folder, tmp_path):
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "siteA"
    link.symlink_to(folder)
    check_place(link)
    link.parent.chmod(0o777)
    refused(link, f"lies in {link.parent}, which")
    link.parent.chmod(0o755)
    folder.parent.chmod(0o777)
    refused(link, f"lies in {folder.parent}, which")
