"""`fedsieve federation`: who belongs, from `init` and `request` over `site` and `diff` to what `join` shows."""

import stat

import pytest

from cli.founding import of_two_sites
from fedsieve.deployment import keys, unpacking
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.members import fingerprint
from fedsieve.deployment.server_folder import ServerFolder
from policies import write_rules


@pytest.fixture
def federation(fedsieve, tables):
    """Call `fedsieve federation VERB` on a federation of siteA and siteB whose sites have no keys yet."""
    assert fedsieve("federation", "init", "--out", tables["fed"], "--min-rows", 10, *of_two_sites(tables)).code == 0

    def call(verb, *arguments):
        return fedsieve("federation", verb, *arguments)

    return call


@pytest.fixture
def fed(tables):
    return ServerFolder(tables["fed"])


@pytest.fixture
def request_of(federation, tables):
    """Let a site ask; returns its request file."""

    def ask(name, place=None, *more):
        folder = tables[place or name]
        assert federation("request", "--name", name, "--out", folder, *more).code == 0
        return folder / f"{name}.request"

    return ask


def unpack(fed, name, folder):
    unpacking.unpack(fed.sites / f"{name}.tar", folder)


def test_init_says_what_each_site_must_do_and_makes_no_key_in_its_name(fedsieve, tables):
    result = fedsieve("federation", "init", "--out", tables["fed"], "--sites", "siteA,siteB", "--min-clients", 2)
    assert result.code == 0
    for name in ("siteA", "siteB"):
        assert f"fedsieve federation request --name {name} --out {name}/" in result.out
    assert "--approve NAME.request" in result.out
    assert list((tables["fed"] / "sites").iterdir()) == []


def test_init_says_that_so_many_columns_cannot_be_compared_and_how_many_can(fedsieve, tables):
    schema, d = tables["fed"].with_suffix(".csv"), 12_000
    rows = [[f"x{place}" for place in range(d)] + ["y"], ["0.5"] * d + ["0"], ["1.5"] * d + ["1"]]
    schema.write_text("\n".join(map(",".join, rows)))
    sites = ("--sites", "siteA,siteB", "--min-clients", 2, "--schema", schema, "--labels", "y")
    result = fedsieve("federation", "init", "--out", tables["fed"], *sites, "-k", 6_000)
    assert result.code == 0
    assert "a run would be refused. Sieve: covariances of 12,000 columns take 576.1 MB from each site" in result.err
    assert "Select at most 5,6" in result.err


def test_init_with_keys_says_what_it_gives_up(fedsieve, tables):
    result = fedsieve(
        "federation", "init", "--out", tables["fed"], "--sites", "siteA,siteB", "--min-clients", 2, "--with-keys"
    )
    assert result.code == 0
    assert "you could answer in any site's name, and no site can tell" in result.err
    assert "it holds a private key:" in result.out
    assert (tables["fed"] / "sites" / "siteA" / "site.key").is_file()


def test_a_site_asks_is_approved_and_both_sides_show_the_same_fingerprint(federation, fed, tables):
    asked = federation("request", "--name", "siteA", "--out", tables["siteA"])
    shown = fingerprint(keys.public_text(keys.read_public_key(tables["siteA"] / "site.pub")))
    assert f"the key's fingerprint: {shown}" in asked.out
    approved = federation("site", fed.path, "--approve", tables["siteA"] / "siteA.request", "--yes")
    assert approved.code == 0
    assert f"siteA asks to belong with the key {shown}" in approved.out
    assert f"hand over: {fed.sites / 'siteA.tar'}" in approved.out
    assert "siteB has no key yet: waiting for its request" in approved.out
    assert fed.agreement().approved == ("siteA",)


def test_without_anybody_to_confirm_nothing_is_approved(federation, fed, request_of):
    file = request_of("siteA")
    before = (fed.path / AGREEMENT).read_bytes()
    result = federation("site", fed.path, "--approve", file)
    assert result.code == 2
    assert result.message == "nobody is there to confirm the fingerprints. Compare them by phone, then give --yes."
    assert (fed.path / AGREEMENT).read_bytes() == before


