"""A federation's folder: everything or nothing is made, and private things are their owner's only."""

import os
import ssl
import stat
import tarfile
from pathlib import Path

import pytest
from cryptography import x509

from fedsieve.deployment import keys, membership
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.runs import new_run
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.unpacking import unpack
from fedsieve.errors import DataError, ParameterError

SITES = ["north", "south"]
PRIVATE_FILES = {"ca.key", "server.key", "operator.key", "site.key", "labeled.npz", "rows.npy"}
FILES = {"site.json", AGREEMENT, "ca.crt", "ca.sig", "operator.pub", "site.key", "site.pub"}


def text(address="fed.example.org:9443"):
    return agreement_text("fed", address, SITES, ["f0", "f1"], ["y"])


@pytest.fixture
def folder(tmp_path):
    before = os.umask(0o022)
    yield membership.create(tmp_path / "fed", text(), SITES, "fed.example.org:9443")
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_private_files_are_readable_by_their_owner_only_and_so_are_all_folders_around_them(folder, rng):
    folder.write_labeled(rng.random((4, 2)), rng.random((4, 1)))
    folder.site("north").write_rows(("f0", "f1"), rng.random((4, 2)))
    run = new_run(folder, SITES, [])
    run.keep_file(1, lambda path: path.write_bytes(b"replies"))
    found = {path for path in folder.path.rglob("*") if path.name in PRIVATE_FILES or path.suffix in (".key", ".tar")}
    assert {path.name for path in found} >= PRIVATE_FILES | {"north.tar", "south.tar"}
    assert {mode(path) for path in [*found, run.path / "rounds" / "00001"]} == {0o600}
    site = folder.site("north")
    closed = [folder.path, folder.server, folder.sites, site.path, site.prepared, run.path]
    assert {mode(path) for path in [*closed, run.path / "rounds"]} == {0o700}


def test_no_file_holds_a_private_key_besides_those_that_should(folder):
    holding = {path.name for path in folder.path.rglob("*") if path.is_file() and b"PRIVATE KEY" in path.read_bytes()}
    assert holding == {"ca.key", "server.key", "operator.key", "site.key", "north.tar", "south.tar"}
    assert (folder.server / "operator.key").read_bytes() not in (folder.sites / "north.tar").read_bytes()


def test_the_tar_holds_a_sites_files_with_their_rights_in_a_folder_of_the_sites_name_and_nobodys_user_name(folder, rng):
    folder.site("north").write_rows(("f0", "f1"), rng.random((4, 2)))  # must not travel
    (folder.site("north").path / "results").mkdir()
    membership.hand_over(folder, "north")
    with tarfile.open(folder.sites / "north.tar") as tar:
        entries = {entry.name: entry for entry in tar}
    assert set(entries) == {"north", *(f"north/{name}" for name in FILES)}
    assert {name: entry.mode for name, entry in entries.items() if entry.mode & 0o077 == 0} == {
        "north": 0o700,
        "north/site.key": 0o600,
    }
    assert {(entry.uid, entry.gid, entry.uname, entry.gname) for entry in entries.values()} == {(0, 0, "", "")}


def test_an_unpacked_tar_is_a_working_site_folder_whose_key_the_server_knows(folder, tmp_path):
    unpack(folder.sites / "south.tar", tmp_path / "there" / "south")
    site = SiteFolder(tmp_path / "there" / "south")
    assert site.name == "south"
    assert site.agreement().fingerprint == folder.agreement().fingerprint
    own = keys.read_private_key(site.path / "site.key").public_key()
    assert own == folder.public_keys(("south",))["south"]
    assert keys.read_public_key(site.path / "operator.pub") == keys.read_public_key(folder.server / "operator.pub")


def test_without_keys_no_site_has_one_and_nothing_is_there_to_hand_over(tmp_path):
    folder = membership.create(tmp_path / "fed", text(), SITES, "h:1", with_keys=False)
    assert (folder.agreement().sites, folder.agreement().approved) == (tuple(SITES), ())
    assert folder.public_keys(tuple(SITES)) == {}
    assert list(folder.sites.iterdir()) == []
    own = keys.read_private_key(folder.server / "operator.key").public_key()
    assert folder.agreement().members["server"] == keys.public_text(own)
    holding = {path.name for path in folder.path.rglob("*") if path.is_file() and b"PRIVATE KEY" in path.read_bytes()}
    assert holding == {"ca.key", "server.key", "operator.key"}


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o620, 0o644])
def test_a_private_key_that_others_may_read_is_refused_with_the_way_out(folder, bits):
    file = folder.server / "operator.key"
    file.chmod(bits)
    with pytest.raises(DataError, match=f"may be read by others.*chmod 600 {file}"):
        keys.read_private_key(file)
    file.chmod(0o600)
    keys.read_private_key(file)


def test_what_is_no_key_is_refused_by_name(tmp_path):
    file = tmp_path / "site.key"
    with pytest.raises(DataError, match=r"site\.key: cannot be read: No such file"):
        keys.read_private_key(file)
    file.write_text("nonsense")
    file.chmod(0o600)
    for read in (keys.read_private_key, keys.read_public_key):
        with pytest.raises(DataError, match=r"site\.key: is no key or certificate of the expected form"):
            read(file)


