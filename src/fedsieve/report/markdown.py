"""A summary as Markdown, for pull requests and papers: answer, chosen features, sites, privacy, how to repeat."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fedsieve.report.markdown_table import markdown_table
from fedsieve.text import cut_name, cut_words, plural, size

MOST_FEATURES = 100
MOST_TEXT = 2000  # characters
SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>#|~&"})


def as_markdown(summary: Mapping[str, Any]) -> str:
    """The whole text; names of features are escaped, so that they stay names."""
    parts = {"selection": _selection, "evaluation": _evaluation, "comparison": _comparison}[summary["kind"]](summary)
    head = [f"# {escaped(summary['title'])}", "", f"**{escaped(summary['answer'])}**", ""]
    notes = [f"> {escaped(note)}\n" for note in summary["notes"]]
    return "\n".join([*head, *notes, *parts])


def escaped(text: str) -> str:
    r"""Text in which nothing is markup.

    >>> print(escaped("a_b | <script>"))
    a\_b \| \<script\>
    """
    short = cut_words(text)
    return (short if len(short) <= MOST_TEXT else f"{short[:MOST_TEXT]} …").translate(SPECIAL)


def _selection(summary: Mapping[str, Any]) -> Iterator[str]:
    features = summary["features"]
    beside_rank = [column for column in features["columns"] if column["beneath"] == "rank"]
    others = [column for column in features["columns"] if column["beneath"] != "rank"]
    n = min(features["n_chosen"], MOST_FEATURES)
    rest = "" if n == features["n_chosen"] else f", the best {n}"
    yield f"## Chosen features ({features['n_chosen']:,} of {features['n_features']:,}{rest})\n"
    rows = (
        [
            str(place + 1),
            *(_cell(column, features["values"][column["key"]][place]) for column in beside_rank),
            _name(features["names"][place]),
            *(_cell(column, features["values"][column["key"]][place]) for column in others),
            escaped(features["why"][place]) if features["why"] else "",
        ]
        for place in range(n)
    )
    titles = ["rank", *(f"rank, {column['title']}" for column in beside_rank), "feature"]
    yield from _table([*titles, *(_title(column["title"]) for column in others), "why"], rows)
    if summary["labels"]:
        yield "## Features that matter for each label\n"
        rows = (
            [
                _name(row["label"]),
                "; ".join(f"{_name(one['feature'])} {one['strength']:.2f}" for one in row["features"]),
            ]
            for row in summary["labels"]["rows"]
        )
        yield from _table(["label", "chosen features that tell most of it, by absolute correlation"], rows)
    if summary["alike"]:
        yield "## The pairs most alike\n"
        pairs = (
            [_name(pair["first"]), _name(pair["second"]), str(pair["value"])] for pair in summary["alike"]["closest"]
        )
        yield from _table(["feature", "and", summary["alike"]["measure"]], pairs)
    if summary["sizes"]:
        yield "## How the number was chosen\n"
        yield "Ranking loss of the labeled rows by cross-validation; lower is better.\n"
        sizes = ([f"{row['k']:,}", str(row["loss"]), str(row["error"])] for row in summary["sizes"])
        yield from _table(["features", "ranking loss", "standard error"], sizes)
    yield from _federation(summary["federation"])
    if summary["shift"]:
        yield "## How the sites differ\n"
        findings = summary["shift"]["findings"] or ["No column of a single site looks as if it were in another unit."]
        yield from (f"- {escaped(words)}" for words in findings)
        yield ""
        far = (
            [_name(one["party"]), _name(one["feature"]), f"{one['mean']:+.2f}"] for one in summary["shift"]["farthest"]
        )
        yield from _table(["site", "column", "standard deviations from the others' mean"], far)
    if summary["quality"]:
        yield from _quality(summary["quality"])
    yield from _privacy(summary["privacy"])
    provenance = summary["provenance"]
    yield "## Reproduce this result\n"
    if provenance["command"]:
        yield f"    {provenance['command']}\n"
    for title in ("seeds", "run", "parameters", "versions"):
        if provenance[title]:
            yield from _table([title, ""], ([_name(one["name"]), escaped(one["value"])] for one in provenance[title]))


def _federation(federation: Mapping[str, Any]) -> Iterator[str]:
    yield "## Federation\n"
    took = f" in {federation['seconds']} s" if federation["seconds"] is not None else ""
    yield (
        f"{federation['n_rounds']} {plural(federation['n_rounds'], 'round')}{took}, "
        f"{escaped(str(federation['engine']))}. Sites sent {size(federation['bytes_sent'])} and received "
        f"{size(federation['bytes_received'])}.\n"
    )
    yield from (f"> {escaped(words)}\n" for words in federation["warnings"])
    n_shown = len(federation["sites"])
    if n_shown < federation["n_sites"]:
        yield f"Of these, the first {n_shown:,} of {federation['n_sites']:,} sites:\n"
    yield from _table(
        ["site", "state", "rows", "sent", "received"],
        (
            [
                _name(site["name"]),
                escaped(": ".join(filter(None, (site["state"], site["why"])))),
                _number(site["rows"], 0),
                size(site["sent"]),
                size(site["received"]),
            ]
            for site in federation["sites"]
        ),
    )
    yield from _table(["amount", "bytes"], ([one["what"], size(one["bytes"])] for one in federation["amounts"]))
    yield from _table(
        ["round", "asked for", "questions", "answers"],
        (
            [row["rounds"], escaped(row["title"]), size(row["received"]), size(row["sent"])]
            for row in federation["rounds"]
        ),
    )


def _privacy(privacy: Mapping[str, Any]) -> Iterator[str]:
    yield "## Privacy\n"
    yield from (f"{escaped(words)}\n" for words in privacy["words"])
    yield from _table(
        ["what left", "messages", "bytes", "what each one reveals"],
        (
            [escaped(one["title"]), f"{one['messages']:,}", size(one["bytes"]), escaped(one["reveals"])]
            for one in privacy["left"]
        ),
    )
    if privacy["rules"]:
        rules = ([escaped(one["rule"]), escaped(one["value"])] for one in privacy["rules"])
        yield from _table(["rule of the run", ""], rules)
    if privacy["own_rules"]:
        yield f"{escaped(privacy['own_rules'])}\n"
    if privacy["left_out"]:
        yield f"Left out, because a total would tell of few rows: {', '.join(map(_name, privacy['left_out']))}.\n"
    if privacy["audit"]:
        if privacy["audit"]["warning"]:
            yield f"> {escaped(privacy['audit']['warning'])}\n"
        yield from (f"{escaped(words)}\n" for words in privacy["audit"]["words"])
        yield from _table(privacy["audit"]["columns"], ([escaped(c) for c in row] for row in privacy["audit"]["rows"]))


def _evaluation(summary: Mapping[str, Any]) -> Iterator[str]:
    yield from _quality(summary["quality"])
    features = summary["features"]
    n = min(features["n_chosen"], MOST_FEATURES)
    yield "## How often features were selected\n"
    pairs = zip(features["names"][:n], features["values"]["share"], strict=False)
    yield from _table(["feature", "share of folds"], ([_name(name), _number(share, 2)] for name, share in pairs))
    yield "## Reproduce this result\n"
    if summary["provenance"]["command"]:
        yield f"    {summary['provenance']['command']}\n"


def _quality(quality: Mapping[str, Any]) -> Iterator[str]:
    yield "## Quality against the number of features\n"
    if quality["warning"]:
        yield f"> {escaped(quality['warning'])}\n"
    yield from (f"{escaped(words)}\n" for words in quality["words"])
    for panel in quality["panels"]:
        note = f" {panel['note']}" if panel["note"] else ""
        yield f"{escaped(panel['classifier'])}, {escaped(panel['measure'])} ({panel['better']} is better).{note}\n"
        yield from _table(
            ["method", "features", "mean", "standard deviation over folds"],
            (
                [_name(p["method"]), f"{p['k']:,}", _number(p["mean"], 3), _number(p["error"], 3)]
                for p in panel["points"]
            ),
        )


def _comparison(summary: Mapping[str, Any]) -> Iterator[str]:
    changes = summary["changes"]
    first, second = (escaped(name) for name in changes["names"])
    yield f"First: {first} ({changes['methods'][0]}). Second: {second} ({changes['methods'][1]}).\n"
    yield from _table(
        ["best k", "in both", "Jaccard"],
        ([f"{row['k']:,}", f"{row['overlap']:,}", f"{row['jaccard']:.2f}"] for row in changes["overlap_at"]),
    )
    yield "## What changed\n"
    if changes["rows"]:
        yield from _table(
            ["feature", "what", "rank in first", "in second"],
            ([_name(row["feature"]), row["what"], str(row["first"]), str(row["second"])] for row in changes["rows"]),
        )
    else:
        yield "No feature entered or left, and no rank moved.\n"
    if changes["settings"]:
        yield "## Settings that differ\n"
        yield from _table(
            ["what", "first", "second"],
            ([_name(row["name"]), escaped(row["first"]), escaped(row["second"])] for row in changes["settings"]),
        )


def _table(titles: Sequence[str], rows: Iterable[Iterable[str]]) -> list[str]:
    return [*markdown_table(titles, rows), ""]


def _name(name: str) -> str:
    return escaped(cut_name(name))


def _title(title: str) -> str:
    """
    >>> _title("Redundancy"), _title("By SSFMLFS")
    ('redundancy', 'by SSFMLFS')
    """
    return title[:1].lower() + title[1:]


def _cell(column: Mapping[str, Any], value: Any) -> str:
    return _number(value, column["digits"]) if column["kind"] == "number" else _name(value or "-")


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:z,.{digits}f}"  # z: nothing is not below zero
