"""A site's own key comes to belong by its request and the operator's approval, and nothing tampered with does."""

import base64
import json
import stat

import pytest

from fedsieve.deployment import keys, membership, unpacking
from fedsieve.deployment.admission import (
    MAX_BYTES,
    SiteRequest,
    approve,
    check_own_place,
    make_request,
    read_request,
)
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import DataError, ParameterError, ProtocolError

SITES = ["north", "south"]


@pytest.fixture
def folder(tmp_path):
    """A federation whose sites have no keys yet."""
    text = agreement_text("fed", "h:1", SITES, ["f0", "f1"], ["y"])
    return membership.create(tmp_path / "fed", text, SITES, "h:1", with_keys=False)


@pytest.fixture
def north(tmp_path):
    """What `federation request` makes: a folder, of which this is the request and its file."""
    return make_request(tmp_path / "north", "north")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def unpack(folder, name, place):
    """As a site does: over its own folder."""
    return set(unpacking.unpack(folder.sites / f"{name}.tar", place))


def snapshot(folder):
    return {path.relative_to(folder.path): path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}


def test_a_site_makes_its_private_folder_with_four_files(tmp_path, north):
    request, file = north
    site = tmp_path / "north"
    assert file == site / "north.request"
    assert {path.name for path in site.iterdir()} == {"site.key", "site.pub", "site.json", "north.request"}
    assert (mode(site), mode(site / "site.key")) == (0o700, 0o600)
    own = keys.read_private_key(site / "site.key").public_key()
    assert own == keys.read_public_key(site / "site.pub")
    assert read_request(file) == request == SiteRequest("north", keys.public_text(own))
    assert b"PRIVATE" not in file.read_bytes()


def test_from_request_to_member_no_private_key_leaves_the_site(tmp_path, folder, north):
    request, _ = north
    before = folder.agreement().fingerprint
    approve(folder, [request])
    agreement = folder.agreement()
    assert agreement.members["north"] == request.key
    assert agreement.approved == ("north",)
    assert agreement.fingerprint != before
    own = (tmp_path / "north" / "site.key").read_bytes()
    handed = unpack(folder, "north", tmp_path / "north")
    assert handed == {AGREEMENT, "ca.crt", "ca.sig", "operator.pub"}
    site = SiteFolder(tmp_path / "north")
    assert (site.path / "site.key").read_bytes() == own
    assert mode(site.path) == 0o700
    assert site.agreement().fingerprint == agreement.fingerprint
    check_own_place(site, site.agreement())
    assert all(b"PRIVATE" not in content for path, content in snapshot(folder).items() if path.parts[0] == "sites")


def test_several_requests_are_approved_in_one_step_and_a_new_name_is_added(tmp_path, folder, north):
    others = [make_request(tmp_path / name, name)[0] for name in ("south", "east")]
    approve(folder, [north[0], *others])
    assert folder.agreement().approved == ("north", "south", "east")
    assert {tar.name for tar in folder.sites.glob("*.tar")} == {"north.tar", "south.tar", "east.tar"}


def changed(file, **fields):
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, **fields}))
    return file


OTHER = keys.new_key()
OTHER_KEY = keys.public_text(OTHER.public_key())
TAMPERED = {
    "another name": ({"name": "south"}, "its proof does not fit"),
    "another key": ({"key": OTHER_KEY}, "its proof does not fit"),
    "another proof": ({"proof": base64.b64encode(b"proof").decode()}, "its proof does not fit"),
    "no proof": ({"proof": ""}, "its proof does not fit"),
    "a proof that is no base64": ({"proof": "%"}, "its proof does not fit"),
    "a proof that is no ASCII": ({"proof": "ä"}, "its proof does not fit"),
    "a number": ({"name": 5}, "must have name, key and proof, all of them text"),
    "one field more": ({"more": "x"}, "must have name, key and proof"),
    "another format": ({"format": "fedsieve-request/9"}, "is no request of format 'fedsieve-request/1'"),
    "a name with a path": ({"name": "../up"}, "site names are letters"),
    "the server's name": ({"name": "server"}, "site names are letters"),
    "no key": ({"key": ""}, "key must be a public key"),
    "another kind of key": ({"key": "ssh-ed25519 AAAA"}, "key must be a public key"),
    "a point off the curve": ({"key": OTHER_KEY[:-12] + "AAAA" + OTHER_KEY[-8:]}, "is no point of its elliptic curve"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_request_that_was_tampered_with_is_refused_by_file_and_reason(north, name):
    fields, said = TAMPERED[name]
    file = changed(north[1], **fields)
    with pytest.raises(DataError) as refused:
        read_request(file)
    assert str(refused.value).startswith(f"{file}: ")
    assert said in str(refused.value)


def test_a_proof_by_another_key_does_not_make_a_key_ones_own(north):
    """The attack that the proof is for: to belong with somebody else's key, and have him answer."""
    request, file = north
    stolen = SiteRequest("south", request.key)
    proof = keys.signature_text(OTHER, stolen.signed)
    with pytest.raises(DataError, match="its proof does not fit"):
        read_request(changed(file, name="south", proof=proof))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is no valid JSON"),
        (b"[" * MAX_BYTES, "it is no JSON that can be used"),
        (b"9" * MAX_BYTES, "it is no JSON that can be used"),
        (b"\xff\xfe", "it is no valid JSON"),
        (b"[]", "is no request of format"),
        (b'{"format": []}', "is no request of format"),
        (b" " * (MAX_BYTES + 1), "a request has at most 4096 bytes"),
    ],
    ids=["empty", "deep", "a long number", "no text", "a list", "a list inside", "long"],
)
def test_what_is_no_request_is_refused_by_name(tmp_path, content, said):
    file = tmp_path / "north.request"
    file.write_bytes(content)
    with pytest.raises(DataError, match=rf"north\.request: .*{said}"):
        read_request(file)


