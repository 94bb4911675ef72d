"""Every mistake in `federation.toml` gets one sentence that names file, place and value."""

import pytest

from fedsieve.deployment import keys, membership
from fedsieve.deployment.agreement import check_address, read_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.errors import DataError, ParameterError

KEY = keys.public_text(keys.new_key().public_key())
COLUMNS = (["f0", "f1"], ["y"])
BASE = agreement_text("fed", "h:1", ["a", "b"], *COLUMNS, method="SSFMLFS")
DECLARED = agreement_text("fed", "h:1", ["a", "b"], *COLUMNS, method="SSFMLFS", ranges={"f0": (0, 1), "f1": (0, 1)})

MISTAKES = [
    # unknown or missing
    ("lam = 1.2", "lamda = 1.2", "[parameters] has unknown 'lamda'"),
    ("lam = 1.2", 'lam = 1.2\nfeatures = ["f0"]', "[parameters] has unknown 'features'"),
    ('address = "h:1"', "", "[server] lacks 'address'"),
    ("min_rows = 50", "min_row = 50", "[privacy] has unknown 'min_row'"),
    ('name = "fed"\n', "", "the file lacks 'name'"),
    ("[privacy]", "[secrecy]", "the file lacks 'privacy' and has unknown 'secrecy'"),
    ('[server]\naddress = "h:1"', "server = 5", "[server] must be a section; got 5"),
    ("\n[server]\n", '\n[server]\nhost = "x"\n', "[server] has unknown 'host'"),
    ('ranges = "robust"', "", "[columns] lacks 'ranges'"),
    ("fedsieve-federation/2", "fedsieve-federation/9", "got 'fedsieve-federation/9'"),
    ("format =", "form =", "format 'fedsieve-federation/2'; got None"),
    # columns
    ('labels = ["y"]', 'labels = ["y", "f1"]', "'f1' cannot be feature and label at once"),
    ('labels = ["y"]', "labels = []", "[columns] labels must name at least one column"),
    ('features = ["f0", "f1"]', 'features = "f0"', "[columns] features must be a list of names; got 'f0'"),
    ('features = ["f0", "f1"]', 'features = ["f0", 1]', "got ['f0', 1]"),
    ('features = ["f0", "f1"]', 'features = ["f0", "f0"]', "[columns] features names 'f0' twice"),
    ("nominal = []", 'nominal = ["f7"]', "nominal names no such feature: 'f7'"),
    ('ranges = "robust"', 'ranges = "declared"', "where there is a section [ranges], and only there"),
    ('ranges = "robust"', 'ranges = "worldwide"', "got 'worldwide'"),
    # numbers
    ("min_clients = 2", "min_clients = 1", "[rounds] min_clients must be a whole number of at least 2; got 1"),
    ("timeout_seconds = 300", "timeout_seconds = 0", "[rounds] timeout_seconds must be a whole number of at least 1"),
    ("timeout_seconds = 300", "timeout_seconds = true", "[rounds] timeout_seconds must be a whole number"),
    ("min_clients = 2", "min_clients = true", "[rounds] min_clients must be a whole number of at least 2; got True"),
    ("min_rows = 50", "min_rows = 1", "[privacy] min_rows must be a whole number of at least 2; got 1"),
    ("min_rows = 50", "min_rows = 2.5", "got 2.5"),
    ("n_neighbors = 3", "n_neighbors = true", "n_neighbors must be a whole number of at least 1; got True"),
    ("lam = 1.2", "lam = nan", "lam must be in [0.4, 2]; got nan"),
    ("lam = 1.2", 'lam = "1.2"', "lam must be in [0.4, 2]; got '1.2'"),
    ("max_message_bytes = 512000000", "max_message_bytes = 0", "max_message_bytes must be a whole number"),
    ("max_rows = 1000000", "max_rows = 1", "max_rows must be a whole number in [2, 9007199254740991]; got 1"),
    (
        "max_rows = 1000000",
        "max_rows = 1e9",
        "max_rows must be a whole number in [2, 9007199254740991]; got 1000000000.0",
    ),
    ("max_rows = 1000000", "max_rows = 9", "[rounds] max_rows must be a whole number of at least 50; got 9"),
    ('wire = "auto"', 'wire = "pigeon"', "wire must be one of"),
    ('wire = "auto"', "wire = ['auto']", "got ['auto']"),
    ('on_bad_client = "drop"', 'on_bad_client = "forgive"', "on_bad_client must be one of 'raise', 'drop'"),
    # address and sites
    ("h:1", "h", "the server's address must be host:port; got 'h'"),
    ("h:1", "h:0", "got 'h:0'"),
    ("h:1", "h:65536", "got 'h:65536'"),
    ("h:1", ":443", "got ':443'"),
    ("h:1", "h:https", "got 'h:https'"),
    ('"h:1"', "443", "the server's address must be host:port; got '443'"),
    ('"b" = ""', '"b c" = ""', "got 'b c'"),
    ('"b" = ""', '"../../etc" = ""', "got '../../etc'"),
    ('"b" = ""', '"A" = ""', "site names must differ, not only in case; got 'a', 'A'"),
    ('"server" = ""\n', "", "[members] lacks 'server', the operator's key"),
    # keys
    ('"b" = ""', '"b" = 5', "[members] b must be a public key, 'ecdsa-sha2-nistp384 ...'; got '5'"),
    ('"b" = ""', '"b" = "ssh-ed25519 AAAA"', "[members] b must be a public key"),
    ('"b" = ""', '"b" = "ecdsa-sha2-nistp384 ÄÄ"', "[members] b must be a public key"),
    ('"b" = ""', f'"b" = "{KEY} siteB"', "[members] b must be a public key"),
    ('"b" = ""', f'"b" = "{KEY[:-4]}"', "[members] b must be a public key"),
    ('"b" = ""', f'"b" = "{KEY.replace(" ", "  ")}"', "[members] b must be a public key"),
    (
        '"a" = ""\n"b" = ""',
        f'"a" = "{KEY}"\n"b" = "{KEY}"',
        "[members] has one key for 'a', 'b'. Each must have its own",
    ),
    ('"server" = ""\n"a" = ""', f'"server" = "{KEY}"\n"a" = "{KEY}"', "[members] has one key for 'server', 'a'"),
    # TOML
    ("lam = 1.2", "lam = ", "is no valid TOML"),
    ("lam = 1.2", "lam = 1.2\nlam = 1.3", "is no valid TOML"),
    ("[privacy]", "[rounds]", "is no valid TOML"),
]


