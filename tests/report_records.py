"""Records of selections as files hold them, made up: of any width, with any names."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedsieve.catalog import ALL_FEATURES, RANDOM
from fedsieve.experiments.assessment import METRICS, OWN, Assessment
from fedsieve.report.assessment_files import assessment_record

HOSTILE = (
    "<script>document.title='owned'</script>",
    '"><img src=x onerror="document.title=\'owned\'">',
    "</script><script>document.title='owned'</script>",
    "{{ 7 * 7 }} {% raw %}",
    "it's \"quoted\" & 'so' on",
    "x" * 5000,
    "\u05de\u05e9\u05e7\u05dc \u202e001",
    "a|b `c` *d*",
    "tab\there\nand a line",
)


def record_of(names: Sequence[str], k: int, *, sites: Sequence[str] = ("north", "south", "east"), seed: int = 0) -> Any:
    """What Sieve tells of these features; the numbers are drawn, the form is that of a real record."""
    rng = np.random.default_rng(seed)
    n = len(names)
    scores = np.sort(rng.random(n))[::-1]

    def drawn(low: float = 0.0, high: float = 1.0) -> dict[str, float]:
        return dict(zip(names, np.round(rng.uniform(low, high, n), 6).tolist(), strict=True))

    transcript = []
    for number, (ask, answer) in enumerate((("AskRanges", "Ranges"), ("AskCovariances", "Covariances")), start=1):
        for site in sites:
            transcript.append(_message(number, "server", site, ask, 100))
            transcript.append(_message(number, site, "server", answer, 1000 * number))
    return {
        "format": "fedsieve-selection/1",
        "method": "Sieve",
        "features": list(names),
        "order": list(names),
        "selected": list(names[:k]),
        "columns": [
            *("scores", "relevance", "redundancy", "stability", "rank_low", "rank_high", "chance", "redundant_with"),
            "rank_SSFMLFS",
        ],
        "scores": dict(zip(names, scores.tolist(), strict=True)),
        "relevance": drawn(),
        "redundancy": drawn(),
        "stability": drawn(),
        "chance": drawn(0.0, 0.2),
        "rank_low": {name: float(max(1, rank - 3)) for rank, name in enumerate(names, start=1)},
        "rank_high": {name: float(min(n, rank + 5)) for rank, name in enumerate(names, start=1)},
        "redundant_with": {name: names[0] if rank else None for rank, name in enumerate(names)},
        "rank_SSFMLFS": {name: n - rank for rank, name in enumerate(names)},
        "labels": ["fever", "pain"],
        "per_label": {"fever": drawn(), "pain": dict.fromkeys(names)},
        "why": {name: f"selected: most for 'fever'; nothing chosen is much like {name!r}." for name in names},
        "parameters": {"n_features_to_select": k, "secure": False, "min_clients": 2, "epsilon": None, "seed": 7},
        "n_rows": {site: 100 + place for place, site in enumerate(sites)},
        "n_labeled": 50,
        "dropped": {},
        "left_out": [],
        "federation": None,
        "versions": {"python": "3.11", "fedsieve": "0.1.0"},
        "bytes": {},
        "transcript": transcript,
        "pairs": _pairs(names[: min(k, 100)], rng),
        "shift": {
            site: {
                "columns": [{"column": names[0], "mean": 0.5 - place, "spread": 1.5, "overlap": 0.9}],
                "findings": [],
            }
            for place, site in enumerate(("server", *sites))
        },
        "timing": {"seconds": 1.23456},
        "command": "fedsieve select --labeled server.csv",
    }


def evaluation(own: int = 5) -> dict[str, Any]:
    """As `fedsieve evaluate` writes it, of folds whose values are made up; `own` is the selector's number."""
    rng = np.random.default_rng(1)
    methods = ("Sieve", RANDOM, ALL_FEATURES, "a | <b>")
    rows = tuple(
        {
            "repeat": 0,
            "fold": fold,
            "method": method,
            "classifier": "ML-kNN",
            "n_features": size,
            OWN: size == own,
            **{metric: round(float(rng.uniform(0.5, 0.6)) + size / 100, 6) for metric in METRICS},
        }
        for fold in range(3)
        for method in methods
        for size in ((250,) if method == ALL_FEATURES else sorted({2, own, 20}))
    )
    chosen = {f"feature_{place:03d}": float(max(0, 3 - place) / 3) for place in range(250)}
    found = Assessment("Sieve", methods[1:], ("ML-kNN",), (2, 20), 250, 60, 2, 3, 1, rows, chosen, ("A note.",))
    return assessment_record(found, "fedsieve evaluate --labeled server.csv")


def _pairs(names: Sequence[str], rng: np.random.Generator) -> dict[str, Any]:
    rows = [np.round(rng.random(place), 3).tolist() for place in range(1, len(names))]
    return {"measure": "correlation", "features": list(names), "values": rows}


def _message(number: int, sender: str, receiver: str, kind: str, n_bytes: int) -> dict[str, Any]:
    return {"round": number, "sender": sender, "receiver": receiver, "kind": kind, "n_bytes": n_bytes}
