"""The tables of a page about the quality of selections, such as `docs/selection-quality.md`.

The words around them are written by hand. A table stands between two marks, `<!-- ranks -->` and
`<!-- end of ranks -->`; one without marks is left out. The first classifier's tables are random, all-features and
values, those of a further one have its name added: values-logistic.
"""

from collections.abc import Callable
from functools import partial
from math import sqrt
from statistics import median

from fedsieve.errors import ParameterError
from fedsieve.experiments.config import Contender, Experiment
from fedsieve.experiments.evaluation import Evaluation
from fedsieve.experiments.records import Record
from fedsieve.experiments.summary import Cell, Number, average_ranks, gain, summarize

OURS, RANDOM, EVERYTHING = "Sieve", "random", "all features"
SHORT = {"average_precision": "AP", "coverage": "CV", "ranking_loss": "RL"}
LARGEST_GAP = 0.006  # to all features, in average precision
ABOVE_ALL = ("enron",)  # where average precision is to be above that of all features


def with_tables(text: str, experiment: Experiment, records: dict[str, Record]) -> str:
    """The page's text with the tables of these records."""
    page = QualityPage(experiment, records)
    tables: dict[str, Callable[[], list[str]]] = {"ranks": page.ranks, "seconds": page.seconds}
    for number, evaluation in enumerate(experiment.evaluations):
        suffix = f"-{evaluation.classifier}" if number else ""
        tables[f"random{suffix}"] = partial(page.against_random, evaluation)
        tables[f"all-features{suffix}"] = partial(page.against_all_features, evaluation)
        tables[f"values{suffix}"] = partial(page.values, evaluation)
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, mark, rest = text.partition(begin)
        if mark:
            _, mark, after = rest.partition(end)
            if not mark:
                raise ParameterError(f"{experiment.name}: the page has no mark {end!r}.")
            text = "\n".join([before + begin, *table(), "", end + after])
    return text


