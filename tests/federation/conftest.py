"""Real processes: `pytest` runs one whole federation, `pytest -m federation tests/federation` also what goes wrong."""

import pytest

from federation.consortium import LIVE


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):  # noqa: ARG001
    """A failure shows the last lines of every log."""
    report = (yield).get_result()
    if report.failed:
        report.sections += [("logs of the consortium", consortium.tails()) for consortium in LIVE]
