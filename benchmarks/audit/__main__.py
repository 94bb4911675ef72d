"""Audit every method in every wire form, keep the findings, and print the table of `docs/privacy.md`; resumes."""

import json
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.audit.cases import cases, setting_of
from benchmarks.audit.pages import table
from fedsieve.audit import Finding, audit
from fedsieve.files import write_atomically
from fedsieve.versions import versions

RESULTS = Path(__file__).with_name("results.json")


def main() -> None:
    console = Console(stderr=True)
    kept = json.loads(RESULTS.read_text())["findings"] if RESULTS.exists() else {}
    setting, last = None, None
    for case in track(list(cases()), "attacks", console=console):
        if case.name in kept:
            continue
        made = setting_of(case)
        # attacks on the same rows share the honest run
        if setting is None or last != (case[:3], made.parties.source):
            setting, last = made, (case[:3], made.parties.source)
        kept[case.name] = audit(setting, [case.attack])[0].as_record()
        text = json.dumps({"versions": versions(), "findings": kept}, indent=1) + "\n"
        write_atomically(RESULTS, lambda path, text=text: path.write_text(text))
    findings = {name: Finding.of_record(record) for name, record in kept.items()}
    print(table(findings))
    console.print(f"Kept in {RESULTS}; delete it to attack anew.")


if __name__ == "__main__":
    main()
