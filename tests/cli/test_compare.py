"""`fedsieve compare`: two selections as tables, or as JSON."""

import json
import shutil

import pytest


@pytest.fixture(scope="module")
def shared(fedsieve, untouched, tmp_path_factory):
    """Two results, for tests that only look at them."""
    folder = tmp_path_factory.mktemp("compared")
    for name, k, method in (("first", 3, "sieve"), ("second", 2, "ssfmlfs")):
        assert fedsieve(*untouched.select("-k", k, method=method, out=folder / name)).code == 0
    return folder / "first", folder / "second"


@pytest.fixture
def results(shared, tmp_path):
    return tuple(shutil.copytree(folder, tmp_path / folder.name) for folder in shared)


def test_it_says_what_both_choose_and_what_changed(fedsieve, results):
    result = fedsieve("compare", *results)
    assert result.code == 0, result.err
    first, second = (json.loads((folder / "selection.json").read_text()) for folder in results)
    both = len(set(first["selected"]) & set(second["selected"]))
    told = " ".join(result.out.split())
    assert f"The first selects 3, the second 2; both select {both} (by chance 1.0, Jaccard" in told
    assert "Kendall" in told
    for name in set(first["selected"]) - set(second["selected"]):
        assert f"│ left │ {name}" in told


def test_json_has_all_of_it(fedsieve, results):
    result = fedsieve("compare", results[0] / "selection.json", results[1], "--json")
    found = json.loads(result.out)
    assert (found["methods"], found["n_selected"]) == (["Sieve", "SSFMLFS"], [3, 2])
    assert len(found["features"]) == 6


def test_a_selection_is_like_itself(fedsieve, results):
    assert "No feature entered or left, and no rank moved." in fedsieve("compare", results[0], results[0]).out


def test_unlike_features_are_said(fedsieve, results):
    file = results[1] / "selection.json"
    record = json.loads(file.read_text().replace('"noise"', '"NOISE"'))
    file.write_text(json.dumps(record))
    told = " ".join(fedsieve("compare", *results).out.split())
    assert "Compared on the 5 features that both rank; not in both: 'noise', 'NOISE'. Ranks are among" in told


def test_what_is_no_selection_is_refused(fedsieve, results, tables):
    tables["x.json"].write_text("{}")
    assert "x.json: is no selection of format" in fedsieve("compare", tables["x.json"], results[1]).message
