"""A state as Prometheus' text, for those who watch many machines: counts, sizes and who is there, nothing else."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from fedsieve.dashboard.server_state import DONE, FAILED, INTERRUPTED, RUNNING

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Sample: TypeAlias = tuple[dict[str, str], float]
Family: TypeAlias = tuple[str, str, str, Sequence[Sample]]
"""Name, kind, meaning, and values by labels."""


def as_metrics(state: Mapping[str, Any]) -> str:
    """The text of a server's state, or of a site's."""
    families = _of_server(state) if state["kind"] == "server" else _of_site(state)
    return "".join(_family(*family) for family in families)


def _of_server(state: Mapping[str, Any]) -> Iterator[Family]:
    sites, runs, run = state["sites"], state["runs"], state["run"]
    online = [({"site": site["name"]}, float(site["online"])) for site in sites]
    yield "fedsieve_site_online", "gauge", "Whether a site is online.", online
    counts = [({"state": name}, _count(runs, name)) for name in (RUNNING, DONE, FAILED, INTERRUPTED)]
    yield "fedsieve_runs", "gauge", "The latest runs (50 at most) by how they stand.", counts
    yield "fedsieve_refusals", "gauge", "Refusals in these runs.", [({}, state["n_refusals"])]
    if run is not None:
        about = {"run": run["id"]}
        yield "fedsieve_run_round", "gauge", "The round of the latest run.", [(about, run["round"] or 0)]
        yield "fedsieve_run_seconds", "gauge", "How long the latest run takes or took.", [(about, run["seconds"] or 0)]
        sent = [({**about, "site": site["name"]}, site["sent"]) for site in sites]
        yield "fedsieve_run_received_bytes", "gauge", "What each site sent in the latest run.", sent
    yield "fedsieve_troubles", "gauge", "Records that could not be read.", [({}, len(state["troubles"]))]


def _of_site(state: Mapping[str, Any]) -> Iterator[Family]:
    left = state["left"]
    yield "fedsieve_site_consents", "gauge", "Whether the site takes part.", [({}, float(state["consent"]["now"]))]
    yield "fedsieve_messages_left_total", "counter", "Messages in the record of what left.", [({}, left["n"])]
    yield "fedsieve_bytes_left_total", "counter", "Bytes in them.", [({}, left["bytes"])]
    yield "fedsieve_refusals_total", "counter", "Refusals among them.", [({}, left["n_refused"])]
    yield "fedsieve_record_broken", "gauge", "Whether lines of the record were changed.", [({}, float(left["broken"]))]
    yield "fedsieve_troubles", "gauge", "Records that could not be read.", [({}, len(state["troubles"]))]


def _count(runs: Iterable[Mapping[str, Any]], state: str) -> int:
    return sum(run["state"] == state for run in runs)


def _family(name: str, kind: str, about: str, samples: Sequence[Sample]) -> str:
    lines = [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
    lines += [f"{name}{_labels(labels)} {_number(value)}" for labels, value in samples]
    return "\n".join([*lines, ""])


def _number(value: float) -> str:
    """Whole where it is whole, and else with three decimals: a run may take less than a second.

    >>> _number(1.0), _number(12_345_678), _number(0.4321)
    ('1', '12345678', '0.432')
    """
    return f"{value:.0f}" if value == int(value) else f"{value:.3f}"


def _labels(labels: Mapping[str, str]) -> str:
    r"""In braces, with what would end a value or a line written as its escape.

    >>> print(_labels({"site": 'a"} 1\n'}))
    {site="a\"} 1\n"}
    """
    parts = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{','.join(parts)}}}" if labels else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
