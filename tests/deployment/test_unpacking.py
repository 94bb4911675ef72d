"""A site takes the operator's files out of a tar by name, all or none of them, and keeps what it made itself."""

import io
import stat
import tarfile

import pytest

from fedsieve.deployment import membership
from fedsieve.deployment.admission import approve, make_request
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.folders import AGREEMENT, FROM_OPERATOR, IDENTITY
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.unpacking import MAX_BYTES, MAX_TAR_BYTES, unpack
from fedsieve.errors import DataError

SITES = ["north", "south", "east"]
TEXT = agreement_text("fed", "h:1", SITES, ["f0", "f1"], ["y"])


@pytest.fixture
def tar(tmp_path):
    """What the operator of a trial hands over, with a key."""
    return membership.create(tmp_path / "fed", TEXT, SITES, "h:1").sites / "north.tar"


@pytest.fixture
def own(tmp_path):
    """A site that made its own key; its folder, and the operator's tar for it."""
    fed = membership.create(tmp_path / "fed", TEXT, SITES, "h:1", with_keys=False)
    request, _ = make_request(tmp_path / "north", "north")
    approve(fed, [request])
    return tmp_path / "north", fed.sites / "north.tar"


def changed(tar, *members, without=()):
    """The same tar with more in it, or less; members are (name, content or kind and link)."""
    other = tar.with_name("other.tar")
    with tarfile.open(tar) as before, tarfile.open(other, "w") as after:
        for member in before:
            if member.name not in without:
                after.addfile(member, before.extractfile(member) if member.isfile() else None)
        for name, what in members:
            entry = tarfile.TarInfo(name)
            if isinstance(what, bytes):
                entry.size = len(what)
                after.addfile(entry, io.BytesIO(what))
            else:
                entry.type, entry.linkname = what
                after.addfile(entry)
    return other


