"""A ranking and a transcript as tables on the terminal."""

from typing import Any

from rich.table import Table

from fedsieve.cli.console import size

NUMBERS = {"scores": "score", "relevance": "relevance", "stability": "stability"}


def ranking_table(record: dict[str, Any], n_shown: int) -> Table:
    """The best features, with what the method says of them and their rank by another one, if any."""
    table = Table(title=f"Top {n_shown} of {len(record['order'])} features by {record['method']}", title_justify="left")
    numbers = [name for name in NUMBERS if name in record["columns"]]
    ranks = [name for name in record["columns"] if name in ("rank_Sieve", "rank_SSFMLFS")]
    table.add_column("rank", justify="right")
    table.add_column("feature", overflow="fold")
    for title in [NUMBERS[name] for name in numbers] + [f"by {name.removeprefix('rank_')}" for name in ranks]:
        table.add_column(title, justify="right", no_wrap=True)
    for rank, name in enumerate(record["order"][:n_shown], start=1):
        values = [_number(record[column][name]) for column in numbers]
        table.add_row(str(rank), name, *values, *(str(record[column][name]) for column in ranks))
    return table


def cost_line(record: dict[str, Any]) -> str:
    """How many bytes went to and fro."""
    sent = sum(entry["n_bytes"] for entry in record["transcript"] if entry["sender"] != "server")
    received = sum(entry["n_bytes"] for entry in record["transcript"] if entry["sender"] == "server")
    rounds = max(entry["round"] for entry in record["transcript"])
    return f"{rounds} rounds; all clients together sent {size(sent)} and received {size(received)}."


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
