"""One command, real processes: it ends with the result of one process, and nothing of it goes on."""

import json

import pytest

from federation.consortium import RUN_SECONDS
from federation.processes import FEDSIEVE, Command, kill_marked, marked, new_token

pytestmark = pytest.mark.federation


def test_a_trial_ends_with_a_result_and_without_a_process(tmp_path):
    mark = f"{new_token()}/trial"
    out, kept = tmp_path / "result", tmp_path / "kept"
    try:
        trial = Command(
            [FEDSIEVE, "federation", "try", "--no-secure", "-k", 7, "--out", out, "--keep", kept],
            mark,
            tmp_path / "trial.txt",
        )
        assert trial.wait(RUN_SECONDS) == 0, trial.text
        assert not marked(mark)
    finally:
        kill_marked(mark)
    record = json.loads((out / "selection.json").read_text())
    assert len(record["selected"]) == 7
    assert sorted(record["n_rows"]) == ["siteA", "siteB", "siteC"]
    assert "The server and 3 sites have ended." in trial.text
    assert (kept / "siteA" / "what-left.jsonl").is_file()
