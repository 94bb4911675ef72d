"""The paper's tables: our numbers beside the published ones, in words where they differ, and a diagram of ranks."""

import csv
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from fedsieve.catalog import ALL_FEATURES, RANDOM, registry
from fedsieve.experiments.config import Contender, Experiment
from fedsieve.experiments.evaluation import HIGHER_IS_BETTER, Evaluation
from fedsieve.experiments.records import Record
from fedsieve.experiments.summary import VERDICTS, Cell, Comparison, Number, Numbers, gain
from fedsieve.report.markdown_table import markdown_table
from fedsieve.report.pictures import new_figure, save

PUBLISHED = {
    "average_precision": "table2_average_precision.csv",
    "coverage": "table3_coverage.csv",
    "ranking_loss": "table4_ranking_loss.csv",
}
FEDERATED = "table7_yeast_federated.csv"
NOT_IDENTIFIED = ("MFSDNA",)  # of the paper's methods: no source says what it is
OURS = "SSFMLFS"  # the paper's method, which it compares with all others
TITLES = {"average_precision": "Average precision ↑", "coverage": "Coverage ↓", "ranking_loss": "Ranking loss ↓"}

Published = dict[tuple[str, str, str], float]  # (metric, method, dataset) -> value


def published_values(folder: Path) -> Published:
    """The published tables; empty where the folder does not exist."""
    values: Published = {}
    if not folder.is_dir():
        return values
    for metric, name in PUBLISHED.items():
        with (folder / name).open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                method = row.pop("method")
                values.update({(metric, method, dataset): float(text) for dataset, text in row.items()})
    if (folder / FEDERATED).exists():
        with (folder / FEDERATED).open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                method = row.pop("method")
                values.update({(metric, method, "yeast"): float(text) for metric, text in row.items()})
    return values


