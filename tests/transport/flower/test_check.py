"""A check asks what tells of single columns, by all rules of a run, and stops before columns are compared."""

import json

import numpy as np
import pytest

from fedsieve.cli.communication import Way
from fedsieve.cli.federation.run import _show as show
from fedsieve.deployment.runs import CHECK, SHIFT, new_run
from fedsieve.deployment.site_shift import read_shift
from fedsieve.deployment.what_left import WhatLeft
from fedsieve.errors import ParameterError
from fedsieve.protocol.checkup import findings
from fedsieve.transport.first_look import ALL, why_nothing_to_ask
from transport.flower.consortium import is_silent, sabotage

QUICK = {"n_trees": 3, "n_bootstraps": 0, "n_features_to_select": 2}
SECURE = {"min_rows": 10, "secure": True, "min_cell": 0, "rows_per_column": 0}
KINDS = {"parties": dict}


@pytest.fixture
def clinical(consortium):
    """All rows are alike, but one site has one column in another unit."""
    rng, case = np.random.default_rng(0), consortium.case
    for name in case.clients:
        case.clients[name] = rng.normal(110, 25, size=(90, len(case.features)))
    case.clients["site-1"][:, 2] /= 18
    case.X[:] = rng.normal(110, 25, size=case.X.shape)
    consortium.agree("Sieve", parameters=QUICK, ranges="robust")
    return consortium


def checked(consortium):
    run = new_run(consortium.folder, list(consortium.case.clients), [], check=True)
    return consortium.lead(run), run.aside(CHECK, KINDS)


def told(consortium, name):
    return [line["reply"] for line in WhatLeft(consortium.folder.site(name).path).chain.entries()]


def test_a_check_tells_of_columns_and_asks_nothing_that_compares_them(clinical):
    run, report = checked(clinical)
    name = clinical.case.features[2]
    assert findings(report) == [
        f"site-1: one value only in {name!r}, which vary elsewhere.",
        f"site-1, column {name!r}: its values lie apart from nearly all of the others' (another unit or coding?)",
    ]
    assert {party: found["rows"] for party, found in report["parties"].items()} == {
        "server": len(clinical.case.X),
        "site-0": 90,
        "site-1": 90,
        "site-2": 90,
    }
    assert report["asked"] == ["histograms of the columns"]
    assert [told(clinical, site) for site in clinical.case.clients] == [["Histograms"]] * 3
    assert run.result() is None
    assert run.has_ended
    assert run.events()[-1]["event"] == "finished"
    assert not run.replies.exists()
    assert (run.path / CHECK).stat().st_mode & 0o077 == 0


def test_a_check_counts_as_a_run_of_the_site_and_a_run_after_it_goes_on_as_ever(clinical):
    run, _ = checked(clinical)
    after = clinical.lead()
    assert after.result()["scores"] == clinical.expected()["scores"]
    entries = list(WhatLeft(clinical.folder.site("site-0").path).chain.entries())
    assert [(entry["run"], entry["reply"]) for entry in entries] == [
        (run.id, "Histograms"),
        (after.id, "Histograms"),
        (after.id, "Covariances"),
    ]


def test_how_single_sites_lie_is_kept_for_the_operator_and_sent_to_no_site(clinical):
    run = clinical.lead()
    shift = run.aside(SHIFT, {"sites": dict})["sites"]
    assert [one["column"] for one in shift["site-1"]["findings"]] == [clinical.case.features[2]]
    assert "shift" not in run.result()
    for name in clinical.case.clients:
        sent = json.loads((clinical.folder.site(name).results / run.id / "selection.json").read_text(encoding="utf-8"))
        assert "shift" not in sent


def test_run_warns_of_it_and_writes_it_into_the_operators_result(clinical, tmp_path, capsys):
    show(clinical.lead(), tmp_path / "result", Way())
    told = f"Warning: site-1, column {clinical.case.features[2]!r}: its values lie apart"
    assert told in capsys.readouterr().err
    record = json.loads((tmp_path / "result" / "selection.json").read_text(encoding="utf-8"))
    assert set(record["shift"]) == {"server", "site-0", "site-1", "site-2"}


@pytest.mark.parametrize("privacy", [{"min_rows": 10}, SECURE], ids=["plain", "secure"])
def test_the_site_itself_finds_the_factor_whether_or_not_sums_are_secure(clinical, privacy):
    clinical.agree("Sieve", parameters=QUICK, ranges="robust", privacy=privacy)
    run = clinical.lead()
    site = clinical.folder.site("site-1")
    assert [found.get("looks") for found in read_shift(site.results / run.id)][:2] == [
        "look like 1/18 of the others' (mg/dl and mmol/l of glucose?)",
        None,
    ]
    assert "its values look like 1/18 of the others'" in (site.path / "fedsieve.log").read_text(encoding="utf-8")
    assert not any(found.get("looks") for found in read_shift(clinical.folder.site("site-0").results / run.id))


def test_secure_sums_tell_of_all_sites_together_only(clinical):
    clinical.agree("Sieve", parameters=QUICK, ranges="robust", privacy=SECURE)
    run, report = checked(clinical)
    assert list(report["parties"]) == [ALL]
    assert report["parties"][ALL]["rows"] == 270
    assert (report["shift"], report["secure"]) == (None, True)
    assert not any(site in json.dumps(report) for site in clinical.case.clients)
    assert "a secure sum" not in report["asked"]
    kinds = [line["request"] for line in WhatLeft(clinical.folder.site("site-0").path).chain.entries()]
    assert [kind for kind in kinds if kind in ("AskCells", "AskHistograms", "AskCovariances")] == [
        "AskCells",
        "AskHistograms",
    ]
    assert run.has_ended


def test_a_site_that_refuses_or_is_silent_is_named_and_the_others_are_compared(clinical):
    (clinical.folder.site("site-0").path / "policy.toml").write_text("min_rows = 'many'", encoding="utf-8")
    sabotage(clinical, "site-2", "AskHistograms", is_silent)
    _, report = checked(clinical)
    assert set(report["refused"]) == {"site-0", "site-2"}
    assert "policy.toml" in report["refused"]["site-0"]
    assert set(report["parties"]) == {"server", "site-1"}


def test_means_are_asked_where_they_come_before_the_graph(clinical):
    clinical.agree("SSFMLFS", ranges="robust")
    _, report = checked(clinical)
    assert report["asked"] == ["histograms of the columns", "means and spreads"]
    assert told(clinical, "site-0") == ["Histograms", "Moments"]


def test_what_would_show_nothing_or_cost_a_run_is_not_asked(clinical):
    ranges = {name: [0.0, 300.0] for name in clinical.case.features}
    clinical.agree("Sieve", parameters=QUICK, ranges=ranges)
    assert "nothing is asked of single columns" in why_nothing_to_ask(clinical.plan)
    run = new_run(clinical.folder, list(clinical.case.clients), [], check=True)
    clinical.lead(run)
    assert "nothing is asked of single columns" in run.failure()
    assert told(clinical, "site-0") == []
    assert issubclass(ParameterError, ValueError)