def refusal(tmp_path, old, new, base=BASE):
    assert base.count(old) == 1, old
    file = tmp_path / "federation.toml"
    file.write_text(base.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError) as refused:
        read_agreement(file)
    said = str(refused.value)
    assert said.startswith(f"{file}: ")
    assert said.count(str(file)) == 1
    assert "\n" not in said
    return said


@pytest.mark.parametrize(("old", "new", "said"), MISTAKES, ids=[said for *_, said in MISTAKES])
def test_a_mistake_is_told_in_one_sentence(tmp_path, old, new, said):
    assert said in refusal(tmp_path, old, new)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"f1" = [0, 1]\n', "", "declares no range for 'f1'"),
        ('"f1" = [0, 1]', '"f1" = [1, 0]', "ranges['f1'] must be finite with low <= high; got (1.0, 0.0)"),
        ('"f1" = [0, 1]', '"f1" = [0, inf]', "ranges['f1'] must be finite"),
        ('"f1" = [0, 1]', '"f1" = [0, 1, 2]', "ranges['f1'] must be (low, high)"),
        ('"f1" = [0, 1]', '"f1" = 5', "ranges['f1'] must be (low, high); got 5"),
        ('ranges = "declared"', 'ranges = "local"', "where there is a section [ranges], and only there"),
    ],
)
def test_a_mistake_in_declared_ranges_is_told_in_one_sentence(tmp_path, old, new, said):
    assert said in refusal(tmp_path, old, new, DECLARED)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "fed"', "name = 5", "name must be text; got 5."),
        ('name = "fed"', "name = 2020-01-01", "name must be text; got datetime.date(2020, 1, 1)."),
        ("nominal = []", "nominal = 5", "[columns] nominal must be a list of names; got 5."),
        ('labels = ["y"]', 'labels = ["y", "y"]', "[columns] labels names 'y' twice."),
        ("max_iter = 500", "max_iter = " + "9" * 5000, "is no valid TOML: Exceeds the limit (4300 digits)"),
        ("h:1", "h:" + "9" * 5000, "the server's address must be host:port; got 'h:999"),
        ("h:1", "http://h:1", "the server's address must be host:port; got 'http://h:1'."),
        ("h:1", "a host:1", "the server's address must be host:port; got 'a host:1'."),
    ],
    ids=lambda value: value[:30],
)
def test_a_value_of_another_type_is_told_in_one_sentence(tmp_path, old, new, said):
    assert said in refusal(tmp_path, old, new)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('[ranges]\n"f0" = [0, 1]\n"f1" = [0, 1]\n', "", "[ranges] must be a section; got 5."),
        ('"f1" = [0, 1]', '"f1" = [0, 1]\n"zz" = [0, 1]', "[ranges] has unknown 'zz'."),
    ],
)
def test_ranges_that_are_no_section_or_of_no_feature_are_told_in_one_sentence(tmp_path, old, new, said):
    base = DECLARED if new else DECLARED.replace("format =", "ranges = 5\nformat =")
    assert said in refusal(tmp_path, old, new, base)


def test_members_that_are_no_section_are_told_in_one_sentence(tmp_path):
    start = BASE.index("[members]")
    said = refusal(tmp_path, BASE[start:], "", BASE.replace("format =", "members = 5\nformat ="))
    assert "[members] must be a section; got 5." in said


def test_a_file_that_is_not_utf_8_is_told_in_one_sentence(tmp_path):
    file = tmp_path / "federation.toml"
    file.write_bytes(BASE.encode() + "# Größe\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"federation\.toml: is no valid TOML: 'utf-8' codec can't decode byte 0xf6"):
        read_agreement(file)


@pytest.mark.parametrize(
    ("address", "parts"), [("h:1", ("h", 1)), ("[::1]:65535", ("::1", 65535)), ("10.0.0.1:9443", ("10.0.0.1", 9443))]
)
def test_an_address_is_a_host_and_a_port(address, parts):
    assert check_address(address) == parts


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"address": "münchen.example:1"}, "must be host:port; got 'münchen.example:1'"),
        ({"days": 0}, r"--days must be in \[1, 36500\]; got 0"),
        ({"days": 10**7}, r"--days must be in \[1, 36500\]; got 10000000"),
    ],
)
def test_what_cannot_be_founded_is_told_in_one_sentence(tmp_path, how, said):
    with pytest.raises(ParameterError, match=said):
        membership.create(tmp_path / "fed", BASE, ["a", "b"], how.get("address", "h:1"), days=how.get("days", 730))
    assert list(tmp_path.iterdir()) == []


def test_a_bad_address_is_refused_before_anything_is_made(tmp_path):
    with pytest.raises(ParameterError, match="host:port; got 'nowhere'"):
        membership.create(tmp_path / "fed", BASE, ["a", "b"], "nowhere")
    assert list(tmp_path.iterdir()) == []
