"""The page of results: for each dataset the published row, and every set-up with its distance from it."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import Any

from benchmarks.published_search.setups import SETUPS
from fedsieve.experiments.evaluation import HIGHER_IS_BETTER
from fedsieve.report.metric_tables import Published

SELECTED, ALL, BY_LABELS = "SSFMLFS's", "all", "by the test labels"
GREEDY = "70/30, greedy by the test labels"
METHOD = "SSFMLFS"
NEAREST = 5
FORMS = {"average_precision": ".4f", "coverage": ".3f", "ranking_loss": ".4f"}

Row = tuple[str, str, str]  # set-up, features, scaling


def page(records: Sequence[Mapping[str, Any]], published: Published) -> str:
    """Markdown; a dataset without records is left out."""
    datasets = sorted({record["dataset"] for record in records})
    goals = {name: {metric: published[metric, METHOD, name] for metric in HIGHER_IS_BETTER} for name in datasets}
    seeds = {name: _by_row([one for one in records if one["dataset"] == name]) for name in datasets}
    means = {
        name: {row: {metric: mean(one[metric] for one in several) for metric in goals[name]} for row, several in rows}
        for name, rows in ((name, of.items()) for name, of in seeds.items())
    }
    lines = [
        "# Set-ups tried for the published row of SSFMLFS",
        "",
        "Written by `python -m benchmarks.published_search`; what the set-ups are, and what follows, is in",
        "[the docs](../../docs/published-numbers.md). Means over seeds. *Off by* is the largest of the three relative",
        "differences to the published row; *reached* says how many of the three are at least as good as published.",
        "",
        "Off by, with SSFMLFS's features and with all, scaled or raw, whichever is nearer:",
        "",
        *_overview(means, goals),
    ]
    for name in datasets:
        lines += ["", f"## {name}", "", *_section(means[name], seeds[name], goals[name])]
        way = [one["metrics"]["average_precision"] for one in records if one["dataset"] == name and "feature" in one]
        if way:
            lines += ["", f"The greedy search's best AP on the way, after any number of steps: {max(way):.4f}."]
    return "\n".join(lines) + "\n"


def off_by(values: Mapping[str, float], goal: Mapping[str, float]) -> float:
    """The largest relative difference of the metrics.

    >>> off_by({"average_precision": 0.9, "coverage": 4.0}, {"average_precision": 1.0, "coverage": 5.0})
    0.2
    """
    return round(max(abs(values[metric] - goal[metric]) / goal[metric] for metric in goal), 6)


def reached(values: Mapping[str, float], goal: Mapping[str, float]) -> int:
    """How many metrics are at least as good."""
    signs = {metric: 1 if HIGHER_IS_BETTER[metric] else -1 for metric in goal}
    return sum(sign * values[metric] >= sign * goal[metric] for metric, sign in signs.items())


def _by_row(found: Sequence[Mapping[str, Any]]) -> dict[Row, list[Mapping[str, float]]]:
    """The metrics of all seeds; of the greedy search's steps the last of each seed."""
    steps = {record["seed"]: record for record in found if "feature" in record}
    several: dict[Row, list[Mapping[str, float]]] = {}
    for record in (*(one for one in found if "feature" not in one), *steps.values()):
        several.setdefault((record["set_up"], record["features"], record["scaling"]), []).append(record["metrics"])
    return several


def _overview(
    means: Mapping[str, Mapping[Row, Mapping[str, float]]], goals: Mapping[str, Mapping[str, float]]
) -> Iterator[str]:
    yield f"| set-up | {' | '.join(means)} |"
    yield "|---" * (1 + len(means)) + "|"
    for title in SETUPS:
        cells = []
        for name, rows in means.items():
            of_features = (
                [off_by(values, goals[name]) for row, values in rows.items() if row[:2] == (title, features)]
                for features in (SELECTED, ALL)
            )
            cells.append(", ".join(f"{min(found):.1%}" for found in of_features if found))
        yield f"| {title} | {' | '.join(cells)} |"


def _section(
    rows: Mapping[Row, Mapping[str, float]],
    seeds: Mapping[Row, Sequence[Mapping[str, float]]],
    goal: Mapping[str, float],
) -> Iterator[str]:
    yield "| set-up | features | input | AP | coverage | ranking loss | off by | reached | seeds | AP by seed |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    yield f"| **published** | | | {_numbers(goal)} | | | | |"
    for place, row in enumerate(sorted(rows, key=lambda row: off_by(rows[row], goal))):
        title, features, scaling = row
        shown = f"**{title}**" if place < NEAREST else title
        by_seed = sorted(one["average_precision"] for one in seeds[row])
        between = f"{by_seed[0]:.3f} to {by_seed[-1]:.3f}" if len(by_seed) > 1 else ""
        last = f"{off_by(rows[row], goal):.1%} | {reached(rows[row], goal)} | {len(by_seed)} | {between} |"
        yield f"| {shown} | {features} | {scaling} | {_numbers(rows[row])} | {last}"


def _numbers(values: Mapping[str, float]) -> str:
    return " | ".join(f"{values[metric]:{form}}" for metric, form in FORMS.items())
