"""What is said of compiling: that it is kept for the next run only where it can be."""

import pytest

from fedsieve import kernels
from fedsieve.cli import progress


@pytest.mark.parametrize(("is_cached", "end"), [(True, " s, kept on disk for the next run."), (False, " s.")])
def test_kernels_that_cannot_be_kept_are_not_said_to_be(monkeypatch, capsys, is_cached, end):
    monkeypatch.setattr(kernels, "warm_up", lambda: None)
    monkeypatch.setattr(kernels, "n_compiled", lambda: 45)
    monkeypatch.setattr(kernels, "is_cached", lambda: is_cached, raising=False)
    progress.prepare_kernels()
    said = capsys.readouterr().err
    assert "Compiled 45 kernels in " in said
    assert said.rstrip().endswith(end)
