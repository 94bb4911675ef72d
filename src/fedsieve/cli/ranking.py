"""A ranking and a transcript as tables on the terminal."""

from typing import Any

from rich.table import Table

from fedsieve.cli.console import size


def ranking_table(record: dict[str, Any], n_shown: int) -> Table:
    """The best features with score and relevance."""
    table = Table(title=f"Top {n_shown} of {len(record['order'])} features", title_justify="left")
    table.add_column("rank", justify="right")
    table.add_column("feature", overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("relevance", justify="right", no_wrap=True)
    for rank, name in enumerate(record["order"][:n_shown], start=1):
        table.add_row(str(rank), name, f"{record['scores'][name]:.4f}", f"{record['relevance'][name]:.4f}")
    return table


def cost_line(record: dict[str, Any]) -> str:
    """How many bytes went to and fro."""
    sent = sum(entry["n_bytes"] for entry in record["transcript"] if entry["sender"] != "server")
    received = sum(entry["n_bytes"] for entry in record["transcript"] if entry["sender"] == "server")
    rounds = max(entry["round"] for entry in record["transcript"])
    return f"{rounds} rounds; all clients together sent {size(sent)} and received {size(received)}."