def test_a_request_that_is_not_there_or_a_folder_is_refused_by_name(tmp_path):
    with pytest.raises(DataError, match=r"north\.request: cannot be read: No such file"):
        read_request(tmp_path / "north.request")
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        read_request(tmp_path)


def test_another_key_for_an_approved_name_needs_a_renewal(tmp_path, folder, north):
    approve(folder, [north[0]])
    before = snapshot(folder)
    second, _ = make_request(tmp_path / "again", "north")
    with pytest.raises(ParameterError, match=r"'north' is a member with another key, .* give --renew north too"):
        approve(folder, [second])
    assert snapshot(folder) == before
    approve(folder, [second], renew="north")
    assert folder.agreement().members["north"] == second.key
    with pytest.raises(ProtocolError, match="names another key for it than its own"):
        check_own_place(SiteFolder(tmp_path / "north"), folder.agreement())


def test_one_key_or_one_name_for_two_is_refused(folder, north):
    request, _ = north
    approve(folder, [request])
    with pytest.raises(ParameterError, match="'east' asks with the key of 'north'"):
        approve(folder, [SiteRequest("east", request.key)])
    with pytest.raises(ParameterError, match="two requests are of one site"):
        approve(folder, [SiteRequest("south", OTHER_KEY), SiteRequest("south", request.key)])
    with pytest.raises(ParameterError, match="'server'"):
        approve(folder, [SiteRequest("south", folder.agreement().members["server"])])
    with pytest.raises(ParameterError, match="site names must differ, not only in case"):
        approve(folder, [SiteRequest("NORTH", OTHER_KEY)])


def test_a_sites_own_key_takes_the_place_of_one_that_the_operator_made(tmp_path, folder):
    membership.renew_site(folder, "north")  # as in a trial
    assert (folder.site("north").path / "site.key").is_file()
    request, _ = make_request(tmp_path / "north", "north")
    approve(folder, [request], renew="north")
    assert not any((folder.site("north").path / file).exists() for file in ("site.key", "site.pub", "site.json"))
    assert b"PRIVATE" not in (folder.sites / "north.tar").read_bytes()


def test_an_approval_that_fails_leaves_the_key_that_the_operator_made(tmp_path, folder):
    membership.renew_site(folder, "north")
    file = folder.path / AGREEMENT
    file.write_text(file.read_text().replace("[members]", "['members']"))
    before = snapshot(folder)
    with pytest.raises(DataError, match="has no section"):
        approve(folder, [make_request(tmp_path / "north", "north")[0]], renew="north")
    assert snapshot(folder) == before


@pytest.mark.usefixtures("north")
def test_a_folder_that_is_not_empty_is_refused_and_left_as_it_was(tmp_path):
    before = snapshot(SiteFolder(tmp_path))
    with pytest.raises(DataError, match=r"north: exists and is not empty.*--renew"):
        make_request(tmp_path / "north", "north")
    assert snapshot(SiteFolder(tmp_path)) == before


def test_a_new_key_in_the_same_folder_keeps_all_else_there(tmp_path, north):
    site = tmp_path / "north"
    (site / "policy.toml").write_text("mine")
    request, file = make_request(site, "north", renew=True)
    assert request.key != north[0].key
    assert read_request(file) == request
    assert (site / "policy.toml").read_text() == "mine"
    for place, name in ((site, "south"), (tmp_path / "elsewhere", "north")):
        with pytest.raises(DataError, match="is not the folder of a site"):
            make_request(place, name, renew=True)


@pytest.mark.parametrize("step", ["write_public_key", "write_private_key"])
def test_a_request_that_fails_in_the_middle_leaves_nothing_behind(tmp_path, monkeypatch, step):
    def full(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(keys, step, full)
    with pytest.raises(OSError, match="the disk is full"):
        make_request(tmp_path / "north", "north")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("north")
def test_a_site_that_has_no_agreement_yet_is_told_what_to_do(tmp_path):
    with pytest.raises(
        DataError, match=r"has no agreement yet. Send north\.request .* fedsieve federation unpack north\.tar"
    ):
        SiteFolder(tmp_path / "north").agreement()
