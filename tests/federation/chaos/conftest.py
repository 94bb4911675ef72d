"""A case is told in one row of `record.md`, which is written anew when all cases have passed with the same sources.

Cases that passed are remembered, so that `make test-chaos` goes on where it was interrupted; `make clean` forgets them.
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
        self.rows = passed()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = [value for name, value in report.user_properties if name == ROW]
        if report.when == "call" and report.passed and told:
            self.rows[report.nodeid] = told[-1]
            PASSED.parent.mkdir(exist_ok=True)
            PASSED.write_text(json.dumps({"sources": sources(), "rows": self.rows}), encoding="utf-8")

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            RECORD.write_text(record_text(list(self.rows.values())), encoding="utf-8")


def passed() -> dict[str, Any]:
    """The rows of cases that passed with the sources as they are, by the case's id."""
    kept = json.loads(PASSED.read_text(encoding="utf-8")) if PASSED.is_file() else {}
    rows: dict[str, Any] = kept["rows"] if kept.get("sources") == sources() else {}
    return rows


def sources() -> str:
    """A digest of all code that a case depends on."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests" / "federation").rglob("*.py")]
    content = (file.read_bytes() for file in sorted(files) if file != Path(__file__))
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in content)).hexdigest()


def record_text(rows: list[tuple[str, ...]]) -> str:
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
