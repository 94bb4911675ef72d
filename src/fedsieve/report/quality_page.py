"""The tables of a page about the quality of selections, such as `docs/selection-quality.md`.

The words around them are written by hand. A table stands between two marks, `<!-- NAME: gains -->` and
`<!-- end of NAME: gains -->`, NAME being the experiment's: several may share a page. One without marks is left out.
"""

from collections.abc import Callable, Sequence
from math import isnan
from statistics import median

import numpy as np

from fedsieve.catalog import RANDOM
from fedsieve.errors import ParameterError
from fedsieve.experiments.config import Contender, Experiment
from fedsieve.experiments.gains import Estimate, Gains
from fedsieve.experiments.records import Record
from fedsieve.report.markdown_table import markdown_table

OURS = "Sieve"
NOISE = ("cal500",)  # whose scale is noise: left out of bars
NEIGHBORS_AND_REGRESSION, FOREST = ("ML-kNN", "logistic"), ("random forest",)
BARS = ((NEIGHBORS_AND_REGRESSION, 0.80), (FOREST, 0.65))  # G over these classifiers
WON = 7 / 9  # of the datasets, against each of RIVALS
RIVALS = (("extra-trees", "server"), ("RLSR", "server"))
MOST_BELOW = 0.02  # of the cells may be below random features


def with_tables(text: str, experiment: Experiment, records: dict[str, Record]) -> str:
    """The page's text with the tables of these records."""
    page = QualityPage(experiment, records)
    tables: dict[str, Callable[[], list[str]]] = {
        "seeds": page.seeds,
        "bars": page.bars,
        "gains": page.gains,
        "ranks": page.ranks,
        "datasets": page.datasets,
        "wins": page.wins,
        "seconds": page.seconds,
    }
    for name, table in tables.items():
        begin, end = f"<!-- {experiment.name}: {name} -->\n", f"<!-- end of {experiment.name}: {name} -->"
        before, mark, rest = text.partition(begin)
        if mark:
            _, mark, after = rest.partition(end)
            if not mark:
                raise ParameterError(f"{experiment.name}: the page has no mark {end!r}.")
            text = "\n".join([before + begin, *table(), "", end + after])
    return text


