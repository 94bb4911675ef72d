"""The report of a run: the operator's has all of it, a site's what the site was told."""

import json

import pytest

from fedsieve.cli.communication import Way
from fedsieve.cli.federation.run import _show
from fedsieve.report.result_files import summary_of

QUICK = {"n_trees": 3, "n_bootstraps": 2, "n_features_to_select": 2}


@pytest.fixture
def run(consortium):
    consortium.agree("Sieve", parameters=QUICK, privacy={"min_rows": 5})
    return consortium.lead()


def test_the_operator_s_page_has_pairs_seconds_and_shift(run, tmp_path):
    _show(run, tmp_path / "result", Way())
    assert (run.path / "pairs.json").stat().st_mode & 0o077 == 0
    record = json.loads((tmp_path / "result" / "selection.json").read_text(encoding="utf-8"))
    assert record["pairs"]["features"] == record["selected"]
    assert set(record["timing"]["sites"]) <= set(record["n_rows"])
    summary = json.loads((tmp_path / "result" / "summary.json").read_text(encoding="utf-8"))
    assert summary["alike"]["map"]["features"]
    assert summary["federation"]["run"] == run.id
    assert summary["answer"] in (tmp_path / "result" / "report.html").read_text(encoding="utf-8")


def test_sites_are_sent_no_pairs_and_can_report_all_the_same(run, consortium):
    assert "pairs" not in run.result()
    for name in consortium.case.clients:
        told = consortium.folder.site(name).results / run.id
        record = json.loads((told / "selection.json").read_text(encoding="utf-8"))
        assert not {"pairs", "shift", "timing", "command"} & set(record)
        summary = summary_of(told)
        assert (summary["alike"], summary["shift"]) == (None, None)
        assert summary["features"]["n_chosen"] == 2
