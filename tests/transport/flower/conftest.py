"""Federations in a temporary folder; keys are made once and copied."""

import logging
import shutil
from functools import cache

import pytest

from fedsieve.cli.federation import collect as collecting_command
from fedsieve.cli.federation import label as labeling_command
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.membership import create
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.errors import ProtocolError
from fedsieve.transport.flower import grid_exchange
from protocol.federation import example
from transport.flower.consortium import ADDRESS, LABELS, Consortium
from transport.flower.following import QUICK


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture(scope="session")
def founded(tmp_path_factory):
    """By the number of sites, a federation's folder."""

    @cache
    def found(n_sites):
        case = example(n_clients=n_sites)
        text = agreement_text("fed", ADDRESS, list(case.clients), list(case.features), LABELS)
        return create(tmp_path_factory.mktemp("founded") / "fed", text, list(case.clients), ADDRESS).path

    return found


@pytest.fixture
def n_sites():
    return 3


@pytest.fixture
def consortium(founded, n_sites, tmp_path, monkeypatch):
    """Three sites that agreed on the defaults; `agree` changes that. Nobody really waits for a silent site."""
    monkeypatch.setattr(grid_exchange, "time", Clock())
    monkeypatch.setattr(grid_exchange, "POLL_SECONDS", 10)
    shutil.copytree(founded(n_sites), tmp_path / "fed")
    made = Consortium(example(n_clients=n_sites), ServerFolder(tmp_path / "fed"))
    made.agree()
    yield made
    for name, logger in list(logging.Logger.manager.loggerDict.items()):
        if name.startswith("fedsieve.") and isinstance(logger, logging.Logger):
            logger.propagate = True  # else pytest adds a handler of its own to it
            for handler in list(logger.handlers):
                handler.close()
                logger.removeHandler(handler)


@pytest.fixture
def after(consortium, monkeypatch):
    """A run is over, and the commands lead what follows it in this process."""
    consortium.agree("Sieve", parameters=QUICK, ranges="robust", after=["collect", "label"])
    consortium.run = consortium.lead()
    assert consortium.run.failure() is None

    def lead(_folder, this):
        consortium.lead(this)
        if this.failure():
            raise ProtocolError(this.failure())

    monkeypatch.setattr("fedsieve.cli.federation.run.run_to_end", lead)
    for command in (collecting_command, labeling_command):
        monkeypatch.setattr(command, "wait_for_sites", lambda *_: (list(consortium.nodes), []))
    return consortium
