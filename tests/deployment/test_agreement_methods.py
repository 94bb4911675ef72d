"""`federation.toml` says which method is meant; its parameters, and its fingerprint, are that method's."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve.deployment.agreement import parameters_of, parse_agreement, read_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.errors import DataError, ParameterError
from fedsieve.methods import METHODS, FedCMFSMethod, FMLFSMethod, SSFMLFSMethod

LABELED = ["FMLFS", "FedCMFS"]
PARAMETERS = {
    "FMLFS": st.fixed_dictionaries(
        {},
        optional={
            "n_features_to_select": st.integers(1, 2),
            "n_bins": st.integers(2, 99),
            "weighting": st.sampled_from(["rows", "plain"]),
            "relevance": st.sampled_from(["mean", "max"]),
        },
    ),
    "FedCMFS": st.fixed_dictionaries(
        {},
        optional={
            "n_features_to_select": st.integers(1, 2),
            "alpha": st.floats(0, 1),
            "max_conditioning": st.integers(0, 5),
            "max_pool": st.integers(1, 99),
            "wire": st.sampled_from(["statistics", "tests"]),
        },
    )
    | st.just({"combine": "pooled"}),
}


def text(method, features=("f0", "f1"), labels=("y", "z"), **sections):
    return agreement_text("fed", "h:1", ["a", "b"], list(features), list(labels), method=method, **sections)


def values(plan):
    return {field.name: getattr(plan, field.name) for field in dataclasses.fields(plan)}


@given(st.data(), st.sampled_from(LABELED))
def test_what_is_written_is_read_again(data, method):
    chosen = data.draw(PARAMETERS[method])
    read = parse_agreement(text(method, parameters=chosen, rounds={"min_clients": 3}, privacy={"min_rows": 7}))
    plan_type = {"FMLFS": FMLFSMethod, "FedCMFS": FedCMFSMethod}[method]
    meant = plan_type(
        ("f0", "f1"),
        labels=("y", "z"),
        ranges="robust",
        n_labels=2,
        on_bad_client="drop",
        max_rows=1_000_000,
        min_clients=3,
        **chosen,
    )
    assert type(read.method) is plan_type
    assert values(read.method) == values(meant)
    assert (read.labels, read.min_rows) == (("y", "z"), 7)


@pytest.mark.parametrize("method", METHODS)
def test_the_file_names_its_method_and_spells_out_that_method_s_parameters_only(method):
    lines = text(method).splitlines()
    assert f'method = "{method}"' in lines
    start = lines.index(next(line for line in lines if line.startswith("[parameters]")))
    written = {line.split(" = ")[0] for line in lines[start + 1 : lines.index("", start)]}
    spelled = {name for name, default in parameters_of(METHODS[method]).items() if default is not None}
    assert written == spelled
    assert ("missing" in written) == (method not in LABELED)


@pytest.mark.parametrize("method", METHODS)
def test_the_file_says_whose_tables_hold_the_labels(method):
    (line,) = (line for line in text(method).splitlines() if line.startswith("labels = "))
    whose = "the server's labeled table only" if method not in LABELED else "the server's and all sites' tables"
    assert line.endswith(f"# in {whose}")


def test_a_file_that_names_no_method_means_ssfmlfs():
    named = text("SSFMLFS")
    unnamed = named.replace('method = "SSFMLFS"\n', "")
    assert unnamed != named
    assert isinstance(parse_agreement(unnamed).method, SSFMLFSMethod)
    assert parse_agreement(unnamed).fingerprint == parse_agreement(named).fingerprint


@pytest.mark.parametrize(("method", "got"), [('"PCA"', "'PCA'"), ('"fmlfs"', "'fmlfs'"), ("5", "5"), ("[]", r"\[\]")])
def test_an_unknown_method_is_named_with_those_that_are_known(tmp_path, method, got):
    file = tmp_path / "federation.toml"
    file.write_text(text("FMLFS").replace('method = "FMLFS"', f"method = {method}"))
    known = ", ".join(map(repr, METHODS))
    with pytest.raises(DataError, match=rf"federation\.toml: the file: method must be one of {known}; got {got}\.$"):
        read_agreement(file)


def test_no_file_is_written_for_an_unknown_method():
    with pytest.raises(ParameterError, match=r"^the federation: method must be one of .*; got 'PCA'\.$"):
        text("PCA")


def test_every_method_has_its_own_fingerprint():
    assert len({parse_agreement(text(method)).fingerprint for method in METHODS}) == len(METHODS)


@pytest.mark.parametrize(
    ("method", "old", "new"),
    [
        ("FMLFS", "n_bins = 3", "n_bins = 4"),
        ("FMLFS", 'weighting = "rows"', 'weighting = "plain"'),
        ("FMLFS", 'relevance = "mean"', 'relevance = "max"'),
        ("FMLFS", 'labels = ["y", "z"]', 'labels = ["z", "y"]'),
        ("FMLFS", "min_rows = 50", "min_rows = 51"),
        ("FedCMFS", "max_pool = 10", "max_pool = 9"),
        ("FedCMFS", "max_pool = 10", "max_pool = 10\nalpha = 0.05"),
        ("FedCMFS", "max_conditioning = 2", "max_conditioning = 1"),
        ("FedCMFS", 'combine = "p-values"', 'combine = "pooled"'),
        ("FedCMFS", 'wire = "statistics"', 'wire = "tests"'),
    ],
)
def test_the_fingerprint_changes_with_whatever_decides_the_result_or_what_leaves_a_site(method, old, new):
    base = text(method)
    assert base.count(old) == 1
    assert parse_agreement(base.replace(old, new)).fingerprint != parse_agreement(base).fingerprint


@pytest.mark.parametrize(("method", "line"), [("FMLFS", "n_bins = 3\n"), ("FedCMFS", "max_pool = 10\n")])
def test_a_value_that_is_left_out_counts_as_its_default(method, line):
    base = text(method)
    assert base.count(line) == 1
    assert parse_agreement(base.replace(line, "")).fingerprint == parse_agreement(base).fingerprint


@pytest.mark.parametrize("method", LABELED)
@pytest.mark.parametrize("ranges", ["federated", "robust", {"f0": (0.0, 1.0), "f1": (0.0, 2.0)}])
def test_labeled_sites_know_all_ranges_but_each_site_s_own(method, ranges):
    assert parse_agreement(text(method, ranges=ranges)).method.ranges == ranges
    with pytest.raises(ParameterError) as refused:
        parse_agreement(text(method, ranges="local"))
    known = "'federated', 'robust' or {name: (low, high)}"
    assert str(refused.value) == f"{method}: ranges must be {known}; got 'local'."


@pytest.mark.parametrize("method", LABELED)
@pytest.mark.parametrize("name", ["lam", "missing", "features", "labels", "min_clients"])
def test_what_is_no_parameter_of_the_method_is_refused_by_name(method, name):
    with pytest.raises(ParameterError) as refused:
        parse_agreement(text(method, parameters={name: 1}))
    assert str(refused.value) == f"[parameters] has unknown '{name}'."


@pytest.mark.parametrize(("method", "name"), [("FMLFS", "alpha"), ("FedCMFS", "n_bins"), ("SSFMLFS", "n_bins")])
def test_a_parameter_of_another_method_is_refused_by_name(method, name):
    with pytest.raises(ParameterError, match=rf"^\[parameters\] has unknown '{name}'\.$"):
        parse_agreement(text(method, parameters={name: 2}))


@pytest.mark.parametrize("method", LABELED)
def test_the_plan_s_own_rules_are_told_with_the_method(method):
    with pytest.raises(ParameterError, match=rf"^{method}: takes no nominal features; got 'f1'\. Encode them\.$"):
        parse_agreement(text(method, nominal=["f1"]))
    with pytest.raises(ParameterError, match=r"^'f1' cannot be feature and label at once\.$"):
        parse_agreement(text(method, labels=["y", "f1"]))