def test_a_public_key_of_an_unknown_kind_is_refused_by_name(tmp_path):
    file = tmp_path / "site.pub"
    file.write_text("ssh-quantum AAAA\n")
    with pytest.raises(DataError, match=r"site\.pub: is no"):
        keys.read_public_key(file)


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("fed.example.org:9443", ["fed.example.org", "localhost", "127.0.0.1"]),
        ("127.0.0.1:9443", ["localhost", "127.0.0.1"]),
        ("[::1]:9443", ["::1", "localhost"]),
    ],
)
def test_the_servers_certificate_is_good_for_its_names_under_the_federations_authority_only(tmp_path, address, names):
    folder = membership.create(tmp_path / "fed", text(address), SITES, address)
    other = membership.create(tmp_path / "other", text(address), SITES, address)
    for name in names:
        assert handshake(folder, folder, name) is None
    assert "Hostname mismatch" in handshake(folder, folder, "elsewhere.example.org")
    assert handshake(folder, other, names[0])  # an authority of the same name and shape, but another's


def handshake(served: ServerFolder, trusted: ServerFolder, name: str) -> str | None:
    """Why a client that trusts one folder's authority refuses the other's server; None if it does not."""
    accepting = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    accepting.load_cert_chain(served.server / "server.crt", served.server / "server.key")
    calling = ssl.create_default_context(cafile=trusted.server / "ca.crt")
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = calling.wrap_bio(to_client, to_server, server_hostname=name)
    server = accepting.wrap_bio(to_server, to_client, server_side=True)
    done = set()
    while len(done) < 2:
        for side in (client, server):
            try:
                side.do_handshake()
                done.add(side)
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLCertVerificationError as error:
                return error.verify_message
    return None


def test_the_authority_signs_certificates_and_the_servers_certificate_cannot(folder):
    authority = x509.load_pem_x509_certificate((folder.server / "ca.crt").read_bytes())
    certificate = x509.load_pem_x509_certificate((folder.server / "server.crt").read_bytes())
    certificate.verify_directly_issued_by(authority)
    assert authority.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_a_folder_that_is_not_empty_is_refused_and_left_as_it_was(tmp_path):
    (tmp_path / "fed").mkdir()
    (tmp_path / "fed" / "thesis.txt").write_text("mine")
    with pytest.raises(DataError, match="fed: exists and is not empty"):
        membership.create(tmp_path / "fed", text(), SITES, "h:1")
    assert [path.name for path in tmp_path.rglob("*")] == ["fed", "thesis.txt"]
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DataError, match="file: exists"):
        membership.create(tmp_path / "file", text(), SITES, "h:1")


def test_an_empty_folder_may_become_a_federation(tmp_path):
    (tmp_path / "fed").mkdir()
    assert membership.create(tmp_path / "fed", text(), SITES, "h:1").agreement().sites == tuple(SITES)


def test_the_present_folder_may_become_a_federation(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    folder = membership.create(Path(), text(), SITES, "h:1")
    monkeypatch.chdir(tmp_path)
    assert folder.path == tmp_path / "here"
    assert folder.agreement().sites == tuple(SITES)
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


@pytest.mark.parametrize("step", ["new_authority", "write_certificate", "write_private_key", "write_public_key"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_failure_in_the_middle_leaves_nothing_behind(tmp_path, monkeypatch, step, error):
    calls = []
    real = getattr(keys, step)

    def failing(*arguments, **options):
        calls.append(arguments)
        if len(calls) > (step != "new_authority"):
            raise error("the disk is full")
        return real(*arguments, **options)

    monkeypatch.setattr(keys, step, failing)
    with pytest.raises(error):
        membership.create(tmp_path / "fed", text(), SITES, "h:1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sites", [["a", "A"], ["a", "../b"], ["server", "a"], ["a" * 65], ["ä"], [""]])
def test_a_bad_site_name_is_refused_before_anything_is_made(tmp_path, sites):
    with pytest.raises(ParameterError, match="site names"):
        membership.create(tmp_path / "fed", text(), sites, "h:1")
    assert list(tmp_path.iterdir()) == []


def test_a_renewed_certificate_is_of_the_same_authority_and_lasts_as_long_as_asked(tmp_path):
    folder = membership.create(tmp_path / "fed", text("127.0.0.1:9443"), SITES, "127.0.0.1:9443", days=3)
    before = keys.read_certificate(folder.server / "server.crt")
    assert keys.days_left(before) == 2
    membership.renew_certificate(folder, 400)
    after = keys.read_certificate(folder.server / "server.crt")
    assert (after.serial_number != before.serial_number, keys.days_left(after)) == (True, 399)
    assert handshake(folder, folder, "127.0.0.1") is None
    assert keys.days_left(keys.read_certificate(folder.server / "ca.crt")) > 3000
    with pytest.raises(ParameterError, match=r"--days must be in \[1, 36500\]; got 0"):
        membership.renew_certificate(folder, 0)
