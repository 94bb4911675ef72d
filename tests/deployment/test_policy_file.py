"""A site's own rules: every mistake in `policy.toml` gets one sentence, and no agreement gets past a rule."""

import os
from dataclasses import fields, replace

import pytest

from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.folders import write_json
from fedsieve.deployment.policy_file import (
    RULES,
    check_agreement,
    policy_digest,
    policy_text,
    read_policy,
    write_policy,
)
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import DataError, ProtocolError
from fedsieve.privacy import SITE, Policy
from fedsieve.reading import MAX_TOML_BYTES

OPEN = replace(SITE, allow_exact_ranges=True, allow_matrices=True, allow_tests=True)


def agreed(method="Sieve", **more):
    return parse_agreement(agreement_text("fed", "h:1", ["a", "b", "c"], ["age", "dose"], ["y"], method=method, **more))


@pytest.fixture
def site(tmp_path):
    write_json(tmp_path / "site.json", {"name": "siteA"})
    (tmp_path / "federation.toml").write_text(agreement_text("fed", "h:1", ["a", "b", "c"], ["age", "dose"], ["y"]))
    return SiteFolder(tmp_path)


def written(site, text, mode=0o600):
    file = site.path / "policy.toml"
    file.write_text(text)
    file.chmod(mode)
    return file


def test_without_a_file_the_defaults_hold(site):
    assert read_policy(site) == replace(SITE, min_rows=max(SITE.min_rows, 10))


def test_what_is_written_explains_every_rule_and_reads_as_the_defaults(site):
    always = {"keeps_story", "hides_defects"}
    assert set(RULES) == {field.name for field in fields(Policy)} - always
    file = write_policy(site)
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_policy(site) == SITE
    lines = file.read_text().splitlines()
    for name in RULES:
        (place,) = [number for number, line in enumerate(lines) if line.startswith(f"{name} = ")]
        assert lines[place - 1].startswith("# "), name


def test_a_policy_that_is_there_is_never_overwritten(site):
    file = written(site, "min_rows = 70\n")
    with pytest.raises(DataError, match=r"policy\.toml: is there already and stays as it is\. .*move it away"):
        write_policy(site)
    assert file.read_text() == "min_rows = 70\n"


def test_rules_that_are_given_change_and_the_others_stay(site):
    written(site, 'min_rows = 70\nallow_tests = true\ncolumns_never_used = ["name", "zip"]\nmethods = ["Sieve"]\n')
    assert read_policy(site) == replace(
        SITE, min_rows=70, allow_tests=True, columns_never_used=("name", "zip"), methods=("Sieve",)
    )


@pytest.mark.parametrize(("own", "agreement", "holds"), [(70, 60, 70), (40, 60, 60), (0, 60, 60)])
def test_of_the_site_s_and_the_agreement_s_min_rows_the_larger_holds(site, own, agreement, holds):
    written(site, f"min_rows = {own}\n")
    text = agreement_text("fed", "h:1", ["a", "b"], ["age"], ["y"], privacy={"min_rows": agreement})
    (site.path / "federation.toml").write_text(text)
    assert read_policy(site).min_rows == holds


