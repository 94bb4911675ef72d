"""Another number of features after a run over a grid: the operator has the totals, a site has the result."""

import csv
import json
import shutil

import pytest

from fedsieve import load_selection
from fedsieve.cli.rerank import rerank
from fedsieve.errors import DataError

QUICK = {"n_trees": 10, "n_bootstraps": 2}


def again(result, k="2", **options):
    rest = {"labeled": None, "federation": None, "change": None, "output": None, "force": False}
    rerank(result, k, **{**rest, **options})
    return json.loads((result / f"k{k}" / "selection.json").read_text())


@pytest.fixture
def run(consortium):
    consortium.agree(method="Sieve", parameters={**QUICK, "n_features_to_select": 4})
    return consortium.lead()


def test_the_operator_reranks_where_the_run_lies_or_anywhere(run, consortium, tmp_path):
    assert not run.replies.exists()
    assert run.totals.stat().st_mode & 0o777 == 0o600
    record = again(run.path)
    consortium.agree(method="Sieve", parameters={**QUICK, "n_features_to_select": 2})
    fresh = consortium.lead().result()
    for name in ("selected", "order", "scores", "redundancy", "stability", "why", "per_label", "parameters"):
        assert record[name] == fresh[name], name
    assert record["federation"]["run"] == run.id
    assert record["influence"] is None
    shutil.copytree(run.path / "k2", tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "selection.json").write_text((run.path / "selection.json").read_text())
    with pytest.raises(DataError, match=r"whose totals lie with the operator: name its folder with --federation\."):
        again(tmp_path / "elsewhere", "3")
    assert len(again(tmp_path / "elsewhere", "3", federation=consortium.folder.path)["selected"]) == 3


def test_labeled_rows_that_changed_since_are_refused(run, consortium):
    X, Y = consortium.folder.labeled().X, consortium.folder.labeled().Y
    consortium.folder.write_labeled(X + 1.0, Y)
    with pytest.raises(DataError, match="are not those of the run"):
        again(run.path)


def test_totals_that_were_purged_are_gone(run):
    run.purge_totals()
    with pytest.raises(DataError, match=r"totals\.bin: is not there: the totals were purged"):
        again(run.path)
    assert run.result() is not None


def test_a_site_has_the_reasons_in_both_files_and_a_transformer_of_them(run, consortium):
    for name in consortium.case.clients:
        told = consortium.folder.site(name).results / run.id
        with (told / "ranking.csv").open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        record = run.result()
        assert [row["feature"] for row in rows] == record["order"]
        assert [row["why"] for row in rows] == [record["why"][feature] for feature in record["order"]]
        assert {"redundancy", "stability", "chance", "labels"} <= set(rows[0])
        assert list(load_selection(told).get_feature_names_out()) == [
            feature for feature in record["features"] if feature in record["selected"]
        ]
