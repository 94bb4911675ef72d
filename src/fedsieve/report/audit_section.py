"""An audit for people: findings as a plain dict of words and rows, and that dict as Markdown; computes nothing."""

from collections.abc import Iterable
from typing import Any

from fedsieve.audit.finding import AUC, Finding
from fedsieve.report.markdown_table import markdown_table

TITLE = "What a curious server could learn"
COLUMNS = ("attack", "read", "by chance", "server's own rows", "verdict")
NOTE = (
    "Each attack was carried out on the real answers of a site. A number counts only beyond what chance and the "
    "server's own rows give; that an attack of ours fails does not show that none succeeds."
)


def audit_section(findings: Iterable[Finding], about: str) -> dict[str, Any]:
    """Title, sentences, and a table of one row per attack: all that a page shows of an audit."""
    told = list(findings)
    reads = [one.attack for one in told if one.beyond_control]
    refused = [one.attack for one in told if one.read is None and one.refused]
    rest = [one.attack for one in told if one.attack not in {*reads, *refused}]
    sentences = [
        about,
        _sentence("Beyond chance and the server's own rows", reads),
        _sentence("Refused by the site", refused),
        _sentence("Nothing beyond chance, or nothing to attack", rest),
        NOTE,
    ]
    return {
        "title": TITLE,
        "words": [one for one in sentences if one],
        "columns": list(COLUMNS),
        "rows": [_row(one) for one in told],
        "asked": {one.attack: one.asked for one in told},
        "beyond_control": reads,
    }


def as_markdown(section: dict[str, Any]) -> str:
    """The section as a page of its own, or a part of one."""
    lines = [f"## {section['title']}", "", *(f"{words}\n" for words in section["words"])]
    lines += markdown_table(section["columns"], section["rows"])
    lines += ["", *(f"- **{attack}**: {asked}" for attack, asked in section["asked"].items()), ""]
    return "\n".join(lines)


def short(finding: Finding) -> str:
    """A finding in a cell of a wide table: what was read, "refused: RULE", or a dash; bold where it counts."""
    if finding.read is None:
        return f"refused: `{finding.rule}`" if finding.refused else "-"
    words = _number(finding, finding.read.value)
    words = f"**{words}**" if finding.beyond_control else words
    return f"{words}, then refused: `{finding.rule}`" if finding.refused else words


def _row(finding: Finding) -> list[str]:
    interval = "-"
    if finding.read is not None:
        value, low, high = (
            _number(finding, number) for number in (finding.read.value, finding.read.low, finding.read.high)
        )
        interval = f"{value} ({low} to {high})"
    controls = [finding.control, finding.server_alone]
    return [
        finding.attack,
        interval,
        *("-" if number is None else _number(finding, number) for number in controls),
        finding.verdict,
    ]


def _number(finding: Finding, value: float) -> str:
    return f"{value:.2f}" if finding.unit == AUC else f"{100 * value:.0f} %"


def _sentence(what: str, attacks: list[str]) -> str:
    return f"{what}: {', '.join(attacks)}." if attacks else ""
