"""The rounds that a plan tells are those that a run takes, by its transcript."""

import json

import numpy as np
import pytest

from fedsieve.cli.plan import federation_of
from fedsieve.cli.tables import FederationTables
from fedsieve.datasets.coding import Coding
from fedsieve.methods import SieveMethod, SSFMLFSMethod
from fedsieve.methods.run_costs import FederationSize
from fedsieve.protocol import Labeled
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process

NAMES = tuple(f"f{p}" for p in range(12))
DECLARED = dict.fromkeys(NAMES, (-4.0, 4.0))
WIDE = {"screen": 4, "n_features_to_select": 2}


def planned_and_taken(gaps=(), **parameters):
    """Rounds, of tables of which some miss a value."""
    rng = np.random.default_rng(3)
    rows = {name: rng.normal(size=(40, len(NAMES))) for name in ("server", "a", "b")}
    labels = (rows["server"][:, :2] > 0).astype(float)
    for name in gaps:
        rows[name][:5, 1] = np.nan
    labeled = Labeled(rows.pop("server"), labels)
    sites = {name: ArrayTable(NAMES, X) for name, X in rows.items()}
    method = SieveMethod(NAMES, n_trees=5, n_bootstraps=0, **parameters)
    (form,) = method.forms(federation_of(FederationTables(NAMES, ("y", "z"), labels, labeled, sites, Coding(), ())))
    assert "where values are missing" not in form.how  # the tables were looked at
    outcome = in_process.select(method, labeled, sites)
    return form.n_rounds, max(entry.round for entry in outcome.transcript)


@pytest.mark.parametrize("gaps", [(), ("b",), ("server",)], ids=["no gaps", "at a site", "at the server"])
@pytest.mark.parametrize("wide", [{}, WIDE], ids=["narrow", "wide"])
@pytest.mark.parametrize(
    "how",
    [{}, {"ranges": "federated"}, {"ranges": DECLARED}, {"ranges": DECLARED, "epsilon": 1.0}],
    ids=["robust", "exact", "declared", "noise"],
)
def test_sieve_takes_the_rounds_of_its_plan(how, wide, gaps):
    planned, taken = planned_and_taken(gaps, **how, **wide)
    assert planned == taken


def test_sieve_without_gaps_allowed():
    assert planned_and_taken(missing="error") == (2, 2)
    assert planned_and_taken(missing="error", ranges=DECLARED, **WIDE) == (2, 2)


def test_where_nobody_looked_the_plan_says_what_gaps_would_cost():
    nobody_looked = FederationSize(2, 40, len(NAMES), len(NAMES))

    def form(**how):
        return SieveMethod(NAMES, **how).forms(nobody_looked)[0]

    assert (form().n_rounds, "; one more round where values are missing" in form().how) == (2, True)
    at_once = form(ranges=DECLARED)
    assert (at_once.n_rounds, "; two more rounds where values are missing" in at_once.how) == (1, True)
    assert "missing" not in form(missing="error").how


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("method", ["sieve", "ssfmlfs"])
def test_select_takes_the_rounds_that_it_explained(fedsieve, tables, method, gaps):
    if gaps:
        tables.save("siteA.csv", tables.clients["siteA"].assign(dose=[None, *tables.clients["siteA"]["dose"][1:]]))
    words = tables.select(*(["--missing", "unrelated"] * (method == "ssfmlfs")), method=method)
    plan = json.loads(fedsieve(*words, "--explain-plan", "--json").out)
    assert fedsieve(*words).code == 0
    asked = json.loads((tables["result"] / "selection.json").read_text())["transcript"]
    (form,) = (form for form in plan["forms"] if form["form"] == plan["taken"])
    counted = {entry["round"] for entry in asked if "Moments" not in entry["kind"]}
    assert form["n_rounds"] == len(counted) == (2 + gaps if method == "sieve" else 1)


@pytest.mark.parametrize(("n_features", "about"), [(6, "at least about"), (12, "at most about"), (60, "at most about")])
def test_rounds_of_vectors_are_a_cautious_figure_but_for_few_columns(n_features, about):
    rng, names = np.random.default_rng(4), tuple(f"f{p}" for p in range(n_features))
    X = rng.normal(size=(40, n_features))
    sites = {name: ArrayTable(names, rng.normal(size=(50, n_features))) for name in "ab"}
    method = SSFMLFSMethod(names, wire="vectors")
    told = {form.form: form for form in method.forms(FederationSize(2, 50, n_features, n_features))}
    assert (told["vectors"].about, told["statistics"].about) == (about, "")
    outcome = in_process.select(method, Labeled(X, (X[:, :2] > 0).astype(float)), sites)
    taken = len({entry.round for entry in outcome.transcript if entry.kind == "AskProducts"})
    assert taken <= told["vectors"].n_rounds if about == "at most about" else taken >= told["vectors"].n_rounds


def test_the_plan_says_how_rounds_of_vectors_are_meant(fedsieve, tables):
    shown = fedsieve(*tables.select("--explain-plan")).out
    assert "at least" in shown  # of six columns
    assert "rounds until PageRank stands still" in " ".join(shown.split())
