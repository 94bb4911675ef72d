"""The paper's cost of communication in commands: how they are told distances and bits, and what they say of it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from fedsieve.checks import ABOVE_ZERO, check_count, check_number
from fedsieve.cli.options import split_names
from fedsieve.errors import ParameterError, listed
from fedsieve.protocol import SERVER
from fedsieve.protocol.communication import BITS, BYTE, communication_cost
from fedsieve.text import size

PANEL = "Cost of communication (sum of D N F b)"
Distances = Annotated[
    str, typer.Option(help="D of all sites: siteA=1,siteB=2.5; 1 unless given.", rich_help_panel=PANEL)
]
Bits = Annotated[int, typer.Option(help="b, the bits of a value.", rich_help_panel=PANEL)]


@dataclass(frozen=True)
class Way:
    """How far each site is, 1 unless any is given, and how many bits a value of a row has."""

    distances: Mapping[str, float] = field(default_factory=dict)
    bits: int = BITS

    @property
    def words(self) -> str:
        """What is not as usual; empty where nothing is."""
        told = ["each site's times its distance"] if self.distances else []
        told += [f"a value has {self.bits} bits"] if self.bits != BITS else []
        return f" ({', '.join(told)})" if told else ""


def way_to(sites: Collection[str], distances: str, bits: int) -> Way:
    """What was typed, checked before any work is done.

    >>> way_to(["siteA", "siteB"], "siteA=1, siteB=2.5", 64)
    Way(distances={'siteA': 1.0, 'siteB': 2.5}, bits=64)
    """
    check_count("", "--bits", bits)
    given: dict[str, float] = {}
    for part in split_names(distances):
        name, _, number = part.partition("=")
        name = name.strip()
        if name not in sites or name in given:
            why = "is given twice" if name in given else f"is no site; sites are {listed(list(sites), 20)}"
            raise ParameterError(f"--distances: {name!r} {why}. Give NAME=NUMBER,NAME=NUMBER.")
        check_number("", f"--distances {name}", _number(number), *ABOVE_ZERO)
        given[name] = float(number)
    if given and (without := [name for name in sites if name not in given]):
        raise ParameterError(f"--distances has none of {listed(without, 20)}; give one for each site, or none at all.")
    return Way(given, bits)


def rows_cost(record: Mapping[str, Any], way: Way, n_rows: Mapping[str, int] | None = None) -> dict[str, Any] | None:
    """What sending rows costs before and after a selection, as a file holds it; `None` where nobody knows their number.

    Nor is there one where an error rate left no feature. The rows are those of the selection's clients, or `n_rows` of
    them.
    """
    rows = record.get("n_rows") if n_rows is None else n_rows
    if not rows or not record["selected"]:
        return None
    far = {name: way.distances.get(name, 1) for name in (*rows, *_parties(record["transcript"]))}
    sizes, sent = (len(record["order"]), len(record["selected"])), record["transcript"]
    cost = communication_cost(rows, *sizes, distances=far, bits=way.bits, messages=sent)
    return {
        "distances": far,
        "bits_per_value": way.bits,
        "before_bits": cost.before,
        "after_bits": cost.after,
        "selection_bits": cost.selection,
        "in_all_bits": cost.in_all,
    }


def rows_cost_line(record: Mapping[str, Any], way: Way | None = None) -> str:
    """The same in words; empty where nobody knows the number of rows.

    >>> sent = {"round": 1, "sender": "a", "receiver": "server", "kind": "Ranges", "n_bytes": 5000}
    >>> rows_cost_line({"n_rows": {"a": 1000}, "order": list("pqrst"), "selected": ["q"], "transcript": [sent]})
    'To send the rows would take 20.0 kB with all 5 features, 4.0 kB with the selected 1, with these messages 9.0 kB.'
    """
    way = way or Way()
    cost = rows_cost(record, way)
    return "" if cost is None else f"To send the rows would take {cost_words(record, cost, way)}"


def cost_words(record: Mapping[str, Any], cost: Mapping[str, Any], way: Way, messages: str = "these messages") -> str:
    """Before, after, and with the messages of the selection."""
    before, after, in_all = (size(round(cost[f"{what}_bits"] / BYTE)) for what in ("before", "after", "in_all"))
    n_features, n_selected = len(record["order"]), len(record["selected"])
    return (
        f"{before} with all {n_features} features, {after} with the selected {n_selected}, with {messages} "
        f"{in_all}{way.words}."
    )


def _parties(transcript: list[Any]) -> list[str]:
    """All that sent or received something, but for the server."""
    names = dict.fromkeys(entry[end] for entry in transcript for end in ("sender", "receiver"))
    return [name for name in names if name != SERVER]


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
