"""A selection from its file: a fitted transformer like the selector that found it."""

import json
import pickle

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import fedsieve
from fedsieve import Sieve
from fedsieve.errors import DataError
from fedsieve.methods import SieveMethod
from fedsieve.protocol import Labeled
from fedsieve.selection_file import pairs_record, selection_record, write_selection
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process

NAMES = ("age", "weight [kg]", "dose", "größe", "pulse")
QUICK = {"n_trees": 8, "n_bootstraps": 3}


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(np.random.default_rng(2).normal(size=(90, 5)), columns=list(NAMES))


@pytest.fixture(scope="module")
def labels(frame):
    return np.column_stack([frame["dose"] > 0, frame["age"] + frame["dose"] > 0.5]).astype(int)[:40]


@pytest.fixture(scope="module")
def selector(frame, labels):
    return Sieve(2, **QUICK).fit(frame[:40], labels, clients={"a": frame[40:65], "b": frame[65:]})


@pytest.fixture
def folder(frame, labels, tmp_path):
    sites = {name: ArrayTable(NAMES, part.to_numpy()) for name, part in (("a", frame[40:65]), ("b", frame[65:]))}
    method = SieveMethod(NAMES, n_features_to_select=2, **QUICK)
    outcome = in_process.select(method, Labeled(frame[:40].to_numpy(), labels.astype(float)), sites)
    write_selection(selection_record(method, outcome, ["sick", "old"]), tmp_path)
    return tmp_path


def test_it_is_the_selector_that_was_fitted(folder, selector, frame):
    for loaded in (fedsieve.load_selection(folder), fedsieve.load_selection(str(folder / "selection.json"))):
        for name in ("scores_", "order_", "ranking_", "support_", "feature_names_in_"):
            assert_array_equal(getattr(loaded, name), getattr(selector, name), err_msg=name)
        assert loaded.n_features_in_ == 5
        assert_array_equal(loaded.transform(frame), selector.transform(frame))
        assert_array_equal(loaded.get_support(indices=True), selector.get_support(indices=True))
        assert_array_equal(loaded.get_feature_names_out(), selector.get_feature_names_out())
        few = selector.transform(frame)
        assert_array_equal(loaded.inverse_transform(few), selector.inverse_transform(few))


def test_frames_in_frames_out(folder, selector, frame):
    loaded = fedsieve.load_selection(folder).set_output(transform="pandas")
    pd.testing.assert_frame_equal(loaded.transform(frame), frame.loc[:, selector.support_])


def test_a_table_it_does_not_fit_is_refused_in_the_words_of_the_selector(folder, selector, frame):
    loaded = fedsieve.load_selection(folder)
    for wrong in (frame.rename(columns={"age": "Age"}), frame[list(NAMES[:4])]):
        said = []
        for transformer in (selector, loaded):
            with pytest.raises(ValueError, match=r".") as caught:
                transformer.transform(wrong)
            said.append(str(caught.value).replace("LoadedSelection", "Sieve"))
        assert said[0] == said[1]
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.fit(frame.rename(columns={"age": "Age"}))


def test_columns_are_found_by_name_in_the_whole_table_that_a_site_has(folder, selector, frame):
    loaded = fedsieve.load_selection(folder).set_output(transform="pandas")
    table = frame.assign(ward="north", patient_id=range(len(frame)))[["ward", *NAMES[::-1], "patient_id"]]
    pd.testing.assert_frame_equal(loaded.fit(table).transform(table), frame.loc[:, selector.support_])


def test_missing_values_pass_through_it(folder, frame):
    holed = frame.copy()
    holed.iloc[3] = np.nan
    assert np.isnan(fedsieve.load_selection(folder).transform(holed)[3]).all()


def test_a_pipeline_that_is_fitted_cloned_or_pickled_keeps_it(folder, selector, frame, labels):
    loaded = fedsieve.load_selection(folder)
    assert_array_equal(clone(loaded).support_, selector.support_)
    assert_array_equal(pickle.loads(pickle.dumps(loaded)).transform(frame), selector.transform(frame))
    model = make_pipeline(loaded, LogisticRegression())
    scores = cross_val_score(model, frame[:40], labels[:, 0], cv=3)
    assert np.mean(scores) > 0.8  # the label is the sign of a chosen feature
    assert model.fit(frame[:40], labels[:, 0])[0] is loaded