def snapshot(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_in_a_trial_a_new_folder_becomes_the_sites(tar, tmp_path):
    place = tmp_path / "there" / "north"
    assert set(unpack(tar, place)) == {*FROM_OPERATOR, *IDENTITY}
    assert SiteFolder(place).name == "north"
    assert {stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()} == {0o600}
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    before = snapshot(place)
    assert set(unpack(tar, place)) == set(FROM_OPERATOR)  # again, over itself
    assert snapshot(place) == before


def test_a_site_that_made_its_own_key_takes_the_operators_files_and_keeps_all_else(own):
    folder, tar = own
    for file in ("policy.toml", "consent.jsonl", "ledger/runs.json"):
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text("its own")
    before = snapshot(folder)
    assert unpack(tar, folder) == [*(file for file in FROM_OPERATOR if file != AGREEMENT), AGREEMENT]
    assert {path: content for path, content in snapshot(folder).items() if path.name not in FROM_OPERATOR} == before


def test_a_key_of_another_s_making_does_not_take_the_place_of_the_sites(own, tmp_path):
    folder, _ = own
    trial = membership.create(tmp_path / "trial", TEXT, SITES, "h:1").sites / "north.tar"
    before = snapshot(folder)
    with pytest.raises(DataError, match=r"brings another 'site.pub', 'site.key' than .* request --renew"):
        unpack(trial, folder)
    assert snapshot(folder) == before


OTHERS = {
    "rules": ("north/policy.toml", b"min_cell = 0\n"),
    "ledger": ("north/ledger/runs.json", b'{"runs": []}'),
    "consent": ("north/consent.jsonl", b"{}"),
    "prepared": ("north/prepared/held-back.json", b"{}"),
    "folder": ("north/ledger", (tarfile.DIRTYPE, "")),
    "other site": ("south/federation.toml", b""),
    "above": ("north/../federation.toml", b""),
    "absolute": ("/etc/federation.toml", b""),
    "terminal": ("north/\x1b[2J", b""),
}


@pytest.mark.parametrize("member", OTHERS.values(), ids=OTHERS)
def test_everything_else_is_refused_by_name_and_nothing_is_written(tar, tmp_path, member):
    with pytest.raises(DataError, match="which is not for the operator to hand over") as refused:
        unpack(changed(tar, member), tmp_path / "north")
    assert f"holds {member[0]!r}, which" in str(refused.value)
    assert not (tmp_path / "north").exists()


FOLDER = (tarfile.DIRTYPE, "")
LINKS = [
    (tarfile.SYMTYPE, "/etc/passwd"),
    (tarfile.LNKTYPE, "north/site.key"),
    (tarfile.FIFOTYPE, ""),
    (tarfile.CHRTYPE, ""),
]


@pytest.mark.parametrize("kind", LINKS, ids=["symbolic", "hard", "pipe", "device"])
def test_links_and_devices_are_refused(tar, tmp_path, kind):
    with pytest.raises(DataError, match=r"'north/ca\.crt' is a link or something else than a plain file"):
        unpack(changed(tar, ("north/ca.crt", kind), without=["north/ca.crt"]), tmp_path / "north")


def test_too_much_is_refused_before_it_is_read(tar, tmp_path):
    large = ("north/ca.crt", bytes(MAX_BYTES + 1))
    with pytest.raises(DataError, match=f"has {MAX_BYTES + 1} bytes; at most {MAX_BYTES} are taken"):
        unpack(changed(tar, large, without=["north/ca.crt"]), tmp_path / "north")
    twice = changed(tar, ("north/ca.crt", b""), without=["north/ca.sig"])
    with pytest.raises(DataError, match=r"holds ca\.crt twice"):
        unpack(twice, tmp_path / "north")
    with pytest.raises(DataError, match="holds more than 64 entries"):
        unpack(changed(tar, *[("north", FOLDER)] * 64), tmp_path / "north")
    huge = tmp_path / "huge.tar"
    with huge.open("wb") as file:
        file.truncate(MAX_TAR_BYTES + 1)
    with pytest.raises(DataError, match="is no file of at most"):
        unpack(huge, tmp_path / "north")


@pytest.mark.parametrize("file", [*FROM_OPERATOR, *IDENTITY])
def test_a_tar_that_lacks_a_file_is_refused(tar, tmp_path, file):
    with pytest.raises(DataError, match=f"lacks '{file}'. Nothing was unpacked"):
        unpack(changed(tar, without=[f"north/{file}"]), tmp_path / "north")


@pytest.mark.parametrize("content", [b"", b"no tar", b"\x1f\x8b" + bytes(600), bytes(2000)])
def test_what_is_no_tar_is_one_clear_error(tmp_path, content):
    (tmp_path / "x.tar").write_bytes(content)
    with pytest.raises(DataError, match=r"x\.tar: (cannot be read as a tar|lacks)"):
        unpack(tmp_path / "x.tar", tmp_path / "north")
    with pytest.raises(DataError, match=r"absent\.tar: cannot be read as a tar: No such file"):
        unpack(tmp_path / "absent.tar", tmp_path / "north")


def test_a_cut_tar_is_refused(tar, tmp_path):
    content = tar.read_bytes()
    for end in range(0, len(content) - 10240, 700):
        (tmp_path / "cut.tar").write_bytes(content[:end])
        with pytest.raises(DataError, match="Nothing was unpacked"):
            unpack(tmp_path / "cut.tar", tmp_path / "north")
    assert not (tmp_path / "north").exists()


def test_other_folders_are_left_alone(tar, own_place, tmp_path):
    with pytest.raises(DataError, match="is the folder of 'south'; the tar is for 'north'"):
        unpack(tar, own_place)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "text").write_text("")
    with pytest.raises(DataError, match="is not empty, and no site's folder"):
        unpack(tar, tmp_path / "thesis")
    with pytest.raises(DataError, match="is no folder"):
        unpack(tar, tmp_path / "thesis" / "text")


@pytest.fixture
def own_place(tmp_path):
    make_request(tmp_path / "south", "south")
    return tmp_path / "south"


def test_without_a_key_on_either_side_it_can_be_looked_at(own, tmp_path):
    """As `diff` needs it, before the new agreement takes the place of the old one."""
    _, tar = own
    assert set(unpack(tar, tmp_path / "new")) == set(FROM_OPERATOR)
    assert set(unpack(tar, tmp_path / "new")) == set(FROM_OPERATOR)
