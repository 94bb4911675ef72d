"""The tables of `docs/selection-quality.md`, from the records; the words around them are written by hand."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from benchmarks.quality.classifiers import METRICS
from benchmarks.quality.contenders import ALL, NONE, SERVER, Contender, contenders
from benchmarks.quality.design import DATASETS, OURS, SEEDS, key

PAGE = Path(__file__).parents[2] / "docs" / "selection-quality.md"
SHORT = dict(zip(METRICS, ("AP", "CV", "RL"), strict=True))
SIGN = np.array([-1.0, 1.0, 1.0])  # of average precision more is better, of coverage and ranking loss less
NAMES = {"emotions": "Emotions", "yeast": "Yeast", "cal500": "Cal500", "enron": "Enron", "corel5k": "Corel5k"}
CONTROLS = {name: Contender(name, NONE) for name in ("random", "all features")}


class Results:
    """Metrics by contender, for one classifier: (n_datasets, n_seeds, n_metrics)."""

    def __init__(self, records: dict, classifier: str) -> None:
        self.of = {
            contender: np.array(
                [
                    [records[key(dataset, seed, contender)]["metrics"][classifier] for seed in SEEDS]
                    for dataset in DATASETS
                ]
            )
            for contender in contenders()
        }

    def mean_ranks(self, labels: tuple[str, ...]) -> dict[Contender, float]:
        """Among the contenders that see these labels: the mean over datasets and metrics of the rank of the mean."""
        some = [contender for contender in self.of if contender.labels in labels]
        means = np.array([self.of[contender].mean(axis=1) * SIGN for contender in some])
        ranks = rankdata(means, axis=0).mean(axis=(1, 2))
        return dict(sorted(zip(some, ranks.tolist(), strict=True), key=lambda pair: pair[1]))

    def best_with_all_labels(self) -> Contender:
        """The one of the best mean rank among those that see all labels."""
        return next(iter(self.mean_ranks((ALL,))))


def write_tables(records: dict) -> None:
    """Replace what stands between the marks of each table."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_tables(text, records), encoding="utf-8")


def with_tables(text: str, records: dict) -> str:
    """The page's text with the tables of these records."""
    mlknn, logistic = Results(records, "ML-kNN"), Results(records, "logistic")
    tables: dict[str, Callable[[], list[str]]] = {
        "ranks": lambda: _ranks(mlknn, logistic),
        "random": lambda: _against_random(mlknn),
        "random-logistic": lambda: _against_random(logistic),
        "all-features": lambda: _against_all(mlknn),
        "values": lambda: _values(mlknn),
        "values-logistic": lambda: _values(logistic),
        "seconds": lambda: _seconds(records),
    }
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        if begin in text:
            lines = "\n".join(table())
            text = re.sub(f"{begin}.*?{end}", lambda _, b=begin, e=end, t=lines: f"{b}\n{t}\n\n{e}", text, flags=re.S)
    return text


def _ranks(mlknn: Results, logistic: Results) -> list[str]:
    """Mean ranks among those that see 20 %, and among all."""
    own, own_logistic = mlknn.mean_ranks((SERVER,)), logistic.mean_ranks((SERVER,))
    everybody, everybody_logistic = (result.mean_ranks((SERVER, ALL, NONE)) for result in (mlknn, logistic))
    lines = [
        "| method | labels seen | rank, 20 % only | rank, all | logistic: 20 % only | logistic: all |",
        "|---|---|---|---|---|---|",
    ]
    for contender, rank in everybody.items():
        among = f"{own[contender]:.2f} | " if contender in own else "- | "
        other = f"{own_logistic[contender]:.2f}" if contender in own else "-"
        cells = f"{contender.labels} | {among}{rank:.2f} | {other} | {everybody_logistic[contender]:.2f}"
        lines.append(f"| {_title(contender)} | {cells} |")
    return lines


def _against_random(results: Results) -> list[str]:
    """Differences to the mean of random draws, in standard errors over the seeds."""
    best = results.best_with_all_labels()
    lines = [
        "| dataset | metric | random | Sieve | better by | standard errors | reached | "
        f"{_title(best)}, 100 %: better by | standard errors |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for d, dataset in enumerate(DATASETS):
        for j, metric in enumerate(METRICS):
            random, sieve = results.of[CONTROLS["random"]][d, :, j], results.of[OURS][d, :, j]
            gain, errors = _gain(random, sieve, j)
            other, other_errors = _gain(random, results.of[best][d, :, j], j)
            lines.append(
                f"| {NAMES[dataset]} | {SHORT[metric]} | {_number(random.mean())} | {_number(sieve.mean())} | "
                f"{_number(gain)} | {errors:+.1f} | {'yes' if errors > 1 else 'no'} | {_number(other)} | "
                f"{other_errors:+.1f} |"
            )
    return lines


def _against_all(results: Results) -> list[str]:
    """Average precision beside that of all features."""
    best = results.best_with_all_labels()
    lines = [
        f"| dataset | all features | Sieve | difference | target | reached | {_title(best)}, 100 %: difference |",
        "|---|---|---|---|---|---|---|",
    ]
    for d, dataset in enumerate(DATASETS):
        everything, sieve, other = (results.of[c][d, :, 0].mean() for c in (CONTROLS["all features"], OURS, best))
        gap = sieve - everything
        target, reached = ("above 0", gap > 0) if dataset == "enron" else ("at least -0.006", gap >= -0.006)
        lines.append(
            f"| {NAMES[dataset]} | {everything:.4f} | {sieve:.4f} | {gap:+.4f} | {target} | "
            f"{'yes' if reached else 'no'} | {other - everything:+.4f} |"
        )
    return lines


def _values(results: Results) -> list[str]:
    """Means and standard errors of all contenders."""
    lines = [
        "| method | labels seen | " + " | ".join(f"{NAMES[d]} {SHORT[m]}" for d in DATASETS for m in METRICS) + " |",
        "|---|---|" + "---|" * (len(DATASETS) * len(METRICS)),
    ]
    for contender in results.mean_ranks((SERVER, ALL, NONE)):
        values = results.of[contender]
        error = values.std(axis=1, ddof=1) / np.sqrt(len(SEEDS))
        cells = [
            f"{_number(values[d, :, j].mean())} ± {_number(error[d, j])}"
            for d in range(len(DATASETS))
            for j in range(len(METRICS))
        ]
        lines.append(f"| {_title(contender)} | {contender.labels} | " + " | ".join(cells) + " |")
    return lines


def _seconds(records: dict) -> list[str]:
    """How long Sieve took to select."""
    lines = ["| dataset | Sieve, seconds (median) |", "|---|---|"]
    for dataset in DATASETS:
        seconds = np.median([records[key(dataset, seed, OURS)]["seconds"] for seed in SEEDS])
        lines.append(f"| {NAMES[dataset]} | {seconds:.2f} |")
    return lines


def _gain(reference: np.ndarray, values: np.ndarray, metric: int) -> tuple[float, float]:
    """How much better, and that in standard errors of the mean difference over seeds."""
    difference = -SIGN[metric] * (values - reference)
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return float(difference.mean()), float(difference.mean() / error)


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.4f}"


def _title(contender: Contender) -> str:
    return f"**{contender.title}**" if contender == OURS else contender.title
