"""The table of `docs/privacy.md`: a row for each setting, a column for each attack."""

from collections.abc import Mapping

from benchmarks.audit.cases import SAME_RESULT, Case, settings
from fedsieve.audit import ATTACKS, Finding
from fedsieve.report.audit_section import short


def table(findings: Mapping[str, Finding]) -> str:
    """Markdown; what was not tried, or not yet, is empty."""
    lines = [f"| method, wire form | sums | guard | {' | '.join(ATTACKS)} |", "|---" * (3 + len(ATTACKS)) + "|"]
    for form, secure, guard in settings():
        cells = [_cell(findings, Case(form, secure, guard, attack)) for attack in ATTACKS]
        lines.append(f"| {form} | {'secure' if secure else 'plain'} | {guard} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(findings: Mapping[str, Finding], case: Case) -> str:
    if case.attack == "poisoning" and case.form in SAME_RESULT:
        return "not tried"
    found = findings.get(case.name)
    return "" if found is None else short(found)
