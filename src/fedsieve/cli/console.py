"""What is printed: the two streams, errors, warnings, sizes, and a selection, alone or beside another method's."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fedsieve.errors import NOTHING_VARIES, listed
from fedsieve.text import counted, size, visible


class PlainConsole(Console):
    """Prints text as it is, also "weight [kg]" and ":a:": no markup, no emoji, and nothing that steers a terminal."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Every string that is printed passes here, alone or in a table."""
        return super().render_str(visible(text, keep="\n"), **options)


out, err = PlainConsole(), PlainConsole(stderr=True)  # the result; how it goes
alarm = PlainConsole(stderr=True)  # what is told in any case: errors and warnings

NUMBERS = {"scores": "score", "chance": "chance", "relevance": "relevance", "stability": "stability"}
"""Columns of a record -> their titles in the table of a ranking."""


def say(message: str | Text) -> None:
    """Print a line of the result; broken at words on a terminal, and not at all in a file or a pipe."""
    out.print(message, soft_wrap=not out.is_terminal)


def can_ask() -> bool:
    """Whether somebody is there who sees what is asked about."""
    return out.is_terminal and not out.quiet


def complain(error: Exception) -> None:
    """Say what is wrong, on the error stream."""
    alarm.print(Text.assemble(("Error: ", "bold red"), visible(str(error))), soft_wrap=True)


def warn(message: str) -> None:
    """Say what may be wrong, on the error stream."""
    alarm.print(Text.assemble(("Warning: ", "bold yellow"), visible(message)), soft_wrap=True)


def ranking_table(record: dict[str, Any], n_shown: int) -> Table:
    """The best features, with what the method says of them and their rank by another method, if any."""
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


def n_shown(record: dict[str, Any]) -> int:
    """How many features of a ranking are shown: of the selected ones, or of all where none is."""
    return min(10, len(record["selected"] or record["order"]))


def say_error_rate(record: dict[str, Any]) -> None:
    """What was selected at which false discovery rate, where one was stated, and what speaks against it."""
    found = record.get("fdr")
    if found:
        say(found["words"])
        for doubt in found["doubts"]:
            warn(doubt)


def columns_table(parties: dict[str, Any], title: str) -> Table:
    """The rows of each party, and in how many of its columns something is noticeable."""
    table = Table(title=title, title_justify="left")
    for name in ("", "rows", "with gaps", "most missing", "one value only", "foreign codes"):
        table.add_column(name, justify="right" if name else "left", overflow="fold")
    for name, party in parties.items():
        most = max(party["missing"].values(), default=0.0)
        counts = (len(party[what]) for what in ("constant", "unknown_codes"))
        table.add_row(name, str(party["rows"]), str(len(party["missing"])), f"{100 * most:.0f} %", *map(str, counts))
    return table


def chance_line(record: dict[str, Any]) -> str:
    """How many of the selected features score no better than chance, where that is known; else nothing."""
    from fedsieve.report.sections.features import no_better_than_chance

    low, n_selected = no_better_than_chance(record), len(record["selected"])
    if low is None or not n_selected:
        return ""
    if not low:
        return f"All {n_selected} selected features score better than chance."
    return (
        f"{len(low)} of the {n_selected} selected features score no better than chance (permuted labels): "
        f"{listed(low)}."
    )


def cost_line(record: dict[str, Any]) -> str:
    """How many rounds a selection took, and how many bytes."""
    sent = sum(message["n_bytes"] for message in record["transcript"] if message["sender"] != "server")
    received = sum(message["n_bytes"] for message in record["transcript"] if message["sender"] == "server")
    rounds = max(message["round"] for message in record["transcript"])
    return f"{counted(rounds, 'round')}; all clients together sent {size(sent)} and received {size(received)}."


def missing_line(record: dict[str, Any]) -> str:
    """How many values are missing, and of which feature most; empty where none are, or nobody told.

    >>> missing_line({"missing": {"age": 0.0, "dose": 0.25}})
    "12.5 % of all values are missing; most of 'dose': 25.0 %."
    """
    shares = record.get("missing") or {}
    if not shares:
        return ""
    most, mean = max(shares, key=lambda name: float(shares[name])), sum(shares.values()) / len(shares)
    return f"{100 * mean:.1f} % of all values are missing; most of {most!r}: {100 * shares[most]:.1f} %."


def say_what_is_missing(record: dict[str, Any]) -> None:
    """The same, which features have no value anywhere, and whether none varies."""
    if record.get("nothing_varies"):
        warn(NOTHING_VARIES)
    if line := missing_line(record):
        say(line)
        nowhere = [name for name, share in record["missing"].items() if share == 1]
        if nowhere:
            warn(f"nobody has a value of {listed(nowhere)}: treated as constant.")


def add_other_ranks(record: dict[str, Any], other: dict[str, Any]) -> None:
    """Put the ranks by another method into a record, as one more number per feature."""
    column = f"rank_{other['method']}"
    record["columns"].append(column)
    record[column] = {name: rank for rank, name in enumerate(other["order"], start=1)}


def agreement_line(record: dict[str, Any], other: dict[str, Any]) -> str:
    """How many of the selected features another method selects too."""
    both = len(set(record["selected"]) & set(other["selected"]))
    return f"{other['method']} selects {both} of the same {counted(len(record['selected']), 'feature')}."


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


@contextmanager
def until_interrupted() -> Iterator[None]:
    """Run the block until it ends or is interrupted, by a closed terminal too; `finally` clauses run either way."""

    def interrupt(number: int, _frame: FrameType | None) -> None:
        for other in before:
            signal.signal(other, signal.SIG_IGN)  # a second one must not stop the leaving
        if number == signal.SIGHUP:
            _print_no_more()
        raise KeyboardInterrupt

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as under nohup
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print_no_more() -> None:
    """To a terminal that was closed, each line would be an error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        if os.isatty(stream):
            os.dup2(nowhere, stream)
    os.close(nowhere)