def test_a_change_while_joined_is_noticed(site):
    written(site, "max_runs = 7\n")
    assert read_policy(site).max_runs == 7
    written(site, "max_runs = 700\n")
    assert read_policy(site).max_runs == 700


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("min_row = 50", "has no rule 'min_row'. Rules: min_rows, min_cell,"),
        ("keeps_story = false", "has no rule 'keeps_story'."),
        ("hides_defects = false", "has no rule 'hides_defects'."),
        ("[min_rows]\nvalue = 5", "min_rows must be a whole number in [0, 1000000000]; got {'value': 5}."),
        ("[rules]\nmin_rows = 5", "has no rule 'rules'."),
        ("min_rows = -1", "min_rows must be a whole number in [0, 1000000000]; got -1. Default: min_rows = "),
        ("min_rows = true", "min_rows must be a whole number in [0, 1000000000]; got True."),
        ("min_rows = 50.0", "min_rows must be a whole number in [0, 1000000000]; got 50.0."),
        ('min_rows = "50"', "min_rows must be a whole number in [0, 1000000000]; got '50'."),
        ("allow_tests = 1", "allow_tests must be true or false; got 1. Default: allow_tests = false"),
        ('rows_may_leave = "no"', "rows_may_leave must be true or false; got 'no'."),
        ('methods = "Sieve"', "methods must be a list of names; got 'Sieve'."),
        ('methods = ["sieve"]', "methods must be a list of methods (Sieve, SSFMLFS,"),
        ("columns_never_used = [1]", "columns_never_used must be a list of names; got [1]."),
        ("min_rows 50", "is no valid TOML: "),
        ("min_rows = 50\nmin_rows = 60", "is no valid TOML: "),
        (f"min_rows = {'9' * 5000}", "is no valid TOML: Exceeds the limit"),
        (f"min_rows = {'9' * 4000}", "is no TOML that can be used: it holds a whole number beyond 64 bits. Rules are"),
        ("methods = " + "[" * 100_000, "is no TOML that can be used: it is nested more than 32 deep. Rules are lines"),
        ("a." * 50_000 + "b = 1", "is no TOML that can be used: it is nested more than 32 deep."),
        ("#" * (MAX_TOML_BYTES + 1), f"has {MAX_TOML_BYTES + 1} bytes; at most {MAX_TOML_BYTES} are read."),
        ("\x00", "is no valid TOML: "),
    ],
    ids=lambda text: text[:30],
)
def test_every_mistake_is_one_short_sentence_with_file_rule_value_and_way_out(site, text, said):
    file = written(site, text)
    with pytest.raises(DataError) as refused:
        read_policy(site)
    message = str(refused.value)
    assert message.startswith(f"{file}: {said}")
    assert len(message) < 600
    assert "\n" not in message


def test_bytes_that_are_no_text_are_refused(site):
    (site.path / "policy.toml").write_bytes(b"\xff\xfe")
    (site.path / "policy.toml").chmod(0o600)
    with pytest.raises(DataError, match="is no valid TOML"):
        read_policy(site)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_policy_that_others_can_change_is_refused(site, mode):
    file = written(site, policy_text(), mode)
    with pytest.raises(DataError, match=rf"can be changed by others\. .*chmod 600 {file}"):
        read_policy(site)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_policy_that_cannot_be_read_is_no_reason_for_the_defaults(site):
    written(site, policy_text(), 0o000)
    with pytest.raises(DataError, match="cannot be read: Permission denied"):
        read_policy(site)


def test_a_link_to_nowhere_is_no_reason_for_the_defaults(site):
    (site.path / "policy.toml").symlink_to(site.path / "gone.toml")
    with pytest.raises(DataError, match="cannot be read"):
        read_policy(site)


def test_rules_are_known_by_their_digest():
    assert policy_digest(SITE) == policy_digest(Policy())
    assert policy_digest(SITE) != policy_digest(replace(SITE, min_cell=4))


def test_an_agreement_that_keeps_all_rules_is_accepted():
    check_agreement(OPEN, agreed(), "siteA")
    check_agreement(replace(OPEN, methods=("Sieve",), columns_never_used=("name",)), agreed(), "siteA")


@pytest.mark.parametrize(
    ("rules", "agreement", "said"),
    [
        ({"methods": ("SSFMLFS", "FMLFS")}, {}, r"allows 'SSFMLFS', 'FMLFS' \(methods\); the agreement's method is"),
        ({"columns_never_used": ("zip", "dose")}, {}, r"asks for 'dose', which its policy never uses \(columns"),
        ({"columns_never_used": ("y",)}, {"method": "FMLFS"}, r"asks for 'y', which its policy never uses"),
        (
            {"allow_exact_ranges": False},
            {"ranges": "federated"},
            r"\(allow_exact_ranges = false\).*set allow_exact_ranges = true",
        ),
        (
            {"allow_matrices": False},
            {"method": "SSFMLFS", "parameters": {"wire": "matrices"}},
            r"every value of every row up to shift and mirror.*\(allow_matrices = false\)",
        ),
        (
            {"allow_tests": False},
            {"method": "FedCMFS", "parameters": {"wire": "tests"}},
            r"up to all correlations.*\(allow_tests = false\)",
        ),
    ],
    ids=["method", "column", "label", "ranges", "matrices", "tests"],
)  # fmt: skip
def test_an_agreement_that_asks_for_more_is_refused_by_rule_value_and_way_out(rules, agreement, said):
    with pytest.raises(ProtocolError, match=rf"^siteA: .*{said}.*policy\.toml.*Nothing was sent\.$"):
        check_agreement(replace(OPEN, **rules), agreed(**agreement), "siteA")


def test_labels_that_stay_at_the_server_are_no_matter_of_the_site_s():
    check_agreement(replace(OPEN, columns_never_used=("y",)), agreed(), "siteA")
