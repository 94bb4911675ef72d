"""`fedsieve federation edge` and what belongs to it, up to the point where processes start."""

import pytest

from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.told_cohorts import ToldCohort, ToldCohorts
from fedsieve.transport.mailbox import Mailbox


@pytest.fixture
def made(fedsieve, tables):
    """A federation of two edge servers, and a way to call its commands; options change it."""

    def make(*options):
        columns = ("--schema", tables["server.csv"], "--labels", "prefix:label_", "--with-keys")
        few = ("--sites", "edgeA,edgeB", "--min-clients", 2, "--max-sites-per-client", 3)
        result = fedsieve("federation", "init", "--out", tables["top"], *few, *columns, *options)
        assert result.code == 0, result.err
        return ServerFolder(tables["top"])

    return make


@pytest.fixture
def below(fedsieve, tables, made):
    """What the edge server edgeA makes for its own sites."""
    made()

    def make(*options, sites="siteA,siteB,siteC"):
        edge = tables["top"] / "sites" / "edgeA"
        return fedsieve("federation", "init", "--above", edge, "--out", tables["own"], "--sites", sites, *options)

    return make


@pytest.fixture
def start(fedsieve, tables):
    """Start the edge server; nobody is there to consent."""
    return lambda *options: fedsieve(
        "federation", "edge", tables["top"] / "sites" / "edgeA", "--below", tables["own"], *options
    )


def agreed(agreement):
    """What decides of what sites are asked: all but how many must be there."""
    parameters = agreement.method.parameters()
    return {name: value for name, value in parameters.items() if name not in ("min_clients", "max_sites_per_client")}


def test_the_agreement_below_is_the_one_above_with_other_members(tables, below):
    result = below("--min-rows", 60, "--timeout", 300)
    assert result.code == 0
    assert f"Then: fedsieve federation edge {tables['top'] / 'sites' / 'edgeA'} --below {tables['own']}" in result.out
    above, own = ServerFolder(tables["top"]).agreement(), ServerFolder(tables["own"]).agreement()
    assert own.above.agreement == above.fingerprint
    assert (own.above.name, own.above.client, own.above.max_sites) == ("top", "edgeA", 6)
    assert agreed(own) == agreed(above)
    assert (own.labels, own.method.features) == (above.labels, above.method.features)
    assert (own.min_rows, own.timeout_seconds, own.method.max_sites_per_client) == (60, 240, 1)
    assert own.sites == ("siteA", "siteB", "siteC")


@pytest.mark.parametrize("option", [("--schema", "server.csv"), ("-k", 2), ("--method", "SSFMLFS"), ("--secure",)])
def test_what_the_agreement_above_says_is_not_said_again(tables, below, option):
    assert below(*option).message == (
        "--above takes columns, method, parameters and max_rows from the agreement there: leave all options of these "
        "out (--schema, --labels, --method, ...). To change them, change that agreement."
    )
    assert not tables["own"].exists()


def test_more_sites_than_the_federation_above_allows_are_refused_before_anything_is_made(tables, below):
    message = below(sites="a,b,c,d").message
    assert message == (
        f"{tables['own'] / AGREEMENT}: is of 4 sites; the federation 'top' lets a client stand for 3 "
        "(max_sites_per_client in its [rounds]). Its operator sets it with 'init --max-sites-per-client'."
    )
    assert not tables["own"].exists()


def test_no_edge_server_takes_part_in_secure_sums(fedsieve, tables):
    columns = ("--schema", tables["server.csv"], "--labels", "prefix:label_", "--with-keys", "--secure")
    init = ("federation", "init", "--out", tables["top"])
    assert fedsieve(*init, "--sites", "edgeA,b,c", *columns).code == 0
    edge = tables["top"] / "sites" / "edgeA"
    result = fedsieve("federation", "init", "--above", edge, "--out", tables["own"], "--sites", "a,b,c")
    assert result.message == (
        "edgeA: no edge server can take part in the federation 'top': secure sums are between sites and one server: "
        "masks of two levels do not cancel. Let each site join it itself, or agree there on sums that every server may "
        "add up (secure = false)."
    )


def test_nor_where_replies_do_not_add_up(fedsieve, tables, made):
    made("--method", "FMLFS")
    edge = tables["top"] / "sites" / "edgeA"
    result = fedsieve("federation", "init", "--above", edge, "--out", tables["own"], "--sites", "a,b,c")
    assert "information does not add up. FMLFS needs each site at the server itself." in result.message


def test_without_consent_nothing_is_started(tables, below, start):
    below()
    result = start()
    assert result.message == "edgeA did not consent: nobody is there to ask. Give --yes to consent unattended."
    said = " ".join(result.out.split())
    assert "This edge server sees the answers of each of them." in said
    assert "Answers of single sites never leave." in said
    assert not (tables["own"] / "server" / "superlink.pid").exists()


def test_a_plain_federation_is_no_edge_server_s(fedsieve, tables, made, start):
    made()
    columns = ("--schema", tables["server.csv"], "--labels", "prefix:label_")
    assert fedsieve("federation", "init", "--out", tables["own"], "--sites", "a,b,c", *columns).code == 0
    message = start("--yes").message
    assert message.startswith(f"{tables['own'] / AGREEMENT}: is no edge server's agreement: it has no section [above].")
    assert "fedsieve federation init --above" in message


