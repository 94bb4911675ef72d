"""Figures and the notebook's card of a fitted selector: they show what was found, and names stay names."""

import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from fedsieve import SSFMLFS, Sieve
from fedsieve.errors import DataError, MissingExtraError
from fedsieve.rivals import GRMFS

mpl.use("Agg")
NAMES = ["<b>age</b>", "cost $5 and $6", "c", "d", "e" * 90, "f", "g"]
QUICK = {"n_trees": 8, "n_bootstraps": 4}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.random((40, 7))
    X[:, 3] = X[:, 1] + 0.01 * rng.random(40)
    Y = np.column_stack([X[:, 1] > 0.5, X[:, 0] + X[:, 5] > 1]).astype(int)
    return pd.DataFrame(X, columns=NAMES), Y


@pytest.fixture(scope="module")
def sieve(rows):
    return Sieve(4, **QUICK).fit(*rows)


def test_the_ranking_has_a_bar_for_each_score_best_on_top(sieve):
    axes = sieve.plot.ranking(n=5)
    assert_allclose([bar.get_width() for bar in axes.patches], sieve.scores_[sieve.order_[:5]])
    assert axes.yaxis_inverted()
    gray = axes.patches[4].get_facecolor()
    assert [bar.get_facecolor() == gray for bar in axes.patches] == [False] * 4 + [True]


def test_the_curve_has_all_scores_and_the_cut(sieve):
    lines = {line.get_label(): line for line in sieve.plot.curve().lines}
    assert_allclose(lines["score"].get_ydata(), sieve.scores_[sieve.order_])
    assert_allclose(lines["chance"].get_ydata(), sieve.null_band_[sieve.order_])
    assert lines["4 selected"].get_xdata()[0] == 4.5


def test_stability_has_the_intervals(sieve):
    axes = sieve.plot.stability(n=3)
    segments = np.array(axes.collections[0].get_segments())[:, :, 0]
    assert_array_equal(segments, sieve.rank_interval_[sieve.order_[:3]])


@pytest.mark.parametrize("selector", [Sieve(4, **QUICK), SSFMLFS(4)], ids=["Sieve", "SSFMLFS"])
def test_the_map_and_the_graph_are_of_the_selected_features(selector, rows):
    fitted = selector.fit(*rows)
    axes = fitted.plot.redundancy()
    shown = axes.images[0].get_array()
    assert shown.shape == (4, 4)
    assert_allclose(shown, shown.T, atol=1e-12)
    assert len(fitted.plot.graph().texts) == 4
    axes.figure.canvas.draw()  # a formula in a name would fail here


def test_names_in_the_graph_stand_above_their_dots(sieve):
    axes = sieve.plot.graph()
    radii = np.sqrt(axes.collections[0].get_sizes() / np.pi)
    assert radii.max() > 7
    assert all(text.xyann[1] > radius for text, radius in zip(axes.texts, radii, strict=True))


def test_drawing_goes_into_given_axes(sieve):
    figure = mpl.figure.Figure()
    axes = figure.subplots()
    assert sieve.plot.ranking(ax=axes) is axes


def test_what_a_method_does_not_tell_is_said(rows):
    fitted = GRMFS(3).fit(*rows)
    assert len(fitted.plot.ranking().patches) == 7
    with pytest.raises(DataError, match="GRMFS: does not tell how stable ranks are; Sieve tells it"):
        fitted.plot.stability()
    with pytest.raises(DataError, match="GRMFS: does not tell how like the selected features are"):
        fitted.plot.graph()
    with pytest.raises(NotFittedError):
        Sieve().plot.ranking()


def test_without_matplotlib_the_extra_is_named(sieve, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"selector\.plot needs the package 'matplotlib'.*fedsieve\[report\]"):
        sieve.plot.curve()


def test_reasons_as_a_frame(sieve):
    frame = sieve.explain(as_frame=True)
    assert list(frame["feature"]) == [NAMES[i] for i in sieve.order_]
    assert frame["selected"].sum() == 4
    assert list(frame.columns) == list(sieve.explain()[0])


def test_a_notebook_shows_the_card_once_fitted(sieve):
    shown = sieve._repr_mimebundle_()["text/html"]
    assert "Sieve selected 4 of 7 features" in shown
    assert "&lt;b&gt;age&lt;/b&gt;" in shown
    assert "<b>age" not in shown
    assert "selected" not in Sieve()._repr_mimebundle_()["text/html"].split("<style")[0]
