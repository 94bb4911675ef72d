"""`federation diff` in words: nothing that changes the fingerprint goes untold."""

import pytest

from deployment.test_agreement import BASE
from fedsieve.deployment import keys
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.differences import differences
from fedsieve.deployment.members import fingerprint

KEYS = [keys.public_text(keys.new_key().public_key()) for _ in range(3)]
FIRST, SECOND = fingerprint(KEYS[0]), fingerprint(KEYS[1])


def told(*changes, base=BASE):
    text = base
    for before, after in changes:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    old, new = parse_agreement(base), parse_agreement(text)
    assert bool(differences(old, new)) == (old.fingerprint != new.fingerprint)
    return differences(old, new)


WITH_KEYS = BASE.replace('"server" = ""', f'"server" = "{KEYS[2]}"').replace('"b" = ""', f'"b" = "{KEYS[0]}"')


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"a" = ""\n', "", ["member 'a' removed"]),
        (f'"b" = "{KEYS[0]}"\n', "", [f"member 'b' removed, who had the key {FIRST}"]),
        ('"a" = ""\n', f'"a" = ""\n"c" = "{KEYS[1]}"\n', [f"member 'c' added, with the key {SECOND}"]),
        ('"a" = ""\n', '"a" = ""\n"c" = ""\n', ["member 'c' added, without a key yet"]),
        ('"a" = ""', f'"a" = "{KEYS[1]}"', [f"member 'a' has the key {SECOND}"]),
        (KEYS[0], "", ["member 'b' has no key any more"]),
        (KEYS[0], KEYS[1], [f"member 'b' renewed: the key {FIRST} is now {SECOND}"]),
        (KEYS[2], KEYS[1], [f"the operator renewed: the key {fingerprint(KEYS[2])} is now {SECOND}"]),
        ('labels = ["y", "z"]', 'labels = ["z", "w"]', ["labels added: 'w'", "labels removed: 'y'"]),
        ('labels = ["y", "z"]', 'labels = ["z", "y"]', ["labels are in another order"]),
        ('features = ["f0", "f1"]', 'features = ["f1", "f0"]', ["features are in another order"]),
        ('nominal = ["f1"]', "nominal = []", ["nominal: 'f1', now ()"]),
        ("lam = 1.2", "lam = 1.3", ["lam: 1.2, now 1.3"]),
        ("max_iter = 500", "max_iter = 500\nn_features_to_select = 1", ["n_features_to_select: None, now 1"]),
        ("min_clients = 2", "min_clients = 3", ["min_clients: 2, now 3"]),
        ("timeout_seconds = 300", "timeout_seconds = 301", ["timeout_seconds: 300, now 301"]),
        ("min_rows = 50", "min_rows = 51", ["min_rows: 50, now 51"]),
        ('name = "fed"', 'name = "other"', ["name: 'fed', now 'other'"]),
        ('address = "h:1"', 'address = "h:2"', []),
        ("# features whose values are codes", "# our own words", []),
    ],
    ids=lambda _: "",  # keys are new in every process, and so would names be that hold them
)
def test_a_change_is_told_in_words(before, after, said):
    assert told((before, after), base=WITH_KEYS) == said


def test_a_declared_range_is_told_by_its_column():
    (line,) = told(('"f1" = [0.0, 2.0]', '"f1" = [0.0, 2.5]'))
    assert line.startswith("ranges of 'f1': ")
    assert "2.5" in line


def test_no_name_reaches_the_terminal_unquoted():
    """Names in an agreement are another's words; control characters in them could redraw what was shown."""
    nasty = "\x1b[2Jx"
    texts = [
        agreement_text(
            *(
                nasty if high > 1 else "fed",
                "h:1",
                ["a", "b"],
                ["f0", nasty],
                ["y", *([nasty * 2] if high > 1 else [])],
            ),
            method="SSFMLFS",
            ranges={"f0": (0, 1), nasty: (0, high)},
        )
        for high in (1, 2)
    ]
    lines = differences(*map(parse_agreement, texts))
    assert len(lines) == 3
    assert "\x1b" not in "".join(lines)


def test_columns_that_come_and_go_are_named():
    texts = [agreement_text("fed", "h:1", ["a", "b"], features, ["y"]) for features in (["f0", "f1"], ["f1", "f2"])]
    assert differences(*map(parse_agreement, texts)) == ["features added: 'f2'", "features removed: 'f0'"]


def test_another_method_is_told_with_the_parameters_that_come_and_go():
    sieve, paper = (
        parse_agreement(agreement_text("fed", "h:1", ["a", "b"], ["f0"], ["y"], method=method))
        for method in ("Sieve", "SSFMLFS")
    )
    lines = differences(sieve, paper)
    assert lines[0] == "method: Sieve, now SSFMLFS"
    assert "lam: 1.2" in lines
    assert any(line.startswith("n_trees: ") and line.endswith(", no longer used") for line in lines)
