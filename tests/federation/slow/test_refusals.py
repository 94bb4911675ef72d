"""What is wrong before anything is sent: one line says it, the exit code is 2, and no server is needed to find out."""

import socket

import numpy as np
import pytest

from federation.consortium import Consortium

pytestmark = pytest.mark.federation


@pytest.fixture(scope="module")
def consortium(tmp_path_factory):
    """A federation that nobody serves."""
    with Consortium(tmp_path_factory.mktemp("refusals"), "siteA,siteB").init() as consortium:
        yield consortium


@pytest.fixture(scope="module")
def template(consortium):
    folder = consortium.folder / "template"
    made = consortium.call("init", "--out", folder, "--sites", "siteA,siteB", "--min-clients", 2, "--with-keys")
    assert "is a template: fill in the marked places" in made.text
    return folder


def join(consortium, table, *more, folder=None):
    """Join with changed rows and nobody to connect to: a command that got so far would wait for ever."""
    file = consortium.folder / "changed.csv"
    table.to_csv(file, index=False)
    command = consortium.call("join", folder or consortium.site("siteA"), "--data", file, *more, code=2)
    assert not (consortium.site("siteA") / "prepared").exists()
    assert not (consortium.site("siteA") / "supernode.pid").exists()
    return command.message


def test_rows_without_an_agreed_column_stay_at_home(consortium):
    message = join(consortium, consortium.tables.sites["siteA"].drop(columns=["dose"]), "--yes")
    assert "lacks 'dose' of the 7 columns agreed on" in message


def test_rows_with_text_stay_at_home(consortium):
    message = join(consortium, consortium.tables.sites["siteA"].assign(dose="much"), "--yes")
    assert "column 'dose' holds text, first in row 1" in message


def test_rows_with_missing_values_stay_at_home(consortium):
    table = consortium.tables.sites["siteA"].copy()
    table.iloc[3, table.columns.get_loc("dose")] = np.nan
    message = join(consortium, table, "--yes")
    assert "1 missing (NaN) value in column 'dose'" in message


def test_too_few_rows_stay_at_home(consortium):
    message = join(consortium, consortium.tables.sites["siteA"][:9], "--yes")
    assert "has 9 rows; the agreement asks for at least 10 (min_rows)" in message


def test_nobody_to_ask_means_no_consent(consortium):
    message = join(consortium, consortium.tables.sites["siteA"])
    assert "siteA did not consent: nobody is there to ask. Give --yes to consent unattended." in message


def test_a_template_is_neither_served_nor_joined_nor_run(consortium, template):
    labeled, rows = consortium.folder / "server.csv", consortium.folder / "siteA.csv"
    commands = (
        ("serve", template, "--labeled", labeled),
        ("join", template / "sites" / "siteA", "--data", rows, "--yes"),
        ("run", template),
        ("pack", template),
    )
    for command in commands:
        assert "features is still marked 'FILL IN'" in consortium.call(*command, code=2).message


def test_a_run_needs_a_server(consortium):
    output = consortium.folder / "result"
    message = consortium.call("run", consortium.fed, "--out", output, code=2).message
    assert f"the server of {consortium.fed} does not answer" in message
    assert f"fedsieve federation serve {consortium.fed}" in message
    assert not output.exists()
    assert not list((consortium.fed / "server").glob("runs/*"))


def test_status_needs_no_server(consortium):
    text = consortium.call("status", consortium.fed).text
    assert f"The server of {consortium.fed} is down." in text
    assert "No run yet." in text
    assert "siteA" in text


def test_a_port_in_use_is_named(consortium):
    with socket.socket() as other:
        other.bind(("127.0.0.1", consortium.port))
        other.listen()
        command = consortium.serve(ready=False)
        assert command.wait() == 2
    assert f"port {consortium.port} cannot be used: Address already in use." in command.message
    assert not (consortium.fed / "server" / "superlink.pid").exists()


def test_a_run_waits_for_sites_only_as_long_as_told(consortium):
    server = consortium.serve()
    try:
        message = consortium.call("run", consortium.fed, "--wait", 1, code=2).message
        assert "0 of 2 sites are online, at least 2 are needed (min_clients). Absent: 'siteA', 'siteB'." in message
        assert not list((consortium.fed / "server").glob("runs/*"))
    finally:
        assert server.end() == 0
