"""A case is told in one row of `record.md`, which is written anew when all cases have passed with the present sources.

Cases that passed are remembered as long as no code changes that they depend on, so that `make test-chaos` goes on where
it was interrupted; `make clean` forgets them.
"""

import hashlib
import json
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from federation.chaos.standing import SITES, TIMEOUT, heal

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
RECORD, PASSED = HERE / "record.md", ROOT / ".pytest_cache" / "chaos.json"
ROW = "chaos"  # the property of a report that holds a row
HEAD = f"""# What was killed, and what came of it

Written by `make test-chaos`, which kills real processes on loopback: one server and {len(SITES.split(","))} sites. They
have {TIMEOUT} s for an answer. A sum is exact if it equals the sum of these sites' own numbers, to the bound of the
fixed point, and the selection is that of a run in one process over the same sites. Seconds are of one case, while
another federation works beside it.
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-record", action="store_true", help="Go on where it stopped; write record.md in the end.")


def pytest_configure(config: pytest.Config) -> None:
    if recording(config) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(), "chaos-record")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what passed already."""
    if recording(config):
        done = passed()
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in done])
        items[:] = [item for item in items if item.nodeid not in done]


def recording(config: pytest.Config) -> bool:
    return bool(config.getoption("write_record", False)) and not config.option.keyword


class Recorder:
    """Gathers the rows of all cases, from other processes too."""

    def __init__(self) -> None:
        self.rows, self.sources = passed(), sources()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = [value for name, value in report.user_properties if name == ROW]
        if report.when == "call" and report.passed and told:
            self.rows[report.nodeid] = [self.sources[file_of(report.nodeid)], *told[-1]]
            PASSED.parent.mkdir(exist_ok=True)
            PASSED.write_text(json.dumps(self.rows), encoding="utf-8")

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            RECORD.write_text(record_text([row[1:] for row in self.rows.values()]), encoding="utf-8")


def passed() -> dict[str, Any]:
    """The rows of cases that passed with the code as it is, by the case's id; a digest of that code comes first."""
    kept = json.loads(PASSED.read_text(encoding="utf-8")) if PASSED.is_file() else {}
    now = sources()
    return {case: row for case, row in kept.items() if row[0] == now.get(file_of(case))}


def file_of(case: str) -> str:
    """The name of the file that a case is in."""
    return Path(case.partition("::")[0]).name


def sources() -> dict[str, str]:
    """A digest of the code that each file of cases depends on: the package, the helpers here, and the file itself."""
    cases = {file.name: file.read_bytes() for file in HERE.glob("test_*.py")}
    others = [*(ROOT / "src").rglob("*.py"), *HERE.parent.glob("*.py"), *HERE.glob("*.py")]
    helpers = sorted(file for file in others if file.name not in cases and file != Path(__file__))
    shared = hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in helpers)).digest()
    return {name: hashlib.sha256(shared + content).hexdigest() for name, content in cases.items()}


def record_text(rows: list[list[str]]) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("fedsieve", "flwr", "cryptography", "numpy"))
    parts = [HEAD, f"{len(rows)} cases, all as they should be. {packages}, Python {platform.python_version()}.\n"]
    for section in sorted({row[0] for row in rows}):
        cases = [row[1:] for row in rows if row[0] == section]
        table = [f"| {' | '.join(row)} |" for row in (("what happened", "outcome", "seconds"), ("---",) * 3, *cases)]
        parts.append(f"## {section}\n\n" + "\n".join(table) + "\n")
    return "\n".join(parts)


@pytest.fixture
def tell(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Callable:
    """Say what happened in a case and what came of it; before the case all parties are there."""
    consortium = request.getfixturevalue("consortium")
    heal(consortium)
    start, title = time.monotonic(), request.module.__doc__.splitlines()[0].partition(":")[0]

    def tell(what: str, outcome: str) -> None:
        plain = " ".join(outcome.replace(str(consortium.folder), "...").replace("|", "/").split())
        record_property(ROW, (title, what, plain, f"{time.monotonic() - start:.0f}"))

    return tell