@dataclass(frozen=True)
class MetricTables:
    """The text of an experiment of kind "metrics": what it is made from, and its sections."""

    experiment: Experiment
    numbers: Numbers
    published: Published

    def text(self, records: dict[str, Record], comparisons: dict[Evaluation, dict[str, Comparison]]) -> str:
        """One table per metric and evaluation, the remarks, and the tests over datasets."""
        n_seeds = max((len(number.by_seed) for number in self.numbers.values()), default=0)
        lines = [
            f"# {self.experiment.title}",
            "",
            f"Ours: mean ± deviation over {n_seeds} seeds. 'labels' is the share of the training labels that the "
            "selection saw. Published values in brackets, where the paper has them.",
        ]
        for metric, title in TITLES.items():
            for evaluation in self.experiment.evaluations:
                lines += ["", f"## {title}, {self.experiment.shown(evaluation)} features", ""]
                lines += self._table(metric, evaluation)
        remarks = [*self._against_random(), *self._against_published()]
        lines += ["", "## In words", "", *(f"- {remark}" for remark in remarks), self._relations(), ""]
        sizes = "".join(_own_sizes(self.experiment, records))
        tests = (_tests(found, self.experiment.shown(evaluation)) for evaluation, found in comparisons.items())
        return "\n".join(lines) + sizes + "".join(tests)

    def _number(self, dataset: str, contender: Contender | None, evaluation: Evaluation, metric: str) -> Number | None:
        (point,) = self.experiment.points
        return self.numbers.get(Cell(dataset, contender, evaluation, point, metric)) if contender else None

    def _table(self, metric: str, evaluation: Evaluation) -> list[str]:
        datasets, rows = self.experiment.datasets, []
        for contender in self.experiment.contenders:
            cells = []
            for dataset in datasets:
                number = self._number(dataset, contender, evaluation, metric)
                theirs = self.published.get((metric, contender.title, dataset))  # a variant has no published value
                ours = "-" if number is None else str(number)
                cells.append(ours if theirs is None else f"{ours} [{theirs:g}]")
            rows.append([contender.shown_title, self._labels(contender), *cells])
        entries = [registry().get(contender.name) for contender in self.experiment.contenders]
        among = any(entry and entry.supervision == "supervised" and not entry.federated for entry in entries)
        for name in NOT_IDENTIFIED if among else ():  # the paper lists them with the supervised methods in one place
            theirs_only = [self.published.get((metric, name, dataset)) for dataset in datasets]
            if any(value is not None for value in theirs_only):
                shown = ("-" if value is None else f"- [{value:g}]" for value in theirs_only)
                rows.append([f"{name} (not identified)", "-", *shown])
        return markdown_table(["method", "labels", *datasets], rows)

    def _labels(self, contender: Contender) -> str:
        """The share of labels that a method sees; "-" for one that is not implemented."""
        (point,) = self.experiment.points
        shares = {"all": "100%", "server": f"{point.labeled:.0%}", "none": "0%"}
        return shares[contender.labels_seen] if contender.name in registry() else "-"

    def _against_random(self) -> Iterator[str]:
        """Whether each method beats random features by more than one standard error of the difference, per seed."""
        random = self.experiment.contender(RANDOM)
        for contender in self.experiment.contenders:
            if contender.name in (RANDOM, ALL_FEATURES):
                continue
            for evaluation in self.experiment.evaluations:
                verdicts: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
                for metric in TITLES:
                    for dataset in self.experiment.datasets:
                        ours = self._number(dataset, contender, evaluation, metric)
                        chance = self._number(dataset, random, evaluation, metric)
                        if ours is not None and chance is not None:
                            where = f"{dataset} {metric.replace('_', ' ')}"
                            verdicts[gain(ours, chance, metric).verdict].append(where)
                parts = [f"{verdict} random features on {len(where)}" for verdict, where in verdicts.items() if where]
                worse = "; ".join(verdicts["worse than"])
                end = f" (worse: {worse})." if worse else "."
                n_comparisons = sum(map(len, verdicts.values()))
                yield (
                    f"{contender.shown_title}, {self.experiment.shown(evaluation)}: {', '.join(parts)} of "
                    f"{n_comparisons} comparisons{end}"
                )

    def _against_published(self) -> Iterator[str]:
        for contender in self.experiment.contenders:
            if contender.title != contender.name:
                continue  # a variant is not what was published
            for metric, title in TITLES.items():
                for dataset in self.experiment.datasets:
                    theirs = self.published.get((metric, contender.name, dataset))
                    for evaluation in self.experiment.evaluations:
                        ours = self._number(dataset, contender, evaluation, metric)
                        if ours is None or theirs is None:
                            continue
                        gap = ours.mean - theirs
                        if abs(gap) > 2 * ours.deviation:
                            side = "better" if (gap > 0) == HIGHER_IS_BETTER[metric] else "worse"
                            yield (
                                f"{contender.shown_title}, {dataset}, {self.experiment.shown(evaluation)}, "
                                f"{title[:-2].lower()}: ours {ours} is {side} than the published {theirs:g} by "
                                f"{abs(gap):.4g}."
                            )

    def _relations(self) -> str:
        """A section: the paper's method against each other one, and how many published orders of two methods hold."""
        lines = ["", "## Which published relations hold", ""]
        for evaluation in self.experiment.evaluations:
            shown = self.experiment.shown(evaluation)
            rows = list(self._against_each(evaluation))
            if not rows:
                return ""
            held, pairs = self.orders_that_hold(evaluation)
            lines += [
                f"{OURS} against each method over dataset and metric, {shown} features, by more than one standard "
                "error of the difference over seeds; and in how many of these it was better as published:",
                "",
                *markdown_table(["against", "better", "no different", "worse", "better as published"], rows),
                "",
                f"Of {pairs} published orders of two methods (a dataset and a metric each), {held} hold in our means, "
                f"{shown} features; chance would keep half.",
                "",
                *self._readings(evaluation),
            ]
        return "\n".join(lines)

    def _against_each(self, evaluation: Evaluation) -> Iterator[list[str]]:
        paper_method = self.experiment.contender(OURS)
        for contender in self.experiment.contenders:
            if paper_method is None or contender.name == OURS:
                continue
            counts = self.counts(paper_method, contender, evaluation)
            theirs = self._published_verdicts(contender)
            if any(counts.values()):
                was = f"{sum(theirs)} of {len(theirs)}" if theirs else "-"
                yield [contender.shown_title, *map(str, counts.values()), was]

    def counts(self, row: Contender, other: Contender, evaluation: Evaluation) -> dict[str, int]:
        """Over datasets and metrics, how often a row is better than, no different from and worse than another."""
        counts = dict.fromkeys(VERDICTS, 0)
        for metric in TITLES:
            for dataset in self.experiment.datasets:
                ours = self._number(dataset, row, evaluation, metric)
                theirs = self._number(dataset, other, evaluation, metric)
                if ours is not None and theirs is not None:
                    counts[gain(ours, theirs, metric).verdict] += 1
        return counts

    def _published_verdicts(self, contender: Contender) -> list[bool]:
        """Whether the paper's method was better as published, per dataset and metric."""
        verdicts = []
        for metric, higher in HIGHER_IS_BETTER.items():
            for dataset in self.experiment.datasets:
                pair = [self.published.get((metric, name, dataset)) for name in (OURS, contender.name)]
                if pair[0] is not None and pair[1] is not None:
                    verdicts.append((pair[0] > pair[1]) == higher)
        return verdicts

    def _readings(self, evaluation: Evaluation) -> Iterator[str]:
        """Each reading of the paper's method against random features and against all published rivals together."""
        readings = [row for row in self.experiment.contenders if row.name == OURS]
        rivals = [
            row
            for row in self.experiment.contenders
            if row.title == row.name and row.name != OURS and self._published_verdicts(row)
        ]
        random = self.experiment.contender(RANDOM)
        if len(readings) < 2 or not rivals or random is None:
            return
        yield f"Each reading of {OURS}, {self.experiment.shown(evaluation)} features: better, no different, worse."
        yield ""
        rows = []
        for reading in readings:
            chance = self.counts(reading, random, evaluation)
            together = [self.counts(reading, rival, evaluation) for rival in rivals]
            sums = [sum(counts[verdict] for counts in together) for verdict in VERDICTS]
            rows.append([reading.title, _in_a_row(chance.values()), _in_a_row(sums)])
        titles = ["reading", "than random features", f"than the {len(rivals)} published rivals together"]
        yield from markdown_table(titles, rows)
        yield ""

    def orders_that_hold(self, evaluation: Evaluation) -> tuple[int, int]:
        """How many pairs of methods stand in the published order, and how many pairs there are."""
        held = pairs = 0
        for metric in HIGHER_IS_BETTER:
            for dataset in self.experiment.datasets:
                both = []
                for contender in self.experiment.contenders:
                    number = self._number(dataset, contender, evaluation, metric)
                    theirs = self.published.get((metric, contender.title, dataset))
                    if number is not None and theirs is not None:
                        both.append((theirs, number.mean))
                for (first_there, first_here), (second_there, second_here) in combinations(both, 2):
                    pairs += first_there != second_there
                    held += (first_there - second_there) * (first_here - second_here) > 0
        return held, pairs


