"""Chosen pixels as a picture file: the average image, with the rank of each chosen pixel on it."""

from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.atomic import write_atomically
from fedsieve.errors import extra_needed


def draw_pixels(images: Float, ranks: dict[int, int], path: Path, title: str) -> None:
    """Write a PNG: left the mean of `images` (n, side * side), right the chosen pixels (index -> rank, 1 is best)."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise extra_needed("drawing the picture", "matplotlib", "report") from None
    side = int(np.sqrt(images.shape[1]))
    mean = images.mean(axis=0).reshape(side, side)
    figure = Figure(figsize=(8.4, 4.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.imshow(mean, cmap="gray_r")
    left.set_title("mean of all images", fontsize=10)
    _draw_ranks(right, mean, ranks, side)
    for axes in (left, right):
        axes.set_xticks(range(side))
        axes.set_yticks(range(side))
        axes.tick_params(length=0, labelsize=8)
        axes.set_xlabel("column", fontsize=9)
        axes.set_ylabel("row", fontsize=9)
    figure.suptitle(title, fontsize=11)
    write_atomically(path, lambda file: figure.savefig(file, dpi=110, format="png"))


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
    axes.set_title("chosen pixels and their rank (1 is best)", fontsize=10)
