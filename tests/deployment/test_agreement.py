"""`federation.toml` says what was meant, and its fingerprint changes with what matters and nothing else."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve.deployment import keys
from fedsieve.deployment.agreement import parse_agreement, read_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.errors import DataError, ParameterError
from fedsieve.methods import SSFMLFSMethod
from fedsieve.privacy import SITE

# Everything a table's header may hold; what no file in UTF-8 can hold is left out.
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        'quote"d',
        "it's",
        "[ranges]",
        "a # b",
        "back\\slash",
        "two\nlines",
        "tab\t",
        "del\x7fete",
        "größe",
        "体重",
        "",
        "]",
        '"""',
        "\r\n",
    ]
)
edges = st.floats(-1e6, 1e6).map(lambda low: (low, low + 1.5))
parameters = st.fixed_dictionaries(
    {},
    optional={
        "n_features_to_select": st.just(1),
        "lam": st.floats(0.4, 2),
        "n_neighbors": st.integers(1, 9),
        "damping": st.floats(0, 0.99),
        "relation": st.sampled_from(["distance", "similarity"]),
        "decisions": st.sampled_from(["crisp", "soft"]),
        "spread": st.sampled_from(["pooled", "mean"]),
        "wire": st.sampled_from(["auto", "matrices", "statistics", "vectors"]),
        "missing": st.sampled_from(["error", "unrelated"]),
        "constant": st.sampled_from(["last", "keep"]),
        "tol": st.floats(1e-300, 1),
        "max_iter": st.integers(1, 10**9),
    },
)
rounds = st.fixed_dictionaries(
    {},
    optional={
        "min_clients": st.integers(2, 5),
        "max_sites_per_client": st.integers(1, 9),
        "max_rows": st.integers(10, 2**20 - 1),
        "on_bad_client": st.sampled_from(["raise", "drop"]),
        "max_message_bytes": st.integers(1, 2**40),
    },
)


def same(first: SSFMLFSMethod, second: SSFMLFSMethod) -> bool:
    pairs = [(getattr(first, f.name), getattr(second, f.name)) for f in dataclasses.fields(SSFMLFSMethod)]
    return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)


@given(st.data(), st.lists(names, min_size=2, max_size=6, unique=True), parameters, rounds, st.integers(1, 10**6))
def test_what_is_written_is_read_again(data, columns, chosen, rules, seconds):
    cut = data.draw(st.integers(1, len(columns) - 1))
    features, labels = columns[:cut], columns[cut:]
    nominal = data.draw(st.lists(st.sampled_from(features), unique=True))
    declared = st.fixed_dictionaries(dict.fromkeys(features, edges))
    ranges = data.draw(st.sampled_from(["federated", "robust", "local"]) | declared)
    some = st.lists(st.sampled_from(features), unique=True).flatmap(
        lambda few: st.fixed_dictionaries(dict.fromkeys(few, edges))
    )
    bounds = data.draw(some) if ranges == "robust" else {}
    name = data.draw(names)
    text = agreement_text(
        name,
        "h:1",
        ["a", "b"],
        features,
        labels,
        method="SSFMLFS",
        ranges=ranges,
        bounds=bounds,
        nominal=nominal,
        parameters=chosen,
        rounds={**rules, "timeout_seconds": seconds},
        privacy={"min_rows": 2 + seconds % 9},
    )
    read = parse_agreement(text)
    rules = {"on_bad_client": "drop", "max_rows": 1_000_000, **rules}
    meant = {"ranges": ranges, "bounds": bounds, "n_labels": max(2, len(labels))}
    assert same(read.method, SSFMLFSMethod(tuple(features), nominal=tuple(nominal), **meant, **chosen, **rules))
    assert (read.name, read.address, read.sites, read.labels) == (name, "h:1", ("a", "b"), tuple(labels))
    assert (read.timeout_seconds, read.min_rows) == (seconds, 2 + seconds % 9)


def test_defaults_are_those_of_the_plan_except_that_a_bad_site_is_dropped_and_rows_are_limited():
    read = parse_agreement(agreement_text("fed", "h:1", ["a", "b"], ["f0", "f1"], ["y"], method="SSFMLFS"))
    rules = {"on_bad_client": "drop", "max_rows": 1_000_000}
    assert same(read.method, SSFMLFSMethod(("f0", "f1"), ranges="robust", n_labels=2, **rules))
    assert read.min_rows == SITE.min_rows