def test_a_new_key_replaces_an_approved_one_only_by_a_renewal(federation, fed, request_of):
    assert federation("site", fed.path, "--approve", request_of("siteA"), "--yes").code == 0
    second = request_of("siteA", None, "--renew")
    refused = federation("site", fed.path, "--approve", second, "--yes")
    assert refused.code == 2
    assert "'siteA' is a member with another key" in refused.message
    assert "give --renew siteA too" in refused.message
    assert federation("site", fed.path, "--renew", "siteA", "--approve", second, "--yes").code == 0
    renewed = keys.public_text(keys.read_private_key(second.parent / "site.key").public_key())
    assert fed.agreement().members["siteA"] == renewed


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "give --approve FILE, or one of --add, --renew and --remove."),
        (["--add", "east", "--remove", "siteA"], "give --approve FILE, or one of"),
        (["--add", "east"], "--add east needs the site's own key: --approve FILE"),
        (["--renew", "siteA"], "--renew siteA needs the site's own key: --approve FILE"),
        (["--with-keys"], "give --approve FILE, or one of"),
        (["--remove", "siteA", "--with-keys"], "--remove goes with neither --approve nor --with-keys."),
        (["--remove", "west"], "has no site 'west'; it has 'siteA', 'siteB'."),
        (["--approve", "{file}", "--with-keys"], "give one of them."),
        (["--add", "east", "--approve", "{file}", "--yes"], "the request is of 'siteA', not of 'east'."),
        (["--add", "siteA", "--approve", "{file}", "--yes"], "--add siteA: belongs already"),
        (["--renew", "siteB", "--approve", "{file}", "--yes"], "the request is of 'siteA', not of 'siteB'."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_that_do_not_fit_are_named_and_nothing_changes(federation, fed, request_of, options, said):
    file = request_of("siteA")
    before = (fed.path / AGREEMENT).read_bytes()
    result = federation("site", fed.path, *(option.format(file=file) for option in options))
    assert result.code == 2
    assert said in result.message
    assert (fed.path / AGREEMENT).read_bytes() == before


def test_a_key_made_by_the_operator_needs_with_keys_and_says_what_it_gives_up(federation, fed):
    result = federation("site", fed.path, "--add", "siteC", "--with-keys")
    assert result.code == 0
    assert "siteC: you made its key, so you could answer in its name" in result.err
    assert (fed.site("siteC").path / "site.key").is_file()


def test_pack_leaves_out_who_has_no_key_and_says_so(federation, fed, request_of):
    assert federation("site", fed.path, "--approve", request_of("siteA"), "--yes").code == 0
    result = federation("pack", fed.path)
    assert result.code == 0
    assert result.out.split() == ["packed", str(fed.sites / "siteA.tar")]
    assert "no tar for 'siteB', who have no key yet" in result.err


def test_diff_says_what_changed_and_its_code_says_whether(federation, fed, request_of, tables):
    old = tables["old.toml"]
    old.write_bytes((fed.path / AGREEMENT).read_bytes())
    same = federation("diff", old, fed.path)
    assert (same.code, same.out.strip()) == (0, f"same agreement: {fed.agreement().fingerprint}")
    assert federation("site", fed.path, "--approve", request_of("siteA"), "--yes").code == 0
    differ = federation("diff", old, fed.path)
    assert differ.code == 1
    assert f"member 'siteA' has the key {fingerprint(fed.agreement().members['siteA'])}" in differ.out
    assert "are different agreements: all must consent again." in differ.out


def test_diff_of_another_address_alone_is_the_same_agreement(federation, fed, tables):
    moved = tables["moved.toml"]
    moved.write_text((fed.path / AGREEMENT).read_text().replace("127.0.0.1:9443", "fed.example.org:9443"))
    result = federation("diff", fed.path, moved)
    assert result.code == 0
    assert "the server's address, which may differ: 127.0.0.1:9443, now fed.example.org:9443" in result.out
    assert "same agreement" in result.out


def test_diff_of_what_is_no_agreement_is_code_2(federation, fed, tables):
    result = federation("diff", fed.path, tables["server.csv"])
    assert result.code == 2
    assert "server.csv: is no valid TOML" in result.message


@pytest.fixture
def site(federation, fed, request_of, tables):
    """siteA's own folder, approved and unpacked over; siteB still has no key."""
    assert federation("site", fed.path, "--approve", request_of("siteA"), "--yes").code == 0
    unpack(fed, "siteA", tables["siteA"])
    write_rules(tables["siteA"])
    return tables["siteA"]


def joined(federation, tables, site):
    """Join with nobody to ask: it ends where consent is asked, at the latest."""
    return federation("join", site, "--data", tables["siteA.csv"])


def test_join_shows_all_fingerprints_before_it_asks(federation, fed, tables, site):
    result = joined(federation, tables, site)
    assert "did not consent" in result.message
    members = fed.agreement().members
    for who, key in (("operator", members["server"]), ("siteA (this site)", members["siteA"])):
        (line,) = (line for line in result.out.splitlines() if who in line)
        assert fingerprint(key) in line
    assert "none yet: cannot take part" in result.out
    assert result.out.index("Who may speak") < result.out.index("What leaves")


def test_join_closes_a_folder_that_others_can_read_and_says_so(federation, tables, site):
    site.chmod(0o755)
    result = joined(federation, tables, site)
    assert "could be read by others on this machine; it is yours alone now (chmod 700)" in result.err
    assert stat.S_IMODE(site.stat().st_mode) == 0o700
    assert "could be read" not in joined(federation, tables, site).err


def test_join_refuses_a_key_that_others_can_read(federation, tables, site):
    (site / "site.key").chmod(0o640)
    assert "site.key: may be read by others. Make it yours alone" in joined(federation, tables, site).message


def test_join_refuses_an_agreement_in_which_its_key_was_replaced(federation, tables, site):
    file = site / AGREEMENT
    own = keys.public_text(keys.read_public_key(site / "site.pub"))
    file.write_text(file.read_text().replace(own, keys.public_text(keys.new_key().public_key())))
    result = joined(federation, tables, site)
    assert "names another key for it than its own" in result.message
    assert "What leaves" not in result.out


def test_join_refuses_an_agreement_without_this_site(federation, fed, tables, site):
    assert federation("site", fed.path, "--remove", "siteA").code == 0
    (site / AGREEMENT).write_bytes((fed.path / AGREEMENT).read_bytes())
    assert "the agreement in siteA's folder has no key for it" in joined(federation, tables, site).message


def test_two_sites_are_too_few_unless_it_is_said(fedsieve, tables):
    """Their own rules ask for three: a federation that no site would answer is not made by default."""
    result = fedsieve("federation", "init", "--out", tables["fed"], "--sites", "siteA,siteB")
    assert result.code == 2
    assert "names 2 sites; a federation needs 3 or more (--min-clients)" in result.message
    assert "policy.toml says less (min_cohort)" in result.message
    assert not tables["fed"].exists()


def test_join_refuses_an_authority_that_was_put_in_the_place_of_the_operator_s(federation, fed, request_of, tables):
    """The attack: whoever makes a site trust their authority stands between it and the server, and reads."""
    file = request_of("siteA")
    assert federation("site", fed.path, "--approve", file, "--yes").code == 0
    unpack(fed, "siteA", tables["siteA"])
    write_rules(tables["siteA"])
    keys.write_certificate(keys.new_authority("fed", 10)[1], tables["siteA"] / "ca.crt")
    result = federation("join", tables["siteA"], "--data", tables["siteA.csv"])
    assert result.code == 2
    assert "ca.crt is not the one that the operator vouches for" in result.message


def test_a_key_that_was_approved_before_is_no_new_agreement(federation, fed, request_of):
    file = request_of("siteA")
    assert "The agreement is a new one now" in federation("site", fed.path, "--approve", file, "--yes").out
    before = (fed.path / AGREEMENT).read_bytes()
    again = federation("site", fed.path, "--approve", file, "--yes")
    assert again.code == 0
    assert f"The agreement is what it was, {fed.agreement().fingerprint:.12}" in again.out
    assert "new one" not in again.out
    assert (fed.path / AGREEMENT).read_bytes() == before


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("code", "2020-01-31", "server.csv: column 'code' holds dates, first in row 1. Leave it out (--drop), or have"),
        ("label_a", 2, "server.csv: label 'label_a' must be 0 or 1; got another number in data row 1"),
    ],
)
def test_init_refuses_a_schema_that_serve_could_not_read(fedsieve, tables, column, values, said):
    """Sites would have made their keys and consented before the server refuses its own table."""
    tables.save("server.csv", tables.server.assign(**{column: values}))
    result = fedsieve("federation", "init", "--out", tables["fed"], *of_two_sites(tables))
    assert result.code == 2
    assert said in result.message
    assert not tables["fed"].exists()


def test_join_names_the_way_out_of_too_few_rows(federation, tables, site):
    tables.save("siteA.csv", tables.clients["siteA"][:9])
    said = joined(federation, tables, site).message
    assert "siteA.csv: has 9 rows; the agreement asks for at least 10 (min_rows). Wait for more, or agree on" in said


def test_a_removal_that_leaves_too_few_sites_says_so(federation, fed):
    result = federation("site", fed.path, "--remove", "siteB")
    assert result.code == 0
    assert "sites that are left: 1; a run takes 2 (min_clients in federation.toml)" in result.err
