"""The picture of docs/scaling.md, from the committed results: `python -m benchmarks.scaling.curves`.

Time, memory and bytes of whole fits against columns, rows, labeled rows, labels and sites with their exponents, the
forms of SSFMLFS's message, the paper's among them, by the cost model, and the peers. Nothing is measured here.
"""

import json
import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, StrMethodFormatter

from benchmarks.scaling.growth import KINDS, METHODS, USUAL
from fedsieve.kernels import USUAL_PAIRS
from fedsieve.methods.run_costs import USUAL_ROWS, USUAL_SITES, FederationSize, graph_forms

RESULTS = Path(__file__).with_name("results")
SPEED = Path(__file__).parents[1] / "speed" / "results"
PICTURE = Path(__file__).parents[2] / "docs" / "scaling.png"
USUALLY = ", ".join(f"{what} = {size:,}" for what, size in USUAL.items())
ACROSS = {"d": "columns d", "n": "rows n of a site", "s": "labeled rows s", "L": "labels L", "sites": "sites"}
WIDTHS = np.array([100, 1_000, 10_000, 100_000])


def main() -> None:
    figure, panels = plt.subplots(4, 5, figsize=(21, 14.5), layout="constrained")
    growth, features, rows = _found("growth"), _found("many_features"), _found("many_rows")
    for column, (what, name) in zip(panels.T, ACROSS.items(), strict=True):
        for panel, (kind, unit) in zip(column, KINDS.items(), strict=False):
            for method in METHODS:
                points = _by_number(growth, rf"{method}, {what} = ([\d,]+): {kind}")
                _curve(panel, points, name, f"{unit} of a whole fit", f"{method}:")
    peers, wide, memory, one_site, model = panels[3]
    many = "columns d, ten sites of 200 rows"
    _curve(wide, _by_number(features, r"SSFMLFS, .*d = ([\d,]+)"), many, "CPU s", "SSFMLFS, vectors:")
    points = _by_number(features, r"memory of server and sites.*d = ([\d,]+)")
    _curve(memory, points, many, "MB of all parties", "SSFMLFS, vectors:")
    points = _by_number(rows, r"pair sums of one site, ([\d,]+) x 100")
    _curve(one_site, points, "rows n, 100 columns, 10⁷ pairs", "CPU s", "pair sums:")
    _bytes(model)
    _peers(peers)
    figure.suptitle(f"Whole fits of one process with all parties; usually {USUALLY}. Below: forms, one site, peers")
    figure.savefig(PICTURE, dpi=80)
    print(f"Written: {PICTURE.relative_to(Path.cwd())}")


def _found(name: str, results: Path = RESULTS) -> dict[str, float]:
    return {row["what"]: row["value"] for row in json.loads((results / f"{name}.json").read_text())}


def _by_number(found: dict[str, float], pattern: str) -> dict[int, float]:
    """Values by the number that their names have at the pattern's group."""
    matches = {what: re.match(pattern, what) for what in found}
    return {int(match[1].replace(",", "")): found[what] for what, match in matches.items() if match}


def _curve(panel: Axes, points: dict[int, float], across: str, up: str, label: str = "") -> None:
    x, y = np.array(list(points)), np.array(list(points.values()))
    exponent = float(np.polyfit(np.log(x), np.log(y), 1)[0])
    panel.loglog(x, y, "o-", label=f"{label} exponent {exponent:.2f}".strip())
    panel.set(xlabel=across, ylabel=up)
    panel.set_xticks(x, [f"{value:,}" for value in x], minor=False)
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())
    low, high = panel.get_ylim()
    panel.set_ylim(min(low, 10 ** np.floor(np.log10(y.min()))), max(high, 10 ** np.ceil(np.log10(y.max()))))
    panel.legend(fontsize="small")
    panel.grid(alpha=0.3)


def _bytes(panel: Axes) -> None:
    forms = [graph_forms(FederationSize(USUAL_SITES, USUAL_ROWS, int(d), int(d)), USUAL_PAIRS) for d in WIDTHS]
    for costs in zip(*forms, strict=True):
        name = costs[0].form + " (the paper's)" * (costs[0].form == "matrices")
        n_bytes = {int(d): float(cost.n_bytes) for d, cost in zip(WIDTHS, costs, strict=True)}
        _curve(panel, n_bytes, "columns d, 200 rows", "bytes per site, by the cost model", f"{name}:")


def _peers(panel: Axes) -> None:
    """How we compare with others that do the same work, measured in one run each."""
    kernel, large, tall = _found("kernel_limit"), _found("larger_than_memory"), _found("tall_covariances")
    trees = {what: value for what, value in _found("sieve", SPEED).items() if what.startswith("200 trees")}
    beside = {
        "pair sums, of a C loop": kernel["whole pair sums, d = 103, n = 600, one thread, share of the loop in C"],
        "pair sums, of scipy's cdist": kernel["pair sums on two threads, times as fast as cdist per unique pair"],
        "20,000 x 500 sums, of numpy": 1 / tall["sums of 20,000 x 500: time, of the bare product's"],
        **{f"{what.split(',')[1].strip()}, of scikit-learn's trees": value for what, value in trees.items()},
        **{f"{what.split(':')[0]}, of pyarrow": value for what, value in large.items() if "of pyarrow's" in what},
    }
    panel.bar_label(panel.barh(list(beside), list(beside.values())), fmt=" {:.2g}")
    panel.set(xscale="log", xlim=(0.1, 100))
    panel.axvline(1.0, color="black", linewidth=0.8)
    panel.invert_yaxis()
    panel.set_xlabel("speed, of the peer's")


if __name__ == "__main__":
    main()
