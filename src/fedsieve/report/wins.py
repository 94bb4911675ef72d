"""How often each method is the best over datasets and labeled shares: the count that the paper's conclusion makes."""

from collections.abc import Iterator

from fedsieve.catalog import registry
from fedsieve.experiments.config import Experiment, Method
from fedsieve.experiments.significance import HIGHER_IS_BETTER
from fedsieve.experiments.summary import Cell, Number
from fedsieve.report.comparison import OURS, compare_by_seed
from fedsieve.report.titles import shown_title


def wins_table(experiment: Experiment, numbers: dict[Cell, Number], scaling: str) -> Iterator[str]:
    """Per method: in how many cells its mean is the best, and in how many the paper's method is clearly better."""
    methods = [method for method in experiment.methods if method.title == method.name and _competes(method)]
    cells = [(dataset, share) for dataset in experiment.datasets for share in experiment.labeled]
    yield f"Best mean among these in so many of {len(cells)} comparisons (dataset and labeled share); in brackets, in"
    yield f"how many {OURS} is better than it by more than one standard error of the difference over seeds, and worse:"
    yield ""
    yield "| method | " + " | ".join(metric.replace("_", " ") for metric in HIGHER_IS_BETTER) + " |"
    yield "|---|" + "---|" * len(HIGHER_IS_BETTER)
    for method in methods:
        row = []
        for metric, higher in HIGHER_IS_BETTER.items():
            best = better = worse = 0
            for dataset, share in cells:
                known = {
                    other.title: numbers[cell]
                    for other in methods
                    if (cell := Cell(dataset, other.title, scaling, share, metric)) in numbers
                }
                if method.title not in known or OURS not in known:
                    continue
                means = {title: number.mean for title, number in known.items()}
                best += means[method.title] == (max if higher else min)(means.values())
                verdict = compare_by_seed(known[OURS], known[method.title], metric)
                better, worse = better + (verdict == "better than"), worse + (verdict == "worse than")
            row.append(f"{best}" if method.name == OURS else f"{best} ({better}, {worse})")
        yield f"| {shown_title(method)} | " + " | ".join(row) + " |"


def _competes(method: Method) -> bool:
    entry = registry().get(method.name)
    return entry is not None and not entry.control
