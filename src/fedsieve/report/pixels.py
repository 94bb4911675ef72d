"""Chosen pixels as a picture file: the average image, with the rank of each chosen pixel on it."""

from pathlib import Path
from typing import Any

import numpy as np

from fedsieve.arrays import Float
from fedsieve.errors import extra_needed
from fedsieve.files import write_atomically


def draw_pixels(images: Float, ranks: dict[str, dict[int, int]], path: Path, title: str) -> None:
    """Write a PNG: the mean of `images` (n, side * side), then per method its pixels (index -> rank, 1 is best)."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise extra_needed("drawing the picture", "matplotlib", "report") from None
    side = int(np.sqrt(images.shape[1]))
    mean = images.mean(axis=0).reshape(side, side)
    figure = Figure(figsize=(4.2 * (1 + len(ranks)), 4.9), layout="constrained")
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
