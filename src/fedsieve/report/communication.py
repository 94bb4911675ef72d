"""Table 8: what it costs to send the rows before and after selection, and what the selection itself costs."""

from collections.abc import Iterator

from fedsieve.experiments.config import Experiment
from fedsieve.experiments.records import Record

BITS = 32
SERVER_MESSAGES = ("AskRanges", "AskMoments", "AskPairSums", "AskProducts", "AskRelations")


def communication_table(experiment: Experiment, records: dict[str, Record], widths: dict[str, tuple[int, int]]) -> str:
    """The published formula Σ_i D_i N_i F_i b three ways, with D_i = 1 and b = 32 bits, in megabytes.

    `widths` has (rows, features) of each dataset. "As printed" every client is counted with all rows of the dataset, as
    the paper's table does; "real" counts the rows that the clients hold.
    """
    lines = [
        f"# {experiment.title}",
        "",
        "The formula Σ_i D_i N_i F_i b with D_i = 1 and b = 32 bits, in MB. As printed, each of the ten clients counts "
        "with all rows of the dataset; real N_i are the rows a client holds. The selection's own bytes are what all "
        "clients sent (measured; `matrices` by its size, 8 d Σ N_i²).",
        "",
        "| dataset | printed, before | printed, after | real, before | real, after | "
        + " | ".join(f"selection, {method.title}" for method in experiment.methods)
        + " | selection, matrices |",
        "|---|" + "---|" * (5 + len(experiment.methods)),
    ]
    return "\n".join([*lines, *_rows(experiment, records, widths), ""])


def _rows(experiment: Experiment, records: dict[str, Record], widths: dict[str, tuple[int, int]]) -> Iterator[str]:
    for dataset in experiment.datasets:
        n_rows, n_features = widths[dataset]
        found = [
            records.get(run.key())
            for method in experiment.methods
            for run in experiment.runs(method)
            if run.dataset == dataset
        ]
        if any(record is None for record in found):
            continue
        known = [record for record in found if record is not None]
        clients, k = known[0]["rows"]["clients"], known[0]["k"]
        printed = [len(clients) * n_rows * width * BITS / 8 for width in (n_features, k)]
        real = [sum(clients) * width * BITS / 8 for width in (n_features, k)]
        selection = [_sent(record) for record in known]
        matrices = sum(8 * n_features * n**2 for n in clients)
        cells = [*printed, *real, *selection, matrices]
        yield f"| {dataset} | " + " | ".join(f"{cell / 1e6:,.2f}" for cell in cells) + " |"


def _sent(record: Record) -> int:
    """What all clients together sent."""
    return sum(n_bytes for kind, n_bytes in record["bytes"].items() if kind not in SERVER_MESSAGES)