def _in_a_row(counts: Iterable[int]) -> str:
    return ", ".join(map(str, counts))


def draw_critical_differences(comparisons: dict[str, Comparison], path: Path) -> None:
    """Mean ranks of the methods, those that Nemenyi's test cannot tell apart joined by a bar; one panel per metric."""
    import pandas
    import scikit_posthocs

    n_methods = max(len(found.titles) for found in comparisons.values())
    figure = new_figure("drawing figures", (8, (1.2 + 0.15 * n_methods) * len(comparisons)))
    panels = figure.subplots(len(comparisons), 1, squeeze=False)[:, 0]
    for axes, (metric, found) in zip(panels, comparisons.items(), strict=True):
        ranks = dict(zip(found.titles, found.average_ranks, strict=True))
        colors = {title: f"C{index}" for index, title in enumerate(found.titles)}
        p_values = pandas.DataFrame(found.nemenyi_p, index=found.titles, columns=found.titles)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the plotting library warns of its own dependencies
            scikit_posthocs.critical_difference_diagram(ranks, p_values, ax=axes, color_palette=colors)
        axes.set_title(f"{TITLES[metric]}: Friedman p = {found.friedman_p:.3g}", fontsize=10)
    save(figure, path, dpi=100)


def _own_sizes(experiment: Experiment, records: dict[str, Record]) -> Iterator[str]:
    """How many features a method that chooses their number itself would have kept, per dataset and seed."""
    for contender in experiment.contenders:
        sizes: dict[str, list[int]] = {}
        for trial in experiment.trials(contender):
            if "own_k" in records.get(trial.key(), {}):
                sizes.setdefault(trial.dataset, []).append(records[trial.key()]["own_k"])
        if sizes:
            listed = "; ".join(f"{dataset} {', '.join(map(str, found))}" for dataset, found in sizes.items())
            yield f"\n{contender.shown_title} itself would have kept so many features, by seed: {listed}.\n"


def _tests(found: dict[str, Comparison], shown: str) -> str:
    """Friedman's, Wilcoxon's and Nemenyi's tests in words."""
    lines = [f"\n## Over datasets, {shown} features\n"]
    for metric, comparison in found.items():
        ranks = sorted(zip(comparison.average_ranks, comparison.titles, strict=True))
        lines.append(
            f"- {TITLES[metric]}: mean ranks {', '.join(f'{title} {rank:.1f}' for rank, title in ranks)}; "
            f"Friedman p = {comparison.friedman_p:.3g}. Wilcoxon against the best: "
            + ", ".join(f"{title} p = {p:.3g}" for title, p in comparison.wilcoxon_p.items())
            + f". Nemenyi: {_told_apart(comparison)}."
        )
    return "\n".join(lines) + "\n"


def _told_apart(comparison: Comparison) -> str:
    """The pairs of methods that Nemenyi's test tells apart at 5 %."""
    titles, p = comparison.titles, comparison.nemenyi_p
    pairs = [(a, b) for a in range(len(titles)) for b in range(a + 1, len(titles)) if p[a, b] < 0.05]
    told = [f"{titles[a]} and {titles[b]} differ (p = {p[a, b]:.3g})" for a, b in pairs]
    return ", ".join(told) or "no two methods differ at 5 %"