class QualityPage:
    """One experiment of kind "quality", table by table, from the records that there are."""

    def __init__(self, experiment: Experiment, records: dict[str, Record]) -> None:
        self.experiment, self.records = experiment, records
        self.ours, random = (_needed(experiment, name) for name in (OURS, RANDOM))
        self.found = Gains(experiment, records, random, self.ours)
        self.methods = experiment.contenders
        (point,) = experiment.points
        self.labels = {"server": f"{100 * point.labeled:g} %", "all": "100 %", "none": "none"}

    def seeds(self) -> list[str]:
        """What is in the tables, and what of the experiment is not recorded yet."""
        rows = []
        for dataset in self.experiment.datasets:
            measured = [self.found.of.get((dataset, classifier)) for classifier in self.found.classifiers]
            rows.append([_name(dataset), *(f"{len(m.seeds) if m else 0}" for m in measured)])
        return [
            *markdown_table(["dataset", *self.found.classifiers], rows),
            "",
            f"Seeds of which all {len(self.methods)} entries are recorded, of {len(self.experiment.seeds)}.",
        ]

    def bars(self) -> list[str]:
        """What was to be reached, and whether it is."""
        rows = []
        for classifiers, least in BARS:
            if set(classifiers) <= set(self.found.classifiers):
                g = self.found.mean(self.ours, classifiers, without=NOISE)
                what = f"G at least {least:.2f} with {' and '.join(classifiers)}, Cal500 aside"
                rows.append([what, _estimate(g), _verdict(g.mean >= least, self._all_there(classifiers))])
        for rival in self._rivals():
            won, n = self._won(rival, self.found.classifiers)
            what = f"better than {self._title(rival)} with {self._seen(rival)} labels on seven of nine datasets"
            rows.append([what, f"{won} of {n}", _verdict(won >= WON * n, self._all_there(self.found.classifiers))])
        below, n = self.found.below_random(self.ours, NOISE)
        below_it = f"in {100 * MOST_BELOW:g} % of the cells at most, Cal500 aside"
        what = f"below random features by more than a standard error {below_it}"
        known = self._all_there(self.found.classifiers, n_seeds=2)
        rows.append([what, f"{below} of {n}", _verdict(below <= MOST_BELOW * n, known)])
        relative = f"G is relative to the best of the other {len(self.methods) - 1} entries of this section."
        return [*markdown_table(["bar", "measured", "reached"], rows), "", relative]

    def gains(self) -> list[str]:
        """G of every method, by classifier, over all numbers of features and for each."""
        shares = self.found.shares
        heads = [f"{c}{_of(s)}" for c in self.found.classifiers for s in (None, *shares)]
        rows = []
        whole = {method: self.found.mean(method, self.found.classifiers) for method in self.methods}
        for method in sorted(self.methods, key=lambda m: -np.nan_to_num(whole[m].mean, nan=-9)):
            cells = [_estimate(whole[method])]
            for classifier in self.found.classifiers:
                for share in (None, *range(len(shares))):
                    cells.append(_estimate(self.found.mean(method, (classifier,), share), short=share is not None))
            below, n = self.found.below_random(method)
            rows.append([self._title(method), self._seen(method), *cells, f"{below} of {n}"])
        return markdown_table(["method", "labels seen", "G", *heads, "below random"], rows)

    def ranks(self) -> list[str]:
        """Mean ranks among all entries, by classifier and number of features."""
        places = [
            (c, s) for c in self.found.classifiers if self.found.datasets(c) for s in range(len(self.found.shares))
        ]
        titles = ["method", "labels seen", *(f"{c}{_of(self.found.shares[s])}" for c, s in places)]
        if not places:
            return markdown_table(titles, [])
        table = np.column_stack([self.found.mean_ranks(classifier, share) for classifier, share in places])
        rows = []
        for number in np.argsort(table.mean(axis=1), kind="stable"):
            method = self.methods[number]
            cells = [f"{rank:.2f}" for rank in table[number]]
            rows.append([self._title(method), self._seen(method), *cells])
        return markdown_table(titles, rows)

    def datasets(self) -> list[str]:
        """G by dataset, one number per classifier."""
        shown = [method for method in self.methods if method.name != RANDOM]
        titles, rows = ["dataset", *(f"{self._title(m)}, {self._seen(m)}" for m in shown)], []
        for dataset in self.experiment.datasets:
            known = [c for c in self.found.classifiers if (dataset, c) in self.found.of]
            if known:
                cells = [" / ".join(f"{self.found.on(dataset, m, (c,)):.2f}" for c in known) for m in shown]
                rows.append([_name(dataset), *cells])
        words = f"G of {' / '.join(self.found.classifiers)}, the mean over all numbers of features."
        return [*markdown_table(titles, rows), "", words]

    def wins(self) -> list[str]:
        """On how many datasets ours is better than each other method, and where it is not, by how much."""
        rows = []
        for method in self.methods:
            if method != self.ours:
                cells = ["{} of {}".format(*self._won(method, (c,))) for c in self.found.classifiers]
                rows.append([self._title(method), self._seen(method), *cells, self._lost(method)])
        return markdown_table(["against", "labels seen", *self.found.classifiers, "worse on (by, in G)"], rows)

    def seconds(self) -> list[str]:
        """Processor time that the first entries took to select."""
        shown = [method for method in self.methods if method.name != RANDOM]
        titles, rows = ["dataset", *(f"{self._title(m)}, {self._seen(m)}" for m in shown)], []
        for dataset in self.experiment.datasets:
            cells = []
            for method in shown:
                trials = [t for t in self.experiment.trials(method) if t.dataset == dataset]
                told = [self.records.get(t.key(), {}).get("cpu_seconds", {}).get("select") for t in trials]
                spent = [seconds for seconds in told if seconds is not None]
                cells.append(f"{median(spent):.2f}" if spent else "-")
            rows.append([_name(dataset), *cells])
        return [*markdown_table(titles, rows), "", "Seconds of processors to select, the median over seeds."]

    def _all_there(self, classifiers: Sequence[str], n_seeds: int = 1) -> bool:
        """Whether every dataset has so many seeds: a bar is not judged by some of them."""
        places = [self.found.of.get((d, c)) for d in self.experiment.datasets for c in classifiers]
        return all(measured is not None and len(measured.seeds) >= n_seeds for measured in places)

    def _rivals(self) -> list[Contender]:
        return [method for method in self.methods if (method.name, method.labels_seen) in RIVALS]

    def _differences(self, other: Contender, classifiers: Sequence[str]) -> dict[str, float]:
        found = {
            dataset: self.found.on(dataset, self.ours, classifiers) - self.found.on(dataset, other, classifiers)
            for dataset in self.experiment.datasets
        }
        return {dataset: difference for dataset, difference in found.items() if not isnan(difference)}

    def _won(self, other: Contender, classifiers: Sequence[str]) -> tuple[int, int]:
        found = self._differences(other, classifiers)
        return sum(difference > 0 for difference in found.values()), len(found)

    def _lost(self, other: Contender) -> str:
        found = [
            f"{_name(dataset)}, {classifier} ({-difference:.2f})"
            for classifier in self.found.classifiers
            for dataset, difference in self._differences(other, (classifier,)).items()
            if difference <= 0
        ]
        return "; ".join(found) or "-"

    def _seen(self, method: Contender) -> str:
        return self.labels[method.labels_seen]

    def _title(self, method: Contender) -> str:
        return f"**{method.shown_title}**" if method == self.ours else method.shown_title


def _needed(experiment: Experiment, name: str) -> Contender:
    """The first row of that method, whatever its title and parameters."""
    contender = next((contender for contender in experiment.contenders if contender.name == name), None)
    if contender is None:
        raise ParameterError(f"{experiment.name}: kind 'quality' needs the method {name!r}.")
    return contender


def _of(share: float | None) -> str:
    """Which of the selected features, in a heading."""
    return "" if share is None else {1.0: ", all", 0.5: ", half", 0.25: ", quarter"}.get(share, f", best {share:g}")


def _estimate(g: Estimate, *, short: bool = False) -> str:
    if isnan(g.mean):
        return "-"
    return f"{g.mean:.2f}" if short or isnan(g.error) else f"{g.mean:.2f} ± {g.error:.2f}"


def _name(dataset: str) -> str:
    name = dataset.rpartition("/")[2]
    return name[0].upper() + name[1:]


def _verdict(reached: bool, known: bool) -> str:
    return "yes" if reached and known else "no" if known else "not known yet"
