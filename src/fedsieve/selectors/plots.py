"""Figures of a fitted selector, `selector.plot.ranking()` and others: matplotlib axes, to be changed and saved."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fedsieve.arrays import Float, Int
from fedsieve.errors import DataError, extra_needed
from fedsieve.measures.arrangement import clustered, laid_out
from fedsieve.protocol.outcome import CORRELATION

BLUE, ORANGE, GRAY = "#0b5a9c", "#b04a00", "#8b98a5"  # told apart by all kinds of color sight
NEAREST = 2  # features that each one is linked with in the graph
LONGEST = 30  # characters of a name
GAP = 3  # points between a dot and its name


class Plots:
    """The figures; each takes `ax`, axes to draw into, or makes new ones, and returns the axes."""

    def __init__(self, selector: Any) -> None:
        self._selector = selector

    def ranking(self, n: int = 20, ax: Any = None) -> Any:
        """Scores of the n best features; those that are not selected in gray."""
        selector, order = self._fitted(), self._selector.order_[:n]
        axes = ax or _new_axes((6.0, 0.6 + 0.25 * len(order)))
        colors = [BLUE if selector.support_[i] else GRAY for i in order]
        axes.barh(range(len(order)), selector.scores_[order], color=colors)
        self._name_rows(axes, order)
        axes.set_xlabel("score")
        return axes

    def curve(self, ax: Any = None) -> Any:
        """All scores from best to worst, with the cut; of Sieve also what is rarely reached by chance."""
        selector = self._fitted()
        axes, ranks, k = ax or _new_axes((6.0, 3.6)), np.arange(1, len(selector.order_) + 1), selector.support_.sum()
        chance = getattr(selector, "_chance", None)
        if chance is not None:
            axes.plot(ranks, chance()[selector.order_], color=GRAY, linewidth=1, label="chance")
        axes.plot(ranks, selector.scores_[selector.order_], color=BLUE, label="score")
        axes.axvline(k + 0.5, color=ORANGE, linestyle="--", label=f"{k} selected")
        axes.set_xlabel("rank")
        axes.set_ylabel("score")
        axes.legend(frameon=False)
        return axes

    def stability(self, n: int = 20, ax: Any = None) -> Any:
        """The ranks of the n best features in nine of ten bootstraps; a dot at the rank itself."""
        selector = self._fitted()
        interval = getattr(selector, "rank_interval_", None)
        if interval is None or np.isnan(interval).all():
            raise self._unknown(
                "how stable ranks are",
                "Sieve tells it, with n_bootstraps above 0",
                "the file of a selection by Sieve does, with n_bootstraps above 0",
            )
        order = selector.order_[:n]
        axes, rows = ax or _new_axes((6.0, 0.6 + 0.25 * len(order))), np.arange(len(order))
        axes.hlines(rows, interval[order, 0], interval[order, 1], color=GRAY, linewidth=3)
        axes.plot(rows + 1, rows, "o", color=BLUE)
        self._name_rows(axes, order)
        axes.set_xlabel("rank")
        return axes

    def redundancy(self, ax: Any = None) -> Any:
        """A map of how like the selected features are to each other, like ones side by side."""
        measure, values, features = self._pairs()
        order = clustered(_apart(measure, values))
        axes = ax or _new_axes((5.6, 4.6))
        near_is_dark = "Blues" if measure == CORRELATION else "Blues_r"
        image = axes.imshow(values[np.ix_(order, order)], cmap=near_is_dark, vmin=0)
        axes.figure.colorbar(image, ax=axes, label=f"absolute {measure}" if measure == CORRELATION else measure)
        axes.set_yticks(range(len(order)), self._names(features[order]), fontsize=8)
        axes.set_xticks([])
        return axes

    def graph(self, ax: Any = None) -> Any:
        """The selected features as points, like ones near each other and linked; the larger, the better the score."""
        measure, values, features = self._pairs()
        apart = _apart(measure, values)
        points, axes = laid_out(apart), ax or _new_axes((5.6, 5.6))
        apart = apart + np.diag(np.full(len(apart), np.inf))
        for i, nearest in enumerate(np.argsort(apart, axis=1, kind="stable")[:, : min(NEAREST, len(apart) - 1)]):
            for j in nearest:
                axes.plot(*points[[i, j]].T, color=GRAY, linewidth=0.8, zorder=1)
        scores = self._selector.scores_[features]
        sizes = 30 + 150 * (scores - scores.min()) / (np.ptp(scores) or 1.0)
        axes.scatter(*points.T, s=sizes, color=BLUE, zorder=2)
        above = np.sqrt(sizes / np.pi) + GAP  # a size is an area in square points
        for point, name, offset in zip(points, self._names(features), above.tolist(), strict=True):
            axes.annotate(name, point, xytext=(0, offset), textcoords="offset points", ha="center", fontsize=8)
        axes.set_axis_off()
        return axes

    def _fitted(self) -> Any:
        check_is_fitted(self._selector)
        return self._selector

    def _pairs(self) -> tuple[str, Float, Int]:
        pairs: tuple[str, Float, Int] | None = getattr(self._fitted(), "_alike", None)
        if pairs is None:
            raise self._unknown(
                "how like the selected features are to each other",
                "Sieve and SSFMLFS do; SSFMLFS with wire='vectors' needs selected_distance=True",
                "the file of whoever ran it does, by Sieve or SSFMLFS; that of a site does not",
            )
        return pairs

    def _unknown(self, what: str, who: str, which_file: str) -> DataError:
        if hasattr(self._selector, "record_"):
            return DataError(f"{self._selector.path}: does not tell {what}; {which_file}.")
        return DataError(f"{type(self._selector).__name__}: does not tell {what}; {who}.")

    def _name_rows(self, axes: Any, order: Int) -> None:
        axes.set_yticks(range(len(order)), self._names(order), fontsize=8)
        axes.invert_yaxis()

    def _names(self, features: Int) -> list[str]:
        """As text: a dollar sign would start a formula."""
        names = getattr(self._selector, "feature_names_in_", None)
        told = [f"x{i}" if names is None else str(names[i]) for i in features]
        return [(name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…").replace("$", r"\$") for name in told]


def _apart(measure: str, values: Float) -> Float:
    return 1.0 - values if measure == CORRELATION else values


def _new_axes(size: tuple[float, float]) -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise extra_needed("selector.plot", "matplotlib", "report") from None
    return pyplot.subplots(figsize=size, layout="constrained")[1]
