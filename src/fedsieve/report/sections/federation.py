"""The federation in a report: sites, rounds, bytes beside the raw rows and the paper's formula, and unlike sites."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from fedsieve.messages import message_title, request_for
from fedsieve.protocol.cohort import SERVER
from fedsieve.protocol.influence import odd_sites
from fedsieve.protocol.shift import shift_words
from fedsieve.report.sections.features import plain
from fedsieve.text import visible

DOUBLE, SINGLE = 8, 4  # bytes of a value: as it lies in memory, and as the paper counts it
MOST_SITES = 1000
WORST = 3  # columns of a site that are drawn
MOST_FAR = 10  # columns of all sites that are named
TOOK_PART, DROPPED, ABSENT = "took part", "dropped", "absent"


def federation_section(record: Mapping[str, Any]) -> dict[str, Any]:
    """Who took part, what it took, and what it would have taken otherwise."""
    transcript, timing = record["transcript"], record.get("timing") or {}
    sites = _sites(record, timing.get("sites") or {})
    sent = sum(one["n_bytes"] for one in transcript if one["sender"] != SERVER)
    received = sum(one["n_bytes"] for one in transcript if one["sender"] == SERVER)
    return {
        "n_sites": len(sites),
        "n_took_part": sum(site["state"] == TOOK_PART for site in sites),
        "n_rows": sum(record["n_rows"].values()) if record["n_rows"] else None,
        "n_labeled": record.get("n_labeled"),
        "n_rounds": max((one["round"] for one in transcript), default=0),
        "seconds": _three(timing.get("seconds")),
        "bytes_sent": sent,
        "bytes_received": received,
        "sites": sites[:MOST_SITES],
        "rounds": _rounds(transcript),
        "amounts": _amounts(record, sent),
        "engine": (record["federation"] or {}).get("engine", "in one process"),
        "run": (record["federation"] or {}).get("run"),
        "warnings": [visible(words) for words in odd_sites(record.get("influence"), record.get("stretch")).values()],
        "knows_seconds": bool(timing.get("sites")),
        "knows_influence": bool(record.get("influence")),
    }


ANSWERS = "From answers that the selection needed anyway."
TABLES = "From the tables, which were all on one machine."


def shift_section(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """How unlike each party's columns are to those of the others, where single replies told it."""
    shift = record.get("shift")
    if not shift:
        return None
    parties = []
    for party, told in shift.items():
        columns = [one for one in told["columns"] if one["mean"] is not None]
        far = sorted(columns, key=lambda one: -abs(one["mean"]))
        parties.append(
            {
                "party": visible(party),
                "farthest": plain(abs(far[0]["mean"])) if far else None,
                "columns": [
                    {
                        "feature": visible(one["column"]),
                        "mean": plain(one["mean"]),
                        "spread": plain(one["spread"]),
                        "overlap": plain(one["overlap"]),
                    }
                    for one in far[:WORST]
                ],
                "n_findings": len(told["findings"]),
            }
        )
    return {
        "source": ANSWERS if record["federation"] else TABLES,
        "parties": parties[:MOST_SITES],
        "n_parties": len(parties),
        "farthest": _farthest(parties),
        "findings": [visible(words) for words in shift_words(shift)],
    }


def _farthest(parties: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The columns of all sites that stand out most, by name: dots have none on paper."""
    told = [{"party": one["party"], **column} for one in parties for column in one["columns"]]
    return sorted(told, key=lambda one: -abs(one["mean"]))[:MOST_FAR]


def _sites(record: Mapping[str, Any], seconds: Mapping[str, float]) -> list[dict[str, Any]]:
    federation, rows = record["federation"] or {}, record["n_rows"] or {}
    sent: dict[str, int] = defaultdict(int)
    received: dict[str, int] = defaultdict(int)
    for one in record["transcript"]:
        if one["sender"] == SERVER:
            received[one["receiver"]] += one["n_bytes"]
        else:
            sent[one["sender"]] += one["n_bytes"]
    spoke = dict.fromkeys((*federation.get("sites", ()), *rows, *received, *sent))
    dropped, absent = record["dropped"], federation.get("absent", [])
    influence = record.get("influence") or {}
    return [
        {
            "name": visible(name),
            "state": DROPPED if name in dropped else ABSENT if name in absent else TOOK_PART,
            "why": visible(str(dropped.get(name, ""))),
            "rows": rows.get(name),
            "sent": sent.get(name, 0),
            "received": received.get(name, 0),
            "seconds": _three(seconds.get(name)),
            "influence": plain(influence.get(name)),
        }
        for name in dict.fromkeys((*spoke, *dropped, *absent))
    ]


def _three(seconds: float | None) -> float | None:
    return None if seconds is None else float(f"{seconds:.3g}")


def _rounds(transcript: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per kind of request: its rounds, how many messages, and the bytes of both directions."""
    found: dict[str, dict[str, Any]] = {}
    for one in transcript:
        kind = one["kind"] if one["sender"] == SERVER else request_for(one["kind"])
        row = found.setdefault(kind, {"kind": kind, "rounds": set(), "asked": 0, "sent": 0, "received": 0})
        row["rounds"].add(one["round"])
        row["asked"] += one["sender"] == SERVER
        row["received" if one["sender"] == SERVER else "sent"] += one["n_bytes"]
    for kind, row in found.items():
        rounds = sorted(row["rounds"])
        row["rounds"] = str(rounds[0]) if len(rounds) == 1 else f"{rounds[0]} to {rounds[-1]}"
        row["title"] = message_title(kind)
    return list(found.values())


def _amounts(record: Mapping[str, Any], sent: int) -> list[dict[str, Any]]:
    """What sites sent beside what the rows themselves would be, and the paper's sum of N_i F_i b for them."""
    amounts = [{"what": "sent by all sites", "bytes": sent, "ours": True}]
    if record["n_rows"]:
        n_rows, n_features, k = sum(record["n_rows"].values()), len(record["order"]), len(record["selected"])
        amounts += [
            {"what": f"{what}, {width} bytes a value", "bytes": n_rows * n * width, "ours": False}
            for what, n, width in (
                ("raw rows", n_features, DOUBLE),
                ("paper's formula, all features", n_features, SINGLE),
                ("paper's formula, chosen features", k, SINGLE),
            )
        ]
    return amounts
