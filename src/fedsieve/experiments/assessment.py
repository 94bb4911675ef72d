"""What an evaluation found: values per fold, their means and spreads, differences of pairs, and a verdict in words."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from fedsieve.arrays import Float
from fedsieve.catalog import ALL_FEATURES, RANDOM
from fedsieve.experiments.evaluation import HIGHER_IS_BETTER, MEASURES
from fedsieve.experiments.summary import VERDICTS
from fedsieve.learning import metrics
from fedsieve.text import counted

F1 = "micro_f1"
OF_PREDICTIONS = {F1: metrics.micro_f1}
LARGER_IS_BETTER = {**HIGHER_IS_BETTER, F1: True}
METRICS = (*MEASURES, *OF_PREDICTIONS)
FIRST = "average_precision"  # the metric of the verdict
CONFIDENCE = 0.95
LITTLE = 0.01  # of average precision: a lead that is surely less pays for no selection
UNDECIDED = "not shown to differ from"  # of few rows: that nothing was seen does not say that nothing is there
OWN = "own"  # the point at which a selector keeps as many features as it would


class Difference(NamedTuple):
    """By how much one is better than another in the same folds, and between what the true mean may lie.

    Both bounds are infinite where the folds do not tell.
    """

    mean: float
    low: float
    high: float

    @property
    def has_interval(self) -> bool:
        """Whether the folds tell anything of how far the mean may be off."""
        return bool(np.isfinite(self.high))

    @property
    def verdict(self) -> str:
        """Better or worse only where the whole interval is."""
        better, _, worse = VERDICTS
        return better if self.low > 0 else worse if self.high < 0 else UNDECIDED


def difference(ours: Float, theirs: Float, metric: str, n_folds: int) -> Difference:
    """The mean over folds of how much better ours is, with its 95 % interval.

    Folds share most of their training rows, so that their values vary together and a plain t interval is too short.
    Nadeau and Bengio ("Inference for the generalization error", 2003) widen it: the variance of the mean of J
    differences is (1 / J + n_test / n_train) times theirs. Where all differences are the same and not zero, they say
    nothing of their spread, and no interval follows: of few folds, or of a metric of few steps, that is chance.

    >>> difference(np.array([0.7, 0.9]), np.array([0.6, 0.6]), "average_precision", 2).mean
    0.2
    """
    gains = (ours - theirs) * (1 if LARGER_IS_BETTER[metric] else -1)
    gains = np.round(gains, 12)  # of two that are the same, nothing is left
    mean, n_values = float(gains.mean()), len(gains)
    if mean and np.ptp(gains) == 0:
        return Difference(mean, -np.inf, np.inf)
    error = np.sqrt((1 / n_values + 1 / (n_folds - 1)) * gains.var(ddof=1))
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, n_values - 1) * error)
    return Difference(mean, mean - reach, mean + reach)


@dataclass(frozen=True, eq=False)
class Assessment:
    """What `fedsieve.evaluate` returns; `print` it for the verdict.

    `rows` has a dict per method, classifier, number of features and fold, `summary` one per metric with means, spreads
    and paired differences; both are made for a data frame. `verdict` says it in words.
    """

    method: str  # what is judged
    others: tuple[str, ...]  # what it is compared with
    classifiers: tuple[str, ...]
    sizes: tuple[int, ...]  # numbers of features that were tried
    n_features: int
    n_rows: int
    n_labels: int
    n_folds: int
    n_repeats: int
    rows: tuple[dict[str, Any], ...]
    chosen: Mapping[str, float]  # feature -> in which share of the folds it was selected
    notes: tuple[str, ...] = ()

    @cached_property
    def _values(self) -> dict[tuple[str, str, int | str], dict[str, Float]]:
        """(method, classifier, point) -> metric -> one value per fold, in the same order for all."""
        found: dict[tuple[str, str, int | str], list[dict[str, Any]]] = defaultdict(list)
        for row in self.rows:
            points: list[int | str] = [*self.sizes, OWN]
            if row["method"] != ALL_FEATURES:
                points = [row["n_features"]] * (row["n_features"] in self.sizes) + [OWN] * row[OWN]
            for point in points:
                found[row["method"], row["classifier"], point].append(row)
        columns = (*METRICS, "n_features")
        return {key: {name: np.array([row[name] for row in rows]) for name in columns} for key, rows in found.items()}

    def mean(self, method: str, classifier: str, point: int | str, metric: str = FIRST) -> float:
        """The mean over folds at a number of features, or at the selector's own ("own")."""
        return float(self._values[method, classifier, point][metric].mean())

    def deviation(self, method: str, classifier: str, point: int | str, metric: str = FIRST) -> float:
        """The standard deviation over folds."""
        return float(self._values[method, classifier, point][metric].std(ddof=1))

    def gain(self, other: str, classifier: str, point: int | str = OWN, metric: str = FIRST) -> Difference:
        """By how much what is judged is better than another method, in the same folds."""
        ours, theirs = (self._values[method, classifier, point] for method in (self.method, other))
        return difference(ours[metric], theirs[metric], metric, self.n_folds)

    @cached_property
    def summary(self) -> list[dict[str, Any]]:
        """A dict per classifier, number of features, metric and method."""
        table = []
        for method, classifier, point in self._values:
            compared = method != self.method and (self.method, classifier, point) in self._values
            for metric in METRICS:
                found = self.gain(method, classifier, point, metric) if compared else None
                bounds = (found.low, found.high) if found is not None and found.has_interval else (None, None)
                table.append(
                    {
                        "classifier": classifier,
                        "n_features": self.mean(self.method, classifier, OWN, "n_features") if point == OWN else point,
                        OWN: point == OWN,
                        "metric": metric,
                        "method": method,
                        "mean": self.mean(method, classifier, point, metric),
                        "deviation": self.deviation(method, classifier, point, metric),
                        "gain": found and found.mean,
                        "gain_low": bounds[0],
                        "gain_high": bounds[1],
                        "verdict": found and f"{self.method} is {found.verdict} {method}",
                    }
                )
        return table

    @property
    def folds(self) -> str:
        """How rows were held out, in words."""
        repeats = f"{self.n_repeats} times " if self.n_repeats > 1 else ""
        return f"{repeats}{self.n_folds} folds of {counted(self.n_rows, 'labeled row')}"

    @cached_property
    def verdict(self) -> tuple[str, ...]:
        """Sentences: what was selected, how it does by each classifier, and whether it is worth it."""
        mean_size = self.mean(self.method, self.classifiers[0], OWN, "n_features")
        size = f"{mean_size:.0f}" if mean_size == round(mean_size) else f"about {mean_size:.1f}"
        lines = [f"{self.method}: {size} of {self.n_features} features, judged in {self.folds}."]
        for classifier in self.classifiers:
            value = self.mean(self.method, classifier, OWN), self.deviation(self.method, classifier, OWN)
            said = "; ".join(_said(self.gain(other, classifier), other) for other in self.others)
            lines.append(f"{classifier}: average precision {value[0]:.4f} ± {value[1]:.4f}; {said}.")
        return (*lines, self._conclusion(), *self.notes)

    def _conclusion(self) -> str:
        better, _, worse = VERDICTS
        of_random = {classifier: self.gain(RANDOM, classifier) for classifier in self.classifiers}
        above = [classifier for classifier, gain in of_random.items() if gain.verdict == better]
        if len(above) == len(of_random):
            of_all = {classifier: self.gain(ALL_FEATURES, classifier) for classifier in self.classifiers}
            lost = [classifier for classifier, gain in of_all.items() if gain.verdict == worse]
            unknown = [classifier for classifier, gain in of_all.items() if not gain.has_interval]
            if unknown and not lost:
                words = "Better than as many random features; not known whether all features are better"
                return f"{words} ({_all(unknown)})."
            if not lost:
                return "Worth it: better than as many random features, and not worse than all features."
            return f"Better than as many random features, but something is lost against all features ({_all(lost)})."
        if above:
            rest = [classifier for classifier in of_random if classifier not in above]
            return f"Undecided: better than as many random features by {_all(above)}, not by {_all(rest)}."
        if any(gain.verdict == worse for gain in of_random.values()):
            return "Not worth it: as many random features do better."
        most = max(gain.high for gain in of_random.values())
        if most < LITTLE:
            return f"Not worth it: better than as many random features by {most:.4f} at most."
        return (
            "Not known: these rows do not tell whether it is better than as many random features. More labeled rows "
            "may, or more repeats."
        )

    def __str__(self) -> str:
        return "\n".join(self.verdict)


def _said(gain: Difference, other: str) -> str:
    interval = f"{CONFIDENCE:.0%} interval {gain.low:+.4f} to {gain.high:+.4f}"
    shown = f"{gain.mean:+.4f}, {interval if gain.has_interval else 'the same in every fold'}"
    return f"{gain.verdict} {'random features' if other == RANDOM else other} ({shown})"


def _all(names: list[str]) -> str:
    return " and ".join(names)
