"""Settings that all tests share."""

import os

# Before NumPy is there: tests run side by side, and threads of BLAS on tables this small wait for each other, on busy
# cores for most of the time. Processes that tests start inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Likewise threads of kernels: to start them takes longer than these tables do. Tests of kernels have two.
os.environ.setdefault("FEDSIEVE_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

from tiny_dataset import remote_server, use_tiny

# Compiling a kernel takes seconds, so no deadline. In CI the same examples are drawn every time.
settings.register_profile("fedsieve", deadline=None, max_examples=25, derandomize=bool(os.environ.get("CI")))
settings.load_profile("fedsieve")


LONG = {
    "full": "what takes long and needs no servers, such as scikit-learn's checks of every rival; run with -m full",
    "federation": "minutes of real processes; run with make test-federation",
    "browser": "pages in a real browser; run with make test-browser",
    "chaos": "most of an hour of real processes that are killed; run with make test-chaos",
}


def pytest_configure(config: pytest.Config) -> None:
    for marker, meaning in LONG.items():
        config.addinivalue_line("markers", f"{marker}: {meaning}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long unless its marker is asked for."""
    left_out = [marker for marker in LONG if marker not in config.option.markexpr]
    long = {item for item in items if any(item.get_closest_marker(marker) for marker in left_out)}
    if long:
        config.hook.pytest_deselected(items=list(long))
        items[:] = [item for item in items if item not in long]


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk():
    """Nobody cuts a test's power: that a file is open is all that is asked before it is said to be on the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240611)


@pytest.fixture
def remote():
    """A loopback HTTP server that offers the tiny dataset."""
    with remote_server() as server:
        yield server


@pytest.fixture
def cache(monkeypatch, tmp_path, remote):
    """The tiny dataset as the only known one, the server as its source, and an empty cache folder."""
    return use_tiny(monkeypatch, tmp_path, remote.url)
