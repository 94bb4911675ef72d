"""A site is its key: who has none, an old one or another's is kept out, named, and never counted as somebody else."""

import json
import socket
import ssl

import pytest

from federation.consortium import RUN_SECONDS, running
from federation.processes import PATIENCE, wait_until
from federation.tables import assert_same
from fedsieve.deployment import keys
from fedsieve.deployment.folders import AGREEMENT, IDENTITY
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.transport.flower.control import ONLINE, Control
from fedsieve.transport.flower.engine import environment, free_port

pytestmark = pytest.mark.federation

CONNECTED = "SuperNode ID:"


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    sites = "siteA,siteB,siteC,siteD"
    with running(tmp_path_factory.mktemp("identity"), sites, "--timeout", 240) as consortium:
        yield consortium


def nodes(consortium):
    """The states of all registered nodes by site; the number of all nodes that the engine lists besides."""
    with Control(ServerFolder(consortium.fed)) as control:
        return control.nodes(), len(control.listed())


def online(consortium):
    return {name for name, state in nodes(consortium)[0].items() if state.status == ONLINE}


def command_of(consortium, name):
    """The latest join of a site."""
    return [one for one in consortium.commands if one.mark == consortium.mark(name) and "join" in one.arguments][-1]


def assert_cut_off(join):
    """A site whose key is no longer known ends by itself, in good order."""
    assert join.wait() == 2
    assert "was cut off: the server no longer knows its key" in join.message
    assert "nothing of its rows stays" in join.text


def raw_node(consortium, name, *options):
    """An engine's node that an intruder starts by himself."""
    server = consortium.fed / "server"
    home = consortium.folder / "intruders" / name
    own = ("--ssl-ca-certfile", server / "ca.crt", "--ssl-certfile", server / "server.crt")
    command = [
        *("flower-supernode", "--superlink", f"127.0.0.1:{consortium.port}", "--host", "127.0.0.1"),
        *("--port", free_port(), *own, "--ssl-keyfile", server / "server.key", *options),
    ]
    return consortium.start(f"intruder-{name}", command, environment(home))


def test_the_engine_lets_in_no_unregistered_key_nobody_without_a_key_and_nothing_in_plain_text(consortium):
    unknown = consortium.folder / "unknown.key"
    keys.write_private_key(keys.new_key(), unknown)
    trust = ("--root-certificates", consortium.fed / "server" / "ca.crt")
    _, n_before = nodes(consortium)
    intruders = {
        "unregistered": raw_node(consortium, "unregistered", *trust, "--auth-supernode-private-key", unknown),
        "keyless": raw_node(consortium, "keyless", *trust),
        "plain": raw_node(consortium, "plain", "--insecure"),
    }
    for name in ("unregistered", "keyless"):
        assert intruders[name].wait() != 0
    assert "Failed to activate SuperNode" in intruders["unregistered"].text
    assert "All SuperNodes must be registered" in intruders["keyless"].text
    intruders["plain"].says("onnection")  # it tries again for ever
    for intruder in intruders.values():
        intruder.kill_all()
        assert CONNECTED not in intruder.text
    assert nodes(consortium)[1] == n_before
    assert online(consortium) == set(consortium.names)


def test_a_site_turns_away_from_a_server_of_another_federation(consortium, tmp_path):
    folder, authority = consortium.unpack("siteD", "elsewhere"), keys.new_authority("another", 10)
    key, certificate = keys.new_certificate(authority, ["127.0.0.1"], 10)
    keys.write_private_key(key, tmp_path / "key", ssh=False)
    keys.write_certificate(certificate, tmp_path / "crt")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "crt", tmp_path / "key")
    with context.wrap_socket(socket.create_server(("127.0.0.1", 0)), server_side=True) as another:
        text = (folder / AGREEMENT).read_text()  # where the server is, is not part of what must be equal
        (folder / AGREEMENT).write_text(text.replace(f":{consortium.port}", f":{another.getsockname()[1]}"))
        command = consortium.join("siteD", folder, ready=False)
        with pytest.raises(ssl.SSLError, match="UNKNOWN_CA"):
            another.accept()
    assert command.wait() == 2
    assert "is not of this federation: its certificate is not signed by" in command.message
    assert "nothing was sent" in command.message
    assert not (folder / "prepared").exists()


