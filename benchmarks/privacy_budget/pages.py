"""The table in Markdown and the figure of what was measured; nothing is computed here but means and their errors."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from benchmarks.privacy_budget.cost import ALONE, EPSILONS, NOISELESS, RANDOM, SHARED, TIMES, WHOLE
from fedsieve.report.pictures import new_figure, save

Trials = Mapping[str, Sequence[Mapping[str, Any]]]
Found = Mapping[str, Trials]
"""By dataset, by share of labels."""


def table(found: Found) -> str:
    """Overlap with the selection without noise, average precision, and the sites' weight, by epsilon."""
    head = ["dataset, labels", "noise", *(f"{epsilon:g}" for epsilon in EPSILONS)]
    ends = ["labeled rows alone", "no noise"]
    text = []
    for title, number in (("Same features as without noise", "overlap"), ("Average precision", "AP")):
        lines = []
        for rows, how, trials in _rows(found):
            flat = [_mean([one[end][number] for one in trials]) for end in (ALONE, NOISELESS)]
            lines.append([*rows, *_by_epsilon(trials, how, number), *flat])
        text.append(f"**{title}**\n\n{_markdown([*head, *ends], lines)}")
    lines = [[*rows, *_by_epsilon(trials, how, "weight")] for rows, how, trials in _rows(found)]
    text.append(f"**Weight of the sites**\n\n{_markdown(head, lines)}")
    return "\n".join(text)


def _rows(found: Found) -> Iterator[tuple[list[str], str, Sequence[Mapping[str, Any]]]]:
    for name, by_share in found.items():
        for share, trials in by_share.items():
            for words, how in (("whole", WHOLE), ("shares", SHARED)):
                yield [f"{name}, {100 * float(share):g} % ({len(trials)})", words], how, trials


def _by_epsilon(trials: Sequence[Mapping[str, Any]], how: str, number: str) -> list[str]:
    return [_mean([one[how][str(epsilon)][number] for one in trials]) for epsilon in EPSILONS]


def more_rows_table(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """What more rows at the sites would change, epsilon being 1."""
    head = ["dataset", "noise", *(f"{times} x the rows" for times in TIMES)]
    lines = []
    for name, trials in found.items():
        for words, how in (("whole", WHOLE), ("shares", SHARED)):
            pairs = [[one[str(times)][how] for one in trials] for times in TIMES]
            cells = [f"{_mean([o['overlap'] for o in p])}, weight {mean(o['weight'] for o in p):.2f}" for p in pairs]
            lines.append([f"{name} ({len(trials)})", words, *cells])
        alone = [_mean([one[str(times)][ALONE]["overlap"] for one in trials]) for times in TIMES]
        lines.append([name, "the labeled rows alone", *alone])
    return f"**More rows at the sites, epsilon 1: same features as without noise**\n\n{_markdown(head, lines)}"


def draw(found: Found, path: Path) -> None:
    """One column of pictures per dataset: overlap above, average precision below; solid 20 %, dashed 5 % labels."""
    figure = new_figure("drawing the figure", (3.1 * len(found), 6.2))
    axes = figure.subplots(2, len(found), squeeze=False, sharex=True)
    for column, (name, by_share) in enumerate(found.items()):
        for row, number in enumerate(("overlap", "AP")):
            axis = axes[row][column]
            for (share, trials), style in zip(by_share.items(), ("-", "--"), strict=False):
                labels = f"{100 * float(share):g} %"
                for how, color, words in ((SHARED, "C0", "noise in shares"), (WHOLE, "C1", "whole noise at each site")):
                    values = [mean(one[how][str(e)][number] for one in trials) for e in EPSILONS]
                    axis.plot(
                        EPSILONS, values, style, color=color, marker="o", markersize=3, label=f"{words}, {labels}"
                    )
                for flat, color in ((ALONE, "C2"), (NOISELESS, "C3")):
                    level = mean(one[flat][number] for one in trials)
                    axis.axhline(level, linestyle=style, color=color, linewidth=1, label=f"{flat}, {labels}")
            if number == "AP":
                level = mean(one[RANDOM]["AP"] for trials in by_share.values() for one in trials)
                axis.axhline(level, linestyle=":", color="gray", linewidth=1, label=RANDOM)
                axis.set_xlabel("epsilon (delta = 1e-6)")
            axis.set_xscale("log")
            axis.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
            axis.minorticks_off()
        axes[0][column].set_title(name)
    axes[0][0].set_ylabel("same features as without noise")
    axes[1][0].set_ylabel("average precision")
    handles, labels = axes[1][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncol=4, fontsize=8)
    save(figure, path)


def _mean(values: Sequence[float]) -> str:
    error = f" ± {stdev(values) / len(values) ** 0.5:.3f}" if len(values) > 1 else ""
    return f"{mean(values):.3f}{error}"


def _markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *lines])
