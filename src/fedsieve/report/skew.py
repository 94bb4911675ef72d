"""A partition as a picture: rows, label distance and feature drift of every client."""

from collections.abc import Sequence
from pathlib import Path

from fedsieve.datasets.skew import Skew
from fedsieve.errors import extra_needed
from fedsieve.files import write_atomically


def draw_skew(report: Sequence[Skew], path: Path, title: str) -> None:
    """Write a PNG with three bar charts, one bar per client."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise extra_needed("drawing the skew", "matplotlib", "report") from None
    figure = Figure(figsize=(9, 3.2), layout="constrained")
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
    write_atomically(path, lambda file: figure.savefig(file, dpi=110, format="png"))
