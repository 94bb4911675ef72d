"""`fedsieve select --explain-plan` says what a run would cost and runs nothing."""

import json

import pytest

from fedsieve import kernels
from fedsieve import tables as tables_module
from fedsieve.datasets import streams
from fedsieve.methods import SieveMethod
from fedsieve.methods.run_costs import FederationSize, first_done, graph_forms


def test_the_plan_names_the_form_taken_and_its_costs(fedsieve, tables):
    result = fedsieve(*tables.select("--explain-plan"))
    assert result.code == 0, result.err
    for word in ("statistics", "vectors", "matrices", "rounds", "bytes per site", "done after"):
        assert word in result.out
    assert "wire='auto' takes 'statistics'" in result.out
    assert "66 (max_pairs=10,000,000)" in result.out  # pairs of twelve rows
    assert "Nothing was run" in result.out
    assert not tables["result"].exists()


def test_a_form_that_was_asked_for_is_taken_whatever_it_costs(fedsieve, tables):
    result = fedsieve(*tables.select("--explain-plan", "--wire", "vectors"))
    assert "wire='vectors' was asked for; by costs it would be 'statistics'" in result.out


def test_the_plan_is_a_document_too(fedsieve, tables):
    plan = json.loads(fedsieve(*tables.select("--explain-plan", "--json")).out)
    assert (plan["method"], plan["taken"], plan["n_sites"], plan["max_pairs"]) == ("SSFMLFS", "statistics", 2, 10**7)
    forms = {form["form"]: form for form in plan["forms"]}
    assert set(forms) == {"statistics", "vectors", "matrices"}
    assert forms["statistics"]["done_after"] > forms["statistics"]["seconds"] > 0
    assert "max_pairs" not in json.loads(fedsieve(*tables.select("--explain-plan", "--json", method="sieve")).out)


def test_a_plan_needs_no_folder_and_a_selection_does(fedsieve, tables):
    words = [str(word) for word in tables.select()]
    place = words.index("--out")
    del words[place : place + 2]
    result = fedsieve(*words, "--explain-plan")
    assert (result.code, "Nothing was run" in result.out) == (0, True)
    assert "select needs --out, the folder for the result; only --explain-plan" in fedsieve(*words).message
    assert fedsieve(*tables.select()).code == 0
    assert fedsieve(*tables.select("--explain-plan")).code == 0  # the folder has a result, which stays


def test_sieve_has_one_form(fedsieve, tables):
    result = fedsieve(*tables.select("--explain-plan", "--method", "sieve"))
    assert "It has one form: all 6 columns compared" in result.out


def test_the_plan_of_sieve_tells_the_most_columns_and_what_would_be_refused(fedsieve, tables, monkeypatch):
    words = tables.select("--explain-plan", method="sieve")
    result = fedsieve(*words)
    assert "Columns that can be compared at most: 11,3" in result.out
    assert "Warning" not in result.err
    monkeypatch.setattr(SieveMethod, "max_message_bytes", 150)
    monkeypatch.setattr(SieveMethod.__init__, "__defaults__", _defaults_with(150))
    result = fedsieve(*words)
    assert "Warning: a run would be refused. Sieve: covariances of 6 columns take 216 bytes" in result.err
    plan = json.loads(fedsieve(*words, "--json").out)
    assert (plan["most_compared"], plan["max_message_bytes"]) == (0, 150)


def _defaults_with(limit):
    """Of the method's parameters, since the command has no option for the limit."""
    return tuple(limit if value == 512_000_000 else value for value in SieveMethod.__init__.__defaults__)


@pytest.mark.parametrize(("n_features", "form"), [(50, "statistics"), (2_000, "statistics"), (5_000, "vectors")])
def test_the_form_follows_from_the_columns(n_features, form):
    forms = graph_forms(FederationSize(10, 200, n_features, n_features), kernels.USUAL_PAIRS)
    assert first_done(forms).form == form


def test_no_form_for_wide_tables_holds_all_pairs_of_features():
    wide = {form.form: form for form in graph_forms(FederationSize(10, 200, 50_000, 50_000), kernels.USUAL_PAIRS)}
    assert wide["statistics"].site_bytes > 2e9
    assert wide["vectors"].site_bytes < 1e8
    assert "from the rows" in wide["vectors"].how


def test_seconds_stop_growing_where_pairs_are_sampled():
    at = [graph_forms(FederationSize(10, n, 100, 100), 10**6)[0].seconds for n in (500, 10_000, 1_000_000)]
    assert at[0] < at[1] / 5
    assert at[1] == pytest.approx(at[2], rel=0.01)


@pytest.mark.parametrize("n_features", [9_000, 20_000, 50_000])
def test_sieve_by_default_compares_no_more_columns_than_it_screens(n_features):
    method = SieveMethod(tuple(f"f{p}" for p in range(n_features)))
    assert method.n_compared == method.screen == 2000
    assert method.k == min(n_features // 10, 1000)
    assert SieveMethod(method.features, n_features_to_select=3000).n_compared == 6000


def test_of_a_streamed_client_the_plan_counts_the_rows_that_it_draws(fedsieve, tables, monkeypatch):
    monkeypatch.setattr(streams, "LARGE_FILE", 0)
    monkeypatch.setattr(tables_module, "MOST_COMPARED", 10)
    result = fedsieve(*tables.select("--explain-plan"))
    assert "Row pairs that a client compares at most: 45 (max_pairs=10,000,000), of 10 rows" in result.out
    assert "statistics: pair sums, 45 of 66 row pairs" in result.out
    plan = json.loads(fedsieve(*tables.select("--explain-plan", "--json")).out)
    assert (plan["largest_n_rows"], plan["n_pairs"]) == (12, 45)


def test_rows_that_are_drawn_cost_as_much_as_a_table_of_so_many():
    tall = FederationSize(10, 20_000, 100, 100, n_related=tables_module.MOST_COMPARED)
    forms = {form.form: form for form in graph_forms(tall, 10**9)}
    assert "134,209,536 of 199,990,000 row pairs" in forms["statistics"].how
    assert "all pairs of 16,384 rows" in forms["matrices"].how
    fewer = graph_forms(FederationSize(10, tables_module.MOST_COMPARED, 100, 100), 10**9)
    assert [form.seconds for form in forms.values()] == [form.seconds for form in fewer]
