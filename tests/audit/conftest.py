"""Fewer bootstraps than an audit takes: the tests look at numbers, not at their last digit."""

import pytest

from fedsieve.audit import curves


@pytest.fixture(autouse=True)
def few_bootstraps(monkeypatch):
    monkeypatch.setattr(curves, "N_BOOTSTRAPS", 200)