@pytest.mark.parametrize(
    ("features", "labels", "key"), [(None, None, "features"), (None, ["y"], "features"), (["f0"], None, "labels")]
)
def test_a_template_is_refused_until_it_is_filled_in(tmp_path, features, labels, key):
    file = tmp_path / "federation.toml"
    file.write_text(agreement_text("fed", "h:1", ["a", "b"], features, labels))
    with pytest.raises(DataError, match=rf"toml: \[columns\] {key} is still marked 'FILL IN'.*federation pack"):
        read_agreement(file)


KEY = keys.public_text(keys.new_key().public_key())
BASE = agreement_text(
    "fed",
    "h:1",
    ["a", "b"],
    ["f0", "f1"],
    ["y", "z"],
    method="SSFMLFS",
    ranges={"f0": (0.0, 1.0), "f1": (0.0, 2.0)},
    nominal=["f1"],
)


def fingerprint(*changes: tuple[str, str]) -> str:
    text = BASE
    for old, new in changes:
        assert text.count(old) == 1, (old, text)
        text = text.replace(old, new)
    return parse_agreement(text).fingerprint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "fed"', 'name = "other"'),
        ('features = ["f0", "f1"]', 'features = ["f1", "f0"]'),
        ('labels = ["y", "z"]', 'labels = ["z", "y"]'),
        ('labels = ["y", "z"]', 'labels = ["y"]'),
        ('nominal = ["f1"]', "nominal = []"),
        ('"f1" = [0.0, 2.0]', '"f1" = [0.0, 2.5]'),
        ("lam = 1.2", "lam = 1.3"),
        ("n_neighbors = 3", "n_neighbors = 4"),
        ("damping = 0.85", "damping = 0.5"),
        ('relation = "distance"', 'relation = "similarity"'),
        ('irrelevant = "least"', 'irrelevant = "nonnegative"'),
        ('decisions = "crisp"', 'decisions = "soft"'),
        ('spread = "pooled"', 'spread = "mean"'),
        ('wire = "auto"', 'wire = "vectors"'),
        ('missing = "error"', 'missing = "unrelated"'),
        ('constant = "last"', 'constant = "keep"'),
        ("tol = 1e-09", "tol = 1e-08"),
        ("max_iter = 500", "max_iter = 501"),
        ("max_iter = 500", "max_iter = 500\nn_features_to_select = 1"),
        ("min_clients = 2", "min_clients = 3"),
        ("max_sites_per_client = 1", "max_sites_per_client = 2"),
        ("max_rows = 1000000", "max_rows = 999999"),
        ('on_bad_client = "drop"', 'on_bad_client = "raise"'),
        ("max_message_bytes = 512000000", "max_message_bytes = 512000001"),
        ("timeout_seconds = 300", "timeout_seconds = 301"),
        ("min_rows = 50", "min_rows = 51"),
        ('"b" = ""\n', '"b" = ""\n"c" = ""\n'),
        ('"b" = ""\n', ""),
        ('"b" = ""\n', f'"b" = "{KEY}"\n'),
        ('"server" = ""\n', f'"server" = "{KEY}"\n'),
    ],
)
def test_the_fingerprint_changes_with_whatever_decides_the_result_or_what_leaves_a_site(old, new):
    assert fingerprint((old, new)) != fingerprint()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('address = "h:1"', 'address = "elsewhere.example.org:2"'),
        ("# features whose values are codes", "# our own words"),
        ("lam = 1.2\nn_neighbors = 3", "n_neighbors = 3\nlam = 1.2"),
        ('features = ["f0", "f1"]', 'features = [\n "f0",\n "f1",\n]'),
        ('"a" = ""\n"b" = ""', '"b" = ""\n"a" = ""'),
    ],
)
def test_the_fingerprint_does_not_change_with_the_server_s_address_or_the_writing(old, new):
    assert fingerprint((old, new)) == fingerprint()


@pytest.mark.parametrize("line", ["lam = 1.2\n", "tol = 1e-09\n", "min_clients = 2\n", "min_rows = 50\n"])
def test_a_value_that_is_left_out_counts_as_its_default(line):
    assert fingerprint((line, "")) == fingerprint()


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(DataError, match=r"federation\.toml: cannot be read: No such file"):
        read_agreement(tmp_path / "federation.toml")


def test_the_error_of_a_text_alone_names_no_file():
    with pytest.raises(ParameterError, match=r"^\[rounds\] min_clients"):
        parse_agreement(BASE.replace("min_clients = 2", "min_clients = 1"))