class QualityPage:
    """One experiment of kind "quality", table by table."""

    def __init__(self, experiment: Experiment, records: dict[str, Record]) -> None:
        _check_complete(experiment, records)
        self.experiment, self.records = experiment, records
        self.numbers = summarize(experiment, records)
        self.ours, self.random, self.everything = (_needed(experiment, name) for name in (OURS, RANDOM, EVERYTHING))
        (self.point,) = experiment.points
        self.labels = {"server": f"{100 * self.point.labeled:g} %", "all": "100 %", "none": "none"}

    def ranks(self) -> list[str]:
        """Mean ranks among the methods that see the server's labels, and among all, per classifier."""
        server = self.labels["server"]
        first, *others = self.experiment.evaluations
        heads = [f"rank, {server} only | rank, all"]
        heads += [f"{other.classifier}: {server} only | {other.classifier}: all" for other in others]
        among_own = {e: self._ranks(e, "server") for e in (first, *others)}
        among_all = {e: self._ranks(e, *self.labels) for e in (first, *others)}
        lines = [f"| method | labels seen | {' | '.join(heads)} |", "|---|---|" + "---|---|" * len(heads)]
        for contender in among_all[first]:
            cells = []
            for evaluation, own in among_own.items():
                cells.append(f"{own[contender]:.2f}" if contender in own else "-")
                cells.append(f"{among_all[evaluation][contender]:.2f}")
            lines.append(self._row(contender, cells))
        return lines

    def against_random(self, evaluation: Evaluation) -> list[str]:
        """Gains over random features, in standard errors over the seeds, ours and the best with all labels."""
        best = self._best_with_all_labels(evaluation)
        lines = [
            "| dataset | metric | random | Sieve | better by | standard errors | reached | "
            f"{self._title(best)}, 100 %: better by | standard errors |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        for dataset in self.experiment.datasets:
            for metric, short in SHORT.items():
                random, sieve, other = (
                    self._number(dataset, contender, evaluation, metric) for contender in (self.random, self.ours, best)
                )
                own, their = gain(sieve, random, metric), gain(other, random, metric)
                lines.append(
                    f"| {_name(dataset)} | {short} | {_digits(random.mean)} | {_digits(sieve.mean)} | "
                    f"{_digits(own.mean)} | {own.in_errors:+.1f} | {_yes(own.in_errors > 1)} | {_digits(their.mean)} | "
                    f"{their.in_errors:+.1f} |"
                )
        return lines

    def against_all_features(self, evaluation: Evaluation) -> list[str]:
        """Average precision beside that of all features."""
        best = self._best_with_all_labels(evaluation)
        lines = [
            "| dataset | all features | Sieve | difference | target | reached | "
            f"{self._title(best)}, 100 %: difference |",
            "|---|---|---|---|---|---|---|",
        ]
        for dataset in self.experiment.datasets:
            everything, sieve, other = (
                self._number(dataset, contender, evaluation, "average_precision").mean
                for contender in (self.everything, self.ours, best)
            )
            gap = sieve - everything
            above = dataset in ABOVE_ALL
            target, reached = ("above 0", gap > 0) if above else (f"at least -{LARGEST_GAP}", gap >= -LARGEST_GAP)
            lines.append(
                f"| {_name(dataset)} | {everything:.4f} | {sieve:.4f} | {gap:+.4f} | {target} | {_yes(reached)} | "
                f"{other - everything:+.4f} |"
            )
        return lines

    def values(self, evaluation: Evaluation) -> list[str]:
        """Means and standard errors of all methods, by mean rank."""
        places = [(dataset, metric) for dataset in self.experiment.datasets for metric in SHORT]
        heads = " | ".join(f"{_name(dataset)} {SHORT[metric]}" for dataset, metric in places)
        lines = [f"| method | labels seen | {heads} |", "|---|---|" + "---|" * len(places)]
        for contender in self._ranks(evaluation, *self.labels):
            numbers = [self._number(dataset, contender, evaluation, metric) for dataset, metric in places]
            errors = [number.deviation / sqrt(len(number.by_seed)) for number in numbers]
            cells = [f"{_digits(n.mean)} ± {_digits(error)}" for n, error in zip(numbers, errors, strict=True)]
            lines.append(self._row(contender, cells))
        return lines

    def seconds(self) -> list[str]:
        """How long Sieve took to select."""
        lines = ["| dataset | Sieve, seconds (median) |", "|---|---|"]
        trials = self.experiment.trials(self.ours)
        for dataset in self.experiment.datasets:
            spent = [self.records[t.key()]["seconds"]["select"] for t in trials if t.dataset == dataset]
            lines.append(f"| {_name(dataset)} | {median(spent):.2f} |")
        return lines

    def _number(self, dataset: str, contender: Contender, evaluation: Evaluation, metric: str) -> Number:
        return self.numbers[Cell(dataset, contender, evaluation, self.point, metric)]

    def _ranks(self, evaluation: Evaluation, *labels: str) -> dict[Contender, float]:
        some = [contender for contender in self.experiment.contenders if contender.labels_seen in labels]
        return average_ranks(self.experiment, self.numbers, evaluation, some)

    def _best_with_all_labels(self, evaluation: Evaluation) -> Contender:
        return next(iter(self._ranks(evaluation, "all")))

    def _row(self, contender: Contender, cells: list[str]) -> str:
        labels = self.labels[contender.labels_seen]
        return f"| {self._title(contender)} | {labels} | {' | '.join(cells)} |"

    def _title(self, contender: Contender) -> str:
        return f"**{contender.shown_title}**" if contender == self.ours else contender.shown_title


def _check_complete(experiment: Experiment, records: dict[str, Record]) -> None:
    """A page compares everything with everything: nothing may be missing."""
    trials = [trial for contender in experiment.contenders for trial in experiment.trials(contender)]
    wanted = [(trial.key(), evaluation.name) for trial in trials for evaluation in experiment.evaluations]
    missing = sum(name not in records.get(key, {}).get("metrics", {}) for key, name in wanted)
    if missing:
        raise ParameterError(
            f"{experiment.name}: {missing} of {len(wanted)} evaluations have no record; run without --report-only."
        )
    if not any(contender.labels_seen == "all" for contender in experiment.contenders):
        raise ParameterError(f"{experiment.name}: kind 'quality' needs a method that sees all labels.")


def _needed(experiment: Experiment, title: str) -> Contender:
    contender = experiment.contender(title)
    if contender is None:
        raise ParameterError(f"{experiment.name}: kind 'quality' needs the method {title!r}.")
    return contender


def _name(dataset: str) -> str:
    return dataset.capitalize()


def _digits(value: float) -> str:
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.4f}"


def _yes(reached: bool) -> str:
    return "yes" if reached else "no"
