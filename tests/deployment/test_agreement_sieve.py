"""An agreement on Sieve: its parameters, groups and codes are written, read again, and part of the fingerprint."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve import messages as m
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.errors import ParameterError
from fedsieve.methods import SieveMethod

FEATURES = ["f0", "color", 'quote"d', "größe", "[groups]", "two\nlines"]
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "n_features_to_select": st.integers(1, 3) | st.just("auto"),
        "ridge": st.floats(1e-6, 1e6) | st.just("auto"),
        "blend": st.sampled_from(["regression", "views"]),
        "n_trees": st.integers(1, 999),
        "n_bootstraps": st.integers(0, 99),
        "screen": st.integers(2, 10**6),
        "seed": st.integers(0, 2**31),
    },
) | st.fixed_dictionaries({"fdr": st.floats(0.01, 0.99)})


def text(features=tuple(FEATURES), **sections):
    return agreement_text("fed", "h:1", ["a", "b"], list(features), ["y", "z"], method="Sieve", **sections)


def test_a_new_agreement_is_on_sieve_unless_another_method_is_named():
    new = agreement_text("fed", "h:1", ["a", "b"], FEATURES, ["y", "z"])
    assert new == text()
    assert '\nmethod = "Sieve"\n' in new


def plain(plan):
    """All values of a plan, lists as tuples."""
    values = {field.name: getattr(plan, field.name) for field in dataclasses.fields(plan)}
    return {**values, "groups": tuple(map(tuple, plan.groups))}


@st.composite
def some_groups(draw):
    """Groups that do not overlap, of one feature or more."""
    drawn = draw(st.lists(st.sampled_from(FEATURES), unique=True, max_size=4))
    cut = draw(st.integers(0, len(drawn)))
    return [part for part in (drawn[:cut], drawn[cut:]) if part]


@given(PARAMETERS, some_groups(), st.lists(st.sampled_from(FEATURES), unique=True, max_size=3))
def test_what_is_written_is_read_again(chosen, groups, nominal):
    rounds = {"min_clients": 3, "max_sites_per_client": 2, "max_rows": 5000}
    written = text(nominal=nominal, parameters={**chosen, "groups": groups}, rounds=rounds, privacy={"min_rows": 7})
    read = parse_agreement(written)
    meant = SieveMethod(
        tuple(FEATURES),
        nominal=tuple(nominal),
        groups=groups,
        ranges="robust",
        n_labels=2,
        on_bad_client="drop",
        **rounds,
        **chosen,
    )
    assert type(read.method) is SieveMethod
    assert plain(read.method) == plain(meant)
    assert (read.labels, read.min_rows) == (("y", "z"), 7)
    assert list(read.method.unit_of) == list(meant.unit_of)


def test_defaults_are_those_of_the_plan_except_that_a_bad_site_is_dropped():
    assert plain(parse_agreement(text()).method) == plain(
        SieveMethod(tuple(FEATURES), ranges="robust", n_labels=2, on_bad_client="drop", max_rows=1_000_000)
    )


def test_a_site_answers_what_the_file_says():
    def kinds(**sections):
        return [terms.request for terms in parse_agreement(text(**sections)).method.terms()]

    assert kinds() == [m.AskHistograms, m.AskMeans, m.AskCovariances]
    assert kinds(parameters={"missing": "error"}) == [m.AskHistograms, m.AskCovariances]
    assert kinds(nominal=["color"]) == [m.AskHistograms, m.AskMeans, m.AskProjections, m.AskCovariances]
    assert kinds(ranges="federated") == [m.AskRanges, m.AskMeans, m.AskCovariances]
    declared = dict.fromkeys(FEATURES, (0.0, 1.0))
    assert kinds(ranges=declared) == [m.AskWholeCovariances, m.AskMeans, m.AskCovariances]
    assert kinds(ranges=declared, parameters={"missing": "error"}) == [m.AskCovariances]


def test_the_labels_stay_with_the_server_and_codes_are_told():
    written = text(nominal=["color"])
    assert 'labels = ["y", "z"]  # in the server\'s labeled table only' in written
    assert 'nominal = ["color"]  # features whose values are codes' in written
    assert 'ranges = "robust"  # federated, robust, or declared as in [ranges]' in written
    assert 'missing = "mean"\ncenter = "federation"' in written


BASE = text(["f0", "f1", "f2"], nominal=["f1"], parameters={"n_features_to_select": "auto", "groups": [["f0", "f2"]]})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('n_features_to_select = "auto"', "n_features_to_select = 2"),
        ('n_features_to_select = "auto"\n', ""),
        ('groups = [["f0", "f2"]]', 'groups = [["f0"], ["f2"]]'),
        ('groups = [["f0", "f2"]]', "groups = []"),
        ('nominal = ["f1"]', "nominal = []"),
        ('ridge = "auto"', "ridge = 0.3"),
        ('blend = "regression"', 'blend = "views"'),
        ("n_trees = 200", "n_trees = 201"),
        ("n_bootstraps = 20", "n_bootstraps = 0"),
        ("screen = 2000", "screen = 1999"),
        ("seed = 0", "seed = 1"),
        ("min_rows = 50", "min_rows = 51"),
    ],
)
def test_the_fingerprint_changes_with_whatever_decides_the_result_or_what_leaves_a_site(old, new):
    assert BASE.count(old) == 1
    assert parse_agreement(BASE.replace(old, new)).fingerprint != parse_agreement(BASE).fingerprint


@pytest.mark.parametrize(
    "line", ['ridge = "auto"\n', 'blend = "regression"\n', "n_trees = 200\n", "screen = 2000\n", "seed = 0\n"]
)
def test_a_value_that_is_left_out_counts_as_its_default(line):
    assert BASE.count(line) == 1
    assert parse_agreement(BASE.replace(line, "")).fingerprint == parse_agreement(BASE).fingerprint


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"groups": ["f0", "color"]}, "Sieve: groups must be lists of features; got ['f0', 'color']."),
        ({"groups": [["f0", "color"], ["color"]]}, "Sieve: groups must not overlap; 'color' occurs twice."),
        ({"groups": [["height"]]}, "Sieve: groups name no such feature: 'height'."),
        ({"groups": [[]]}, "Sieve: a group needs at least one feature; got an empty one."),
        (
            {"groups": [["f0", "color"]], "n_features_to_select": 6},
            "Sieve: n_features_to_select must be a whole number in [1, groups=5], "
            'a share between 0 and 1, or "auto"; got 6.',
        ),
        (
            {"n_features_to_select": "all"},
            "Sieve: n_features_to_select must be a whole number in [1, n_features=6], "
            "a share between 0 and 1, or \"auto\"; got 'all'.",
        ),
        ({"ridge": 0.0}, "Sieve: ridge must be above 0 and at most 1e6, or 'auto'; got 0.0."),
        ({"missing": "unrelated"}, "Sieve: missing must be one of 'error', 'mean', 'indicator'; got 'unrelated'."),
        ({"lam": 1.2}, "[parameters] has unknown 'lam'."),
        ({"nominal": ["f0"]}, "[parameters] has unknown 'nominal'."),
    ],
    ids=str,
)
def test_what_does_not_fit_is_named(parameters, said):
    with pytest.raises(ParameterError) as refused:
        parse_agreement(text(parameters=parameters))
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("ranges", "said"),
    [
        ("local", "Sieve: ranges must be 'federated', 'robust' or {name: (low, high)}; got 'local'."),
        (
            {"f0": (0.0, 1.0)},
            "Sieve: ranges declares no range for 'color', 'quote\"d', 'größe', '[groups]', 'two\\nlines'. "
            "Declare all features.",
        ),
    ],
    ids=["local", "declared of one"],
)
def test_ranges_that_sieve_does_not_know_are_named(ranges, said):
    with pytest.raises(ParameterError) as refused:
        parse_agreement(text(ranges=ranges))
    assert str(refused.value) == said


def test_bounds_of_robust_ranges_are_written_and_read_again():
    bounds = {"f0": (-1.0, 2.5), "größe": (0.0, 300.0)}
    read = parse_agreement(text(bounds=bounds))
    assert read.method.bounds == bounds
    assert read.fingerprint != parse_agreement(text()).fingerprint
    with pytest.raises(ParameterError, match=r"^Sieve: bounds are for ranges='robust'; got ranges='federated'\.$"):
        parse_agreement(text(bounds=bounds, ranges="federated"))