def test_an_agreement_below_that_was_left_behind_is_refused_and_pack_takes_the_new_one_over(
    fedsieve, tables, below, start
):
    below("--with-keys")
    top, own = ServerFolder(tables["top"]), ServerFolder(tables["own"])
    before = own.agreement()
    file = top.path / AGREEMENT
    file.write_text(file.read_text().replace("n_trees = ", "n_trees = 1"))
    assert fedsieve("federation", "pack", top.path).code == 0
    message = start("--yes").message
    assert f"its sites agreed to answer for federation 'top' (agreement {before.above.agreement[:12]}" in message
    assert f"fedsieve federation pack {own.path} --above {top.site('edgeA').path}" in message
    result = fedsieve("federation", "pack", own.path, "--above", top.site("edgeA").path)
    assert result.code == 0, result.err
    now = own.agreement()
    assert now.above.agreement == top.agreement().fingerprint
    assert agreed(now) == agreed(top.agreement())
    assert (now.members, now.timeout_seconds, now.min_rows) == (before.members, before.timeout_seconds, before.min_rows)
    assert SiteFolder(own.site("siteA").path).agreement().fingerprint == now.fingerprint
    assert start().message.startswith("edgeA did not consent")


def test_folders_of_two_edge_servers_that_were_mixed_up_are_named_and_nobody_changes_hands(fedsieve, tables, below):
    below("--with-keys")
    top, own = ServerFolder(tables["top"]), ServerFolder(tables["own"])
    other = top.site("edgeB").path
    before = {file: file.read_bytes() for file in own.path.rglob("*") if file.is_file()}
    for command in (("edge", other, "--below", own.path, "--yes"), ("pack", own.path, "--above", other)):
        result = fedsieve("federation", *command)
        assert result.code == 2
        assert result.message.startswith(f"{own.path}: belongs to 'edgeA' of the federation 'top' (operator's key ")
        assert f"and {other} is that of 'edgeB' in 'top'" in result.message
        assert result.message.endswith("Is one of them the wrong folder?")
    assert {file: file.read_bytes() for file in own.path.rglob("*") if file.is_file()} == before
    assert fedsieve("federation", "pack", own.path, "--above", other, "--force").code == 0
    assert own.agreement().above.client == "edgeB"


def test_an_agreement_below_that_was_changed_by_hand_is_refused_by_name(tables, below, start):
    below()
    file = tables["own"] / AGREEMENT
    file.write_text(file.read_text().replace("n_trees = ", "n_trees = 1"))
    assert f"{file}: differs from the agreement above in 'n_trees'." in start("--yes").message


def test_sites_below_have_less_time_than_their_edge_server(tables, below, start):
    below()
    file = tables["own"] / AGREEMENT
    file.write_text(file.read_text().replace("timeout_seconds = 240", "timeout_seconds = 300"))
    assert start("--yes").message == (
        f"{file}: sites have 300 s for an answer (timeout_seconds), edgeA itself has 300 s above; 240 s or less leave "
        "time to say who did not answer."
    )


def test_status_says_how_the_edge_server_is_started_and_that_a_run_goes_on_above(fedsieve, tables, below):
    below("--with-keys")
    Mailbox.of(ServerFolder(tables["own"]), "run-1")
    said = " ".join(fedsieve("federation", "status", tables["own"]).out.split())
    assert f"Start it: fedsieve federation edge FOLDER_OF_edgeA --below {tables['own']}" in said
    assert "Run run-1 waits for the server above" in said


@pytest.mark.parametrize("command", ["serve", "run", "check"])
def test_commands_of_a_server_with_labeled_rows_are_not_an_edge_server_s(fedsieve, tables, below, command):
    below()
    labeled = ("--labeled", tables["server.csv"]) if command == "serve" else ()
    assert fedsieve("federation", command, tables["own"], *labeled).message == (
        f"{tables['own']}: is an edge server's, and '{command}' is for the server of 'top' above it. Start this one "
        f"with: fedsieve federation edge FOLDER_OF_edgeA --below {tables['own']}"
    )


def test_pack_of_a_plain_federation_follows_nothing(fedsieve, made):
    top = made()
    message = fedsieve("federation", "pack", top.path, "--above", top.site("edgeA").path).message
    assert message == f"{top.path}: is no edge server's, so that it follows no agreement above. Leave --above out."


def test_a_smaller_cohort_is_approved_by_the_edge_server(fedsieve, tables, below):
    below("--with-keys")
    edge = tables["top"] / "sites" / "edgeA"
    ToldCohorts(edge / "ledger").keep(ToldCohort("run-1", ("siteA", "siteB", "siteC"), "", "AskRanges"))
    call = ("federation", "approve-cohort", edge, "--below", tables["own"], "--yes", "--sites")
    assert fedsieve(*call, "siteA,edgeB").message.startswith(
        "--sites must name members of the agreement, each once; got"
    )
    result = fedsieve(*call, "siteA,siteB")
    assert result.code == 0
    assert "give the sums of 'siteC' alone" in " ".join(result.err.split())
    assert "edgeA answers above for 'siteA', 'siteB'." in result.out
    assert ToldCohorts(edge / "ledger").approved() == [["siteA", "siteB"]]


def test_a_change_of_the_federation_above_is_told_in_words(fedsieve, tables, below):
    below("--with-keys")
    own = ServerFolder(tables["own"])
    old = tables["own"].with_name("old")
    old.mkdir()
    (old / AGREEMENT).write_text((own.path / AGREEMENT).read_text())
    file = own.path / AGREEMENT
    file.write_text(file.read_text().replace('client = "edgeA"', 'client = "edgeB"'))
    result = fedsieve("federation", "diff", old / AGREEMENT, file)
    assert result.code == 1
    assert "totals over these sites go on to: federation 'top'" in " ".join(result.out.split())


def test_of_two_edge_servers_each_is_warned_that_it_would_refuse_every_run(below, start):
    assert below().code == 0
    said = " ".join(start().err.split())
    assert "the agreement names 2 sites; a run needs 3 (min_cohort in policy.toml), or edgeA refuses." in said
