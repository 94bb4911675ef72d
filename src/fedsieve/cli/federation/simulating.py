"""`simulate`: many virtual sites on this machine, through the same apps, in Flower's simulation on Ray."""

import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from fedsieve.arrays import Float, Int, dense
from fedsieve.cli.console import out, say
from fedsieve.cli.federation.tables import read_labeled, read_rows
from fedsieve.cli.progress import prepare_kernels
from fedsieve.cli.ranking import cost_line, ranking_table
from fedsieve.datasets import load_digits, partition
from fedsieve.datasets.files import read_table
from fedsieve.datasets.label_columns import label_columns
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_text import agreement_text
from fedsieve.deployment.membership import create
from fedsieve.deployment.runs import find_run
from fedsieve.errors import ParameterError, ProtocolError, extra_needed
from fedsieve.kernels import thread_count
from fedsieve.protocol import Labeled
from fedsieve.report.selection_file import refuse_to_overwrite, write_selection

ADDRESS = "127.0.0.1:9443"  # nobody listens: a simulation has no network
LABELED = 0.2
PRIVACY = {"min_rows": 2}


def simulate(
    n_clients: int, labeled: Path | None, labels: str, rows: Path | None, output: Path | None, seed: int
) -> None:
    """Deal rows out among virtual sites and run a selection with them."""
    if find_spec("ray") is None:
        raise extra_needed("fedsieve federation simulate", "ray", "simulation")
    if output is not None:
        refuse_to_overwrite(output)
    names = [f"site-{number:04d}" for number in range(1, n_clients + 1)]
    if labeled is None:
        text, own, parts = _digits(names, seed)
    else:
        text, own, parts = _files(names, labeled, labels, rows, seed)
    prepare_kernels()
    with tempfile.TemporaryDirectory(prefix="fedsieve-") as place:
        folder = create(Path(place) / "federation", text, names, ADDRESS)
        folder.write_labeled(own.X, own.Y)
        features = folder.agreement().plan.features
        for name, part in zip(names, parts, strict=True):
            folder.site(name).write_rows(features, part)
        say(f"{n_clients} virtual sites with {min(map(len, parts))} to {max(map(len, parts))} rows each.")
        from fedsieve.transport.flower import simulation  # loads Ray

        start = time.monotonic()
        simulation.simulate(folder, thread_count())
        run = find_run(folder)
        record = run.result()
        if record is None:
            raise ProtocolError(f"the simulated run has no result: {run.failure()}")
    record["seed"] = seed
    if output is not None:
        write_selection(record, output)
    out.print(ranking_table(record, min(10, len(record["selected"]))))
    say(cost_line(record))
    say(f"Simulated in {time.monotonic() - start:.1f} s." + (f" The result is in {output}." if output else ""))


def _digits(names: list[str], seed: int) -> tuple[str, Labeled, list[Float]]:
    digits = load_digits()
    labeled_rows, others = partition.labeled_split(digits.Y, LABELED, seed)
    parts = partition.dirichlet(digits.Y[others], len(names), 0.5, seed)
    features, labels = list(digits.feature_names), list(digits.label_names)
    text = agreement_text("simulation", ADDRESS, names, features, labels, privacy=PRIVACY)
    X: Float = dense(digits.X)
    labeled = Labeled(X[labeled_rows], digits.Y[labeled_rows].astype(np.float64))
    return text, labeled, [X[others[part]] for part in parts]


def _files(
    names: list[str], labeled: Path, labels: str, rows: Path | None, seed: int
) -> tuple[str, Labeled, list[Float]]:
    if rows is None or not labels:
        raise ParameterError("--labeled needs --labels and --rows, the unlabeled rows to deal out.")
    columns = read_table(labeled).column_names
    label_names = list(label_columns(labels, columns))
    features = [name for name in columns if name not in label_names]
    text = agreement_text("simulation", ADDRESS, names, features, label_names, privacy=PRIVACY)
    agreement = parse_agreement(text)
    X, _ = read_rows(rows, agreement)
    nothing: Int = np.zeros((len(X), 1), dtype=np.int64)
    parts = partition.iid(nothing, len(names), seed)
    return text, read_labeled(labeled, agreement), [X[part] for part in parts]
