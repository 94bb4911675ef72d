"""Pictures as PNG files: chosen pixels on the average image, and how unlike the clients of a partition are."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.datasets.partition import Skew
from fedsieve.errors import extra_needed
from fedsieve.files import write_atomically


def draw_pixels(images: Float, ranks: dict[str, dict[int, int]], path: Path, title: str) -> None:
    """Write the mean of `images` (n, side * side), then per method its pixels (index -> rank, 1 is best)."""
    side = int(np.sqrt(images.shape[1]))
    mean = images.mean(axis=0).reshape(side, side)
    figure = new_figure("drawing the picture", (4.2 * (1 + len(ranks)), 4.9))
    first, *others = figure.subplots(1, 1 + len(ranks))
    first.imshow(mean, cmap="gray_r")
    first.set_title("mean of all images", fontsize=10)
    for axes, (method, of_pixel) in zip(others, ranks.items(), strict=True):
        _draw_ranks(axes, mean, of_pixel, side)
        axes.set_title(f"{method}: rank of each chosen pixel", fontsize=10)
    for axes in (first, *others):
        axes.set_xticks(range(side))
        axes.set_yticks(range(side))
        axes.tick_params(length=0, labelsize=8)
        axes.set_xlabel("column", fontsize=9)
        axes.set_ylabel("row", fontsize=9)
    figure.suptitle(title, fontsize=11)
    save(figure, path)


def draw_skew(report: Sequence[Skew], path: Path, title: str) -> None:
    """Write three bar charts, one bar per client: its rows, label distance and feature drift."""
    figure = new_figure("drawing the skew", (9, 3.2))
    panels = (
        ("rows", [entry.n_rows for entry in report]),
        ("label prevalence, mean distance", [entry.label_distance for entry in report]),
        ("feature drift, deviations", [entry.feature_drift for entry in report]),
    )
    for axes, (name, values) in zip(figure.subplots(1, 3), panels, strict=True):
        axes.bar([entry.client for entry in report], values, color="tab:blue")
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("client")
    figure.suptitle(title, fontsize=11)
    save(figure, path)


def new_figure(owner: str, size: tuple[float, float]) -> Any:
    """An empty figure; `owner` says what needs matplotlib where it is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise extra_needed(owner, "matplotlib", "report") from None
    return Figure(figsize=size, layout="constrained")


def save(figure: Any, path: Path, dpi: int = 110) -> None:
    """Write a PNG, whole or not at all."""
    write_atomically(path, lambda file: figure.savefig(file, dpi=dpi, format="png"))


def _draw_ranks(axes: Any, mean: Float, ranks: dict[int, int], side: int) -> None:
    shade = np.full(side * side, np.nan)
    for index, rank in ranks.items():
        shade[index] = rank
    axes.imshow(mean, cmap="gray_r", alpha=0.25)
    axes.imshow(shade.reshape(side, side), cmap="viridis", vmin=1, vmax=len(ranks) * 1.15)
    for index, rank in ranks.items():
        row, column = divmod(index, side)
        color = "white" if rank <= 0.6 * len(ranks) else "black"  # the worse ranks are light
        axes.text(column, row, rank, ha="center", va="center", color=color, fontsize=9, fontweight="bold")