def test_its_reasons_are_those_of_the_file(folder, selector):
    told, fitted = fedsieve.load_selection(folder).explain(), selector.explain()
    assert [row["feature"] for row in told] == [row["feature"] for row in fitted]
    for row, own in zip(told, fitted, strict=True):
        for name in ("rank", "selected", "redundant_with", "rank_low", "rank_high"):
            assert row[name] == own[name], name
        for name in ("score", "chance", "redundancy"):
            assert row[name] == pytest.approx(own[name], abs=1e-12), name
        assert row["why"] == own["why"].replace("'y0'", "'sick'").replace("'y1'", "'old'")


def test_a_file_of_before_the_list_of_features_is_read_by_its_scores(folder):
    file = folder / "selection.json"
    record = json.loads(file.read_text())
    del record["features"], record["why"], record["per_label"]
    file.write_text(json.dumps(record))
    loaded = fedsieve.load_selection(file)
    assert loaded.feature_names_in_.tolist() == list(NAMES)
    assert "why" not in loaded.explain()[0]


DAMAGE = {
    "lacks parts of a selection": lambda r: r.pop("scores"),
    "is no selection of format": lambda r: r.update(format="other/1"),
    "no beginning of an order": lambda r: r.update(selected=r["order"][1:]),
    "no beginning of an order of": lambda r: r.update(features=["age"]),
    "its scores are no numbers": lambda r: r["scores"].update(age="high"),
}


@pytest.mark.parametrize("said", DAMAGE)
def test_a_damaged_or_foreign_file_is_one_clear_error(folder, said):
    file = folder / "selection.json"
    record = json.loads(file.read_text())
    DAMAGE[said](record)
    file.write_text(json.dumps(record))
    with pytest.raises(DataError, match=rf"selection\.json: .*{said}"):
        fedsieve.load_selection(folder)
    with pytest.raises(DataError, match=r"selection\.json: cannot be read: No such file"):
        fedsieve.load_selection(folder / "nothing" / "selection.json")


def drawn(axes) -> list:
    return [line.get_xydata().tolist() for line in axes.lines] + [text.get_text() for text in axes.get_yticklabels()]


def test_it_draws_what_its_file_tells(frame, labels, selector, tmp_path):
    method = SieveMethod(NAMES, n_features_to_select=2, **QUICK)
    sites = {name: ArrayTable(NAMES, part.to_numpy()) for name, part in (("a", frame[40:65]), ("b", frame[65:]))}
    outcome = in_process.select(method, Labeled(frame[:40].to_numpy(), labels.astype(float)), sites)
    record = selection_record(method, outcome, ["sick", "old"])
    write_selection(record | {"pairs": pairs_record(method, outcome.selection)}, tmp_path)
    loaded = fedsieve.load_selection(tmp_path)
    with mpl.rc_context({"backend": "agg"}):
        for name in ("stability", "curve", "ranking"):
            assert drawn(getattr(loaded.plot, name)()) == drawn(getattr(selector.plot, name)()), name
        maps = [one.plot.redundancy().images[0].get_array() for one in (loaded, selector)]
        np.testing.assert_allclose(*maps, atol=1e-3)
        assert len(loaded.plot.graph().texts) == 2
        pyplot.close("all")


def test_what_its_file_does_not_tell_is_said_of_the_file(folder):
    loaded = fedsieve.load_selection(folder)
    with pytest.raises(DataError, match=r"does not tell how like the selected features.*; the file of whoever ran it"):
        loaded.plot.redundancy()
    loaded.record_["columns"] = ["scores"]
    assert loaded.rank_interval_ is None
    with pytest.raises(DataError, match=r"does not tell how stable ranks are; the file of a selection by Sieve"):
        loaded.plot.stability()