def test_a_folder_is_served_and_joined_by_one_process_at_a_time(consortium):
    again = consortium.serve(ready=False)
    assert again.wait() == 2
    assert "is served already by another process." in again.message
    twice = consortium.join("siteA", ready=False)
    assert twice.wait() == 2
    assert "has joined already, by another process." in twice.message
    assert (consortium.site("siteA") / "prepared" / "rows.npy").is_file()
    assert online(consortium) == set(consortium.names)


def test_a_site_under_anothers_name_is_refused_and_never_counted_as_it(consortium):
    command_of(consortium, "siteB").end()
    folder = consortium.unpack("siteB", "masks")
    masked = json.dumps({"name": "siteA"})
    (folder / "site.json").write_text(masked)
    at_once = consortium.join("siteB", folder, ready=False)
    assert at_once.wait() == 2
    assert "names another key for it than its own" in at_once.message
    (folder / "site.json").write_text(json.dumps({"name": "siteB"}))
    consortium.join("siteB", folder)
    (folder / "site.json").write_text(masked)
    try:
        run = consortium.run(out="masked")
        record = run.result()
    finally:
        command_of(consortium, "siteB").end()
    assert record["dropped"] == {"siteB": "sent a reply that is refused: the signature is not that of 'siteA'."}
    assert_same(record, consortium.expected("siteB"))
    assert not (folder / "results").exists()
    siteA = [event for event in run.folder.events() if event.get("site") == "siteA"]
    assert {event["event"] for event in siteA} == {"answered", "delivered"}


def test_after_a_renewal_the_old_key_is_refused_and_the_new_one_works(consortium):
    old = consortium.unpack("siteB", "old")
    before = consortium.join("siteB")
    consortium.call("site", consortium.fed, "--renew", "siteB", "--with-keys")
    wait_until(lambda: "siteB" not in online(consortium), PATIENCE, "the old key's end")
    assert_cut_off(before)
    refused = consortium.join("siteB", old, ready=False)
    assert refused.wait() == 2
    assert "the server does not let siteB in: its key is not registered there, or no longer." in refused.message
    assert "siteB" not in online(consortium)
    for file in IDENTITY:  # no tar takes the place of a key that is there
        (consortium.site("siteB") / file).unlink()
    consortium.unpack("siteB")
    consortium.join("siteB")
    wait_until(lambda: "siteB" in online(consortium), PATIENCE, "the new key's site")


def join_again(consortium, *names):
    """With the agreement that the operator packed last."""
    for command in consortium.commands:
        if "join" in command.arguments and command.process.poll() is None:
            command.end()
    for name in names:
        consortium.unpack(name)
    for command in [consortium.join(name, ready=False) for name in names]:
        command.says("is connected to")


def test_a_removed_site_is_cut_off_and_the_others_go_on_once_they_consented_again(consortium):
    removed = command_of(consortium, "siteC")
    consortium.call("site", consortium.fed, "--remove", "siteC")
    server = next(command for command in consortium.commands if "serve" in command.arguments)
    wait_until(lambda: "siteC" not in online(consortium), PATIENCE, "siteC's end")
    assert_cut_off(removed)
    assert server.process.poll() is None
    refused = consortium.run(out="before")
    assert refused.command.wait(RUN_SECONDS) == 2
    assert "the two sides hold different agreements" in refused.command.text
    join_again(consortium, "siteA", "siteB", "siteD")
    run = consortium.run(out="after")
    record = run.result()
    assert record["federation"]["sites"] == ["siteA", "siteB", "siteD"]
    assert_same(record, consortium.expected("siteC"), "dropped", "transcript")


def test_a_site_with_a_key_of_its_own_joins_a_running_server_which_never_had_that_key(consortium):
    place = consortium.folder / "places" / "siteE"
    consortium.call("request", "--name", "siteE", "--out", place)
    own = (place / "site.key").read_bytes()
    consortium.call("site", consortium.fed, "--approve", place / "siteE.request", "--yes")
    server = next(command for command in consortium.commands if "serve" in command.arguments)
    wait_until(lambda: "siteE" in nodes(consortium)[0], PATIENCE, "the new key")
    assert server.process.poll() is None
    consortium.unpack("siteE")  # over the site's own folder
    assert (place / "site.key").read_bytes() == own
    assert not any(own in file.read_bytes() for file in consortium.fed.rglob("*") if file.is_file())
    (consortium.folder / "siteE.csv").write_bytes((consortium.folder / "siteC.csv").read_bytes())
    join_again(consortium, "siteA", "siteB", "siteD", "siteE")
    record = consortium.run(out="own-key").result()
    assert set(record["n_rows"]) == {"siteA", "siteB", "siteD", "siteE"}
    assert record["dropped"] == {}
