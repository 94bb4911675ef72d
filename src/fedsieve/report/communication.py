"""Table VI of the paper: what sending the rows costs before and after selection, and what the selection itself does."""

from collections.abc import Iterator
from functools import partial

from fedsieve.errors import ParameterError
from fedsieve.experiments.config import Experiment
from fedsieve.experiments.records import Record
from fedsieve.protocol.communication import BYTE, communication_cost
from fedsieve.report.markdown_table import markdown_table


def communication_table(experiment: Experiment, records: dict[str, Record], shapes: dict[str, tuple[int, int]]) -> str:
    """The published formula Σ_i D_i N_i F_i b, with and without the selection's own bytes, in megabytes.

    `shapes` has (rows, features) of each dataset. "Printed" counts every client with all rows of the dataset, as the
    paper's table does; "real" counts the rows that the clients hold. D_i is 1 unless the experiment has `distances`.
    """
    wires = [contender.title for contender in experiment.contenders]
    rows = list(_rows(experiment, records, shapes))
    titles = ["dataset", "printed, before", "printed, after", "real, before", "real, after"]
    titles += [f"real, after + {wire}" for wire in [*wires, "matrices"]]
    given = f"D_i = {list(experiment.distances)}" if experiment.distances else "D_i = 1"
    lines = [
        f"# {experiment.title}",
        "",
        f"The formula Σ_i D_i N_i F_i b with {given} and b = 32 bits, in MB. As printed, each client counts with all "
        "rows of the dataset; real N_i are the rows a client holds. The last columns add the selection's own bytes, to "
        "and from the clients: measured for the recorded wire forms; `matrices` by the size of its values, 8 d N_i².",
        "",
        *markdown_table(titles, ([dataset, *(f"{cell / 1e6:,.2f}" for cell in cells)] for dataset, cells in rows)),
        "",
        "In words:",
        "",
        *(f"- {sentence}" for sentence in _in_words(rows, [*wires, "matrices"])),
        "",
    ]
    return "\n".join(lines)


def _rows(
    experiment: Experiment, records: dict[str, Record], shapes: dict[str, tuple[int, int]]
) -> Iterator[tuple[str, list[float]]]:
    for dataset in experiment.datasets:
        n_rows, n_features = shapes[dataset]
        trials = [t for row in experiment.contenders for t in experiment.trials(row) if t.dataset == dataset]
        found = [records[trial.key()] for trial in trials if trial.key() in records]
        if len(found) < len(trials):
            continue
        clients, k = found[0]["rows"]["clients"], found[0]["k"]
        distances = _distances(experiment, len(clients))
        cost = partial(communication_cost, n_features=n_features, n_selected=k, distances=distances)
        printed = cost([n_rows] * len(clients))
        matrices = {f"{client:09d}": 8 * n_features * n**2 for client, n in enumerate(clients)}
        real = [cost(clients, messages=spent) for spent in (*(r["client_bytes"] for r in found), matrices)]
        cells = (printed.before, printed.after, real[0].before, real[0].after, *(each.in_all for each in real))
        yield dataset, [bits / BYTE for bits in cells]


def _distances(experiment: Experiment, n_clients: int) -> list[float]:
    distances = list(experiment.distances) or [1.0] * n_clients
    if len(distances) != n_clients:
        raise ParameterError(f"{experiment.name}: {len(distances)} distances for {n_clients} clients; give one each.")
    return distances


def _in_words(rows: list[tuple[str, list[float]]], wires: list[str]) -> Iterator[str]:
    for column, wire in enumerate(wires, start=4):
        cheaper = [dataset for dataset, cells in rows if cells[column] < cells[2]]
        yield (
            f"with `{wire}`, selecting and then sending the selected features is cheaper than sending all features on "
            f"{len(cheaper)} of {len(rows)} datasets{': ' * bool(cheaper)}{', '.join(cheaper)}."
        )
