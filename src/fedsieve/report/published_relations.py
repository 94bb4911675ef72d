"""Which published relations hold in our runs: who was better than whom there, and who is here."""

from collections.abc import Iterator
from itertools import combinations

from fedsieve.experiments.config import Experiment
from fedsieve.experiments.significance import HIGHER_IS_BETTER
from fedsieve.experiments.summary import Cell, Number
from fedsieve.report.comparison import OURS, VERDICTS, compare_by_seed
from fedsieve.report.titles import shown_title


def relations_text(
    experiment: Experiment,
    numbers: dict[Cell, Number],
    published: dict[tuple[str, str, str], float],
    labeled: float,
) -> str:
    """A section: the paper's method against each other one, and how many published orders of two methods hold."""
    lines = ["", "## Which published relations hold", ""]
    for scaling in experiment.scalings:
        rows = list(_against_each(experiment, numbers, published, scaling, labeled))
        if not rows:
            return ""
        lines += [
            f"{OURS} against each method over dataset and metric, {scaling} features, by more than one standard error "
            "of the difference over seeds; and in how many of these it was better as published:",
            "",
            "| against | better | no different | worse | better as published |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]
        held, all_pairs = _orders_that_hold(experiment, numbers, published, scaling, labeled)
        lines += [
            f"Of {all_pairs} published orders of two methods (a dataset and a metric each), {held} hold in our means, "
            f"{scaling} features; chance would keep half.",
            "",
        ]
    return "\n".join(lines)


def _against_each(
    experiment: Experiment,
    numbers: dict[Cell, Number],
    published: dict[tuple[str, str, str], float],
    scaling: str,
    labeled: float,
) -> Iterator[str]:
    for method in experiment.methods:
        if method.title != method.name or method.name == OURS:
            continue
        counts = dict.fromkeys(VERDICTS, 0)
        theirs = []
        for metric, higher in HIGHER_IS_BETTER.items():
            for dataset in experiment.datasets:
                ours = numbers.get(Cell(dataset, OURS, scaling, labeled, metric))
                other = numbers.get(Cell(dataset, method.title, scaling, labeled, metric))
                if ours is not None and other is not None:
                    counts[compare_by_seed(ours, other, metric)] += 1
                pair = [published.get((metric, name, dataset)) for name in (OURS, method.name)]
                if pair[0] is not None and pair[1] is not None:
                    theirs.append((pair[0] > pair[1]) == higher)
        if any(counts.values()):
            was = f"{sum(theirs)} of {len(theirs)}" if theirs else "-"
            yield f"| {shown_title(method)} | " + " | ".join(str(count) for count in counts.values()) + f" | {was} |"


def _orders_that_hold(
    experiment: Experiment,
    numbers: dict[Cell, Number],
    published: dict[tuple[str, str, str], float],
    scaling: str,
    labeled: float,
) -> tuple[int, int]:
    """How many pairs of methods stand in the published order, and how many pairs there are."""
    held = pairs = 0
    for metric in HIGHER_IS_BETTER:
        for dataset in experiment.datasets:
            both = []
            for method in experiment.methods:
                number = numbers.get(Cell(dataset, method.title, scaling, labeled, metric))
                theirs = published.get((metric, method.title, dataset))
                if number is not None and theirs is not None:
                    both.append((theirs, number.mean))
            for (first_there, first_here), (second_there, second_here) in combinations(both, 2):
                pairs += first_there != second_there
                held += (first_there - second_there) * (first_here - second_here) > 0
    return held, pairs
