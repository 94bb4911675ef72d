"""Real processes: `pytest` runs one whole federation, `pytest -m federation tests/federation` also what goes wrong."""

import pytest

from federation.consortium import LIVE

MARKER = "federation"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARKER}: minutes of real processes; run with -m {MARKER}, without xdist")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if MARKER in config.option.markexpr:
        return
    slow = [item for item in items if item.get_closest_marker(MARKER)]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in set(slow)]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):  # noqa: ARG001
    """A failure shows the last lines of every log."""
    report = (yield).get_result()
    if report.failed:
        report.sections += [("logs of the consortium", consortium.tails()) for consortium in LIVE]
