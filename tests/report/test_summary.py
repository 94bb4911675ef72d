"""The summary of a result: all that its page shows, in plain values."""

import json

import pytest

from fedsieve.errors import DataError
from fedsieve.experiments.assessment import LARGER_IS_BETTER
from fedsieve.report.markdown import as_markdown
from fedsieve.report.page import render_page
from fedsieve.report.sections.alike import alike_section
from fedsieve.report.sections.features import (
    MOST_POINTS,
    features_section,
    no_better_than_chance,
    plain,
    scores_section,
)
from fedsieve.report.sections.federation import federation_section
from fedsieve.report.sections.quality import quality_section
from fedsieve.report.summary import summarize, summarize_comparison, summarize_evaluation
from fedsieve.text import visible
from report_records import HOSTILE, evaluation, record_of

NAMES = [f"f{i}" for i in range(12)]


@pytest.fixture
def record():
    return record_of(NAMES, 4)


def test_the_answer_is_one_sentence_with_the_numbers(record):
    record["chance"] = dict.fromkeys(NAMES, 0.0)
    record["chance"]["f1"] = 2.0
    found = summarize(record)
    assert found["answer"] == (
        "Sieve chose 4 of 12 features from 50 labeled rows and 303 unlabeled rows of 3 sites; 3 of the 4 score "
        "better than chance."
    )
    assert found["notes"] == ["1 chosen feature scores no better than chance: f1."]
    assert {"value": "1.23 s", "label": "in 2 rounds"} in found["figures"]
    assert {"value": "9.0 kB", "label": "left all sites together"} in found["figures"]


@pytest.mark.parametrize(
    ("k", "n_low", "words"),
    [
        (1, 0, "it scores better"),
        (1, 1, "it scores no better"),
        (2, 0, "both score better"),
        (2, 1, "1 of the 2 scores better"),
        (2, 2, "neither scores better"),
        (4, 0, "all 4 score better"),
        (4, 1, "3 of the 4 score better"),
        (4, 4, "none of the 4 scores better"),
    ],
)
def test_what_scores_better_than_chance_are_features_and_neither_rows_nor_sites(k, n_low, words):
    record = record_of(NAMES, k)
    record["pairs"] = None
    record["chance"] = {name: 2.0 if name in NAMES[:n_low] else 0.0 for name in NAMES}
    assert summarize(record)["answer"].endswith(f" of 3 sites; {words} than chance.")


def test_it_is_json_and_the_same_each_time(record):
    assert json.dumps(summarize(record), allow_nan=False) == json.dumps(summarize(record), allow_nan=False)


def test_what_a_site_is_told_alone_is_enough(record):
    """A site's copy has neither shift nor pairs nor timing; secure sums tell no rows of single sites."""
    for name in ("shift", "pairs", "timing", "command", "n_labeled"):
        del record[name]
    record["n_rows"], record["parameters"]["secure"] = None, True
    found = summarize(record)
    assert found["answer"].startswith("Sieve chose 4 of 12 features from 3 sites;")
    assert (found["shift"], found["alike"], found["federation"]["n_rows"]) == (None, None, None)
    assert "the server saw totals over all sites" in " ".join(found["privacy"]["words"])
    assert [one["what"] for one in found["federation"]["amounts"]] == ["sent by all sites"]


def test_rows_of_the_table_are_the_record_s(record):
    found = features_section(record)
    assert (found["names"], found["n_chosen"]) == (NAMES, 4)
    assert found["values"]["rank_SSFMLFS"] == list(range(12, 0, -1))
    assert found["values"]["redundant_with"] == [None, *["f0"] * 11]
    assert found["values"]["ranks"][:2] == ["1 to 6", "1 to 7"]
    titles = {column["key"]: (column["title"], column["beneath"]) for column in found["columns"]}
    assert titles["scores"] == ("Score", None)
    assert (titles["chance"], titles["ranks"]) == (("chance", "scores"), ("range", "rank"))
    assert titles["rank_SSFMLFS"] == ("By SSFMLFS", None)


def test_labels_have_the_chosen_features_that_tell_most_of_them(record):
    fever, pain = summarize(record)["labels"]["rows"]
    strength = record["per_label"]["fever"]
    best = sorted(record["selected"], key=lambda name: -strength[name])[:5]
    assert [one["feature"] for one in fever["features"]] == [visible(name) for name in best]
    assert [one["strength"] for one in fever["features"]] == pytest.approx([strength[name] for name in best], abs=1e-3)
    assert pain == {"label": "pain", "features": []}  # it does not vary
    assert summarize({**record, "per_label": {}})["labels"] is None
    assert summarize({**record, "selected": []})["labels"] is None


def test_a_column_of_another_method_is_shown_by_its_name(record):
    record["columns"].append("q_value")
    record["q_value"] = dict.fromkeys(NAMES, 0.25)
    column = features_section(record)["columns"][-2]
    assert (column["key"], column["title"]) == ("q_value", "q value")


def test_chance_is_unknown_where_no_band_was_found(record):
    record["columns"].remove("chance")
    assert no_better_than_chance(record) is None
    assert "chance" not in summarize(record)["answer"]


@pytest.mark.parametrize("n", [1, 12, MOST_POINTS, 20_000])
def test_the_curve_keeps_the_ends_and_the_cut(n):
    names = [str(i) for i in range(n)]
    k = max(1, n // 40)
    record = {
        "order": names,
        "selected": names[:k],
        "columns": ["scores"],
        "scores": {x: 1 / (1 + int(x)) for x in names},
    }
    ranks = [point["rank"] for point in scores_section(record)["points"]]
    assert {1, k, n} <= set(ranks)
    assert ranks == sorted(set(ranks))
    assert len(ranks) <= 1.5 * MOST_POINTS


def test_sites_that_were_dropped_or_absent_are_told_with_the_reason(record):
    record["dropped"] = {"south": "no heartbeat."}
    record["federation"] = {"run": "r1", "sites": ["north", "south", "east"], "absent": ["west"], "engine": "flwr 1"}
    record["timing"]["sites"] = {"north": 0.51234}
    record["influence"] = {"north": 0.9, "east": 0.0, "south": 0.0}
    found = federation_section(record)
    sites = {site["name"]: site for site in found["sites"]}
    assert (sites["south"]["state"], sites["south"]["why"]) == ("dropped", "no heartbeat.")
    assert (sites["west"]["state"], sites["west"]["rows"]) == ("absent", None)
    assert (sites["north"]["rows"], sites["north"]["sent"], sites["north"]["received"]) == (100, 3000, 200)
    assert sites["north"]["seconds"] == 0.512
    assert found["n_took_part"] == 2
    assert "'north' alone decides 90 % of the selected features" in found["warnings"][0]


def test_bytes_stand_beside_raw_rows_and_the_paper_s_formula(record):
    amounts = {one["what"]: one["bytes"] for one in federation_section(record)["amounts"]}
    assert list(amounts.values()) == [9000, 303 * 12 * 8, 303 * 12 * 4, 303 * 4 * 4]
    assert [what.rpartition(", ")[2] for what in amounts][1:] == ["8 bytes a value", *["4 bytes a value"] * 2]
    rounds = federation_section(record)["rounds"]
    assert [(one["rounds"], one["title"], one["sent"]) for one in rounds] == [
        ("1", "ranges of the columns", 3000),
        ("2", "covariances of the columns", 6000),
    ]


def test_where_the_shift_of_sites_is_known_from_is_told(record):
    assert "all on one machine" in summarize(record)["shift"]["source"]
    record["federation"] = {"run": "r1", "sites": ["north", "south", "east"], "absent": [], "engine": "flwr 1"}
    assert "answers that the selection needed anyway" in summarize(record)["shift"]["source"]


def test_columns_of_sites_that_stand_out_are_named(record):
    found = [{"column": name, "factor": 10.0, "offset": None, "words": f"south, column '{name}'"} for name in NAMES[:4]]
    record["shift"]["south"]["findings"] = found[:1]
    summary = summarize(record)
    assert summary["notes"][-1] == "1 column of single sites looks wrong: f0 of south; see below."
    farthest = summary["shift"]["farthest"]
    assert [(one["party"], one["feature"], one["mean"]) for one in farthest[:2]] == [
        ("east", "f0", -2.5),
        ("south", "f0", -1.5),
    ]
    for text in (render_page(summary), as_markdown(summary)):
        assert "-2.50" in text
    record["shift"]["south"]["findings"] = found
    assert "look wrong: f0 of south, f1 of south, f2 of south and more;" in summarize(record)["notes"][-1]


def test_each_message_that_left_says_what_it_reveals(record):
    left = {one["kind"]: one for one in summarize(record)["privacy"]["left"]}
    assert left["Covariances"]["messages"] == 3
    assert "correlations" in left["Covariances"]["reveals"]
    assert left["Covariances"]["title"] == "covariances of the columns"
    for text in (render_page(summarize(record)), as_markdown(summarize(record))):
        assert "Covariances" not in text.partition('id="data"')[0]


def test_rules_of_the_run_are_those_that_were_in_force(record):
    record["parameters"] |= {"min_cell": 0, "rows_per_column": 0, "max_rows": 1000}
    record["federation"] = {"run": "r1", "sites": ["north", "south", "east"], "absent": [], "min_rows": 50}
    privacy = summarize(record)["privacy"]
    rules = {one["rule"]: one["value"] for one in privacy["rules"]}
    assert rules["fewest rows of a site"] == "50"
    assert "0" not in rules.values()  # of single sites, their own policies say it
    for text in (render_page(summarize(record)), as_markdown(summarize(record))):
        assert "Each site applied its own policy.toml besides" in text
    record["parameters"] |= {"secure": True, "min_cell": 5, "rows_per_column": 3}
    rules = {one["rule"]: one["value"] for one in summarize(record)["privacy"]["rules"]}
    assert rules["fewest rows of all sites that a number may describe"] == "5"
    assert rules["fewest rows of all sites"] == "50"
    assert rules["rows of all sites that each compared column needs"] == "3"
    assert "policy.toml" not in as_markdown(summarize(record | {"federation": None}))


def audit_of(record, **other):
    section = {"words": ["Nothing was read."], "columns": ["attack"], "rows": [["membership"]]}
    same = {"method": record["method"], "features": list(record["order"]), "parameters": dict(record["parameters"])}
    return {"section": section, **same, **other}


def test_an_audit_of_another_method_or_table_is_told(record):
    assert summarize(record, None, audit_of(record))["privacy"]["audit"]["warning"] is None
    bins = audit_of(record, parameters={**record["parameters"], "n_bootstraps": 0, "secure": True})
    for audit, words in (
        (audit_of(record, method="SSFMLFS"), "This audit is of SSFMLFS, not of the selection above."),
        (audit_of(record, features=["p1"]), "of Sieve, on another table, of 1 column, not of the selection above."),
        (bins, "of Sieve, with secure True, not of the selection above."),
        ({"section": bins["section"]}, "does not say which method and columns it attacked"),
    ):
        summary = summarize(record, None, audit)
        assert words in summary["privacy"]["audit"]["warning"]
        for text in (render_page(summary), as_markdown(summary)):
            assert text.index("This audit ") < text.index("Nothing was read.")


def test_the_audit_that_is_missing_is_named_by_a_command_that_fits(record):
    def command():
        return summarize(record)["privacy"]["audit_command"]

    assert command() == "fedsieve audit --method sieve --table ROWS.csv -o audit.json"
    assert command() in render_page(summarize(record))
    record["command"] = "fedsieve demo --seed 1"
    assert command() == "fedsieve audit --method sieve -o audit.json"
    record["parameters"] |= {"secure": True, "epsilon": 2.0, "delta": 1e-7, "ranges": "federated"}
    wanted = "--method sieve --secure --epsilon 2.0 --delta 1e-07 --ranges federated -o"
    assert wanted in command()
    record["method"], record["parameters"] = "SSFMLFS", {"wire": "vectors", "ranges": "robust", "secure": False}
    assert "audit --method ssfmlfs --wire vectors -o" in command()
    record["federation"] = {"run": "r1", "sites": [], "absent": []}
    assert command() == "fedsieve audit FOLDER --table ROWS.csv -o audit.json"
    assert summarize(record | {"method": "a rival"})["privacy"]["audit_command"] is None


def test_the_map_puts_like_features_side_by_side(record):
    record["pairs"]["features"] = NAMES[:4]
    record["pairs"]["values"] = [[0.1], [0.9, 0.1], [0.1, 0.8, 0.1]]  # f0 like f2, f1 like f3
    found = alike_section(record)
    order = found["map"]["features"]
    assert abs(order.index("f0") - order.index("f2")) == abs(order.index("f1") - order.index("f3")) == 1
    i, j = order.index("f0"), order.index("f2")
    assert (found["map"]["values"][i][j], found["map"]["values"][i][i]) == (0.9, 1)
    assert found["closest"][0] == {"first": "f0", "second": "f2", "value": 0.9}
    assert {(link["from"], link["to"]) for link in found["graph"]["links"]} >= {(0, 2), (1, 3)}


def test_distances_are_near_where_they_are_small(record):
    record["pairs"] = {"measure": "distance", "features": NAMES[:3], "values": [[0.4], [0.1, 0.3]]}
    found = alike_section(record)
    assert (found["near_is_high"], found["most"]) == (False, 0.4)
    assert found["closest"][0] == {"first": "f0", "second": "f2", "value": 0.1}
    for column in ("redundancy", "redundant_with"):
        record["columns"].remove(column)
    features = features_section(record)
    assert features["values"]["distance"][:4] == [0.1, 0.3, 0.1, None]
    assert features["values"]["most_like"][:4] == ["f2", "f2", "f0", None]
    titles = {column["key"]: (column["title"], column["beneath"]) for column in features["columns"]}
    assert (titles["distance"], titles["most_like"]) == (("Distance", None), ("most like", "distance"))


def test_an_evaluation_becomes_one_panel_per_classifier_and_measure():
    record = evaluation()
    found = quality_section(record)
    assert {panel["measure"].replace(" ", "_").lower(): panel["better"] for panel in found["panels"]} == {
        metric: "higher" if larger else "lower" for metric, larger in LARGER_IS_BETTER.items()
    }
    assert [panel["measure"] for panel in found["panels"] if "below 0" in panel["note"]] == ["coverage"]
    points = found["panels"][0]["points"]
    assert [point["method"] for point in points[:4]] == ["Sieve", "random", "all features", "a | <b>"]
    assert [point["k"] for point in points if point["method"] == "Sieve"] == [2, 5, 20]
    told = next(row for row in record["summary"] if row["own"] and row["method"] == "Sieve")
    assert points[4] == {"method": "Sieve", "k": 5, "mean": plain(told["mean"]), "error": plain(told["deviation"])}
    assert found["words"] == record["verdict"]
    assert {(gain["measure"], gain["other"]) for gain in found["gains"]} == {
        (panel["measure"], other) for panel in found["panels"] for other in record["others"]
    }
    assert quality_section(None) is None
    for damaged in ({"sizes": [1]}, [], {**record, "summary": [{"metric": 1}]}):
        with pytest.raises(DataError, match=r"evaluation\.json: is no evaluation"):
            quality_section(damaged)


def test_an_evaluation_of_another_selection_is_told_and_concludes_nothing():
    names, record = [f"feature_{place:03d}" for place in range(250)], evaluation(5)
    conclusion = record["verdict"][2]
    same = summarize(record_of(names, 5), record)["quality"]
    assert (same["warning"], same["words"]) == (None, record["verdict"])
    of_none = record_of(names, 0) | {"pairs": None}
    for selection in (of_none, record_of(names, 6), record_of(names, 5) | {"method": "SSFMLFS"}):
        summary = summarize(selection, record)
        found = summary["quality"]
        assert found["warning"] == "This evaluation is of Sieve with 5 features, not of the selection above."
        assert found["words"] == [line for line in record["verdict"] if line != conclusion]
        for text in (render_page(summary), as_markdown(summary)):
            assert found["warning"] in text
            assert text.index(found["warning"]) < text.index(found["words"][0].partition(" ± ")[0])
            assert conclusion not in text
    other_table = summarize(record_of(NAMES, 5), record)["quality"]["warning"]
    assert other_table == "This evaluation is of Sieve with 5 of 250 features, not of the selection above."


def test_where_each_fold_chose_its_number_the_selection_is_among_them():
    names, record = [f"feature_{place:03d}" for place in range(250)], evaluation(5)
    for fold in record["folds"]:
        fold["n_features"] += fold["fold"] * fold["own"]
    assert summarize(record_of(names, 7), record)["quality"]["warning"] is None
    told = summarize(record_of(names, 8), record)["quality"]["warning"]
    assert told == "This evaluation is of Sieve with 5 to 7 features, not of the selection above."


def test_an_evaluation_alone_has_a_summary_of_its_own():
    record = evaluation()
    found = summarize_evaluation(record)
    assert found["answer"] == record["verdict"][2]
    assert found["notes"] == ["A note."]
    assert found["quality"]["words"] == record["verdict"][:2]
    assert {"value": "5", "label": "of 250 features kept"} in found["figures"]
    assert {"value": "60", "label": "labeled rows with 2 labels"} in found["figures"]
    features = found["features"]
    assert (features["n_chosen"], features["names"][:3]) == (3, ["feature_000", "feature_001", "feature_002"])
    assert features["values"]["share"][:4] == [1, 0.6667, 0.3333, 0]
    json.dumps(found, allow_nan=False)


def test_names_that_steer_or_turn_the_reading_are_written_out():
    found = summarize(record_of(HOSTILE, 4))
    text = json.dumps(found, ensure_ascii=False)
    assert "\u202e" not in text
    assert "<script>document.title='owned'</script>" in found["features"]["names"]


def test_a_comparison_says_what_entered_left_moved_and_was_set_otherwise():
    first, second = record_of(NAMES, 4), record_of([*NAMES[2:], *NAMES[:2]], 5)
    second["parameters"]["epsilon"] = 1.0
    del second["n_rows"]["east"]
    found = summarize_comparison(first, second, ("a/", "b/"))
    rows = {row["feature"]: row["what"] for row in found["changes"]["rows"]}
    assert {name for name, what in rows.items() if what == "left"} == {"f0", "f1"}
    assert {name for name, what in rows.items() if what == "entered"} == {"f4", "f5", "f6"}
    assert {"name": "parameter epsilon", "first": "none", "second": "1.0"} in found["changes"]["settings"]
    assert {"name": "rows of east", "first": "102", "second": "-"} in found["changes"]["settings"]
    states = {point["feature"]: point["state"] for point in found["changes"]["points"]}
    assert (states["f2"], states["f0"], states["f4"]) == ("in both", "only in the first", "only in the second")
    json.dumps(found, allow_nan=False)


def test_where_the_error_rate_was_controlled_it_is_told_with_its_doubts(record):
    words, doubt = "At a false discovery rate of 0.2, 12 of 40 features are selected.", "too few <rows>."
    record["fdr"] = {"q": 0.2, "words": words, "doubts": [doubt]}
    for column in ("knockoff_margin", "e_value", "rank_linear"):
        record["columns"].append(column)
        record[column] = dict.fromkeys(record["order"], 0.5)
    summary = summarize(record)
    assert summary["notes"][-2:] == [words, "Too few <rows>."]
    titles = {column["key"]: column["title"] for column in summary["features"]["columns"]}
    assert (titles["knockoff_margin"], titles["e_value"]) == ("Margin", "Evidence")
    assert "rank_linear" not in titles  # of a part of the method, no method of its own


def test_an_empty_selection_is_an_answer():
    record = record_of([f"f{i}" for i in range(700)], 0) | {"pairs": None}
    summary = summarize(record)
    assert summary["answer"].startswith("Sieve chose none of 700 features from ")
    assert "chance" not in summary["answer"]
    shown = {column["key"] for column in summary["features"]["columns"]}
    assert "relevance" in shown
    assert not {"redundancy", "redundant_with"} & {*shown, *summary["features"]["values"]}
    ranks = [point["rank"] for point in summary["scores"]["points"]]
    assert (ranks[0], ranks[-1], len(set(ranks))) == (1, 700, len(ranks))


def test_of_very_many_sites_the_true_number_is_told():
    names = [f"site-{i:04d}" for i in range(1500)]
    summary = summarize(record_of(NAMES, 4, sites=names))
    federation, shift = summary["federation"], summary["shift"]
    assert (federation["n_took_part"], federation["n_sites"], len(federation["sites"])) == (1500, 1500, 1000)
    assert (shift["n_parties"], len(shift["parties"])) == (1501, 1000)
    assert {"value": "1,500", "label": "sites took part"} in summary["figures"]
    for text in (render_page(summary), as_markdown(summary)):
        assert "the first 1,000 of 1,500 sites" in text
        assert "of 1,000 sites" not in text


def test_one_is_one():
    record = record_of(NAMES, 1)
    record["transcript"] = [one for one in record["transcript"] if one["round"] == 1]
    record["n_rows"] = {"north": 1}
    record["n_labeled"] = 1
    page, text = (make(summarize(record)) for make in (render_page, as_markdown))
    assert "The one chosen feature, with its reasons" in page
    assert "1 round in 1.23 s" in page
    assert "1 round in 1.23 s" in text
    assert "from 1 labeled row and 1 unlabeled row of 3 sites" in page
    assert {"value": "1", "label": "round"} in summarize(record | {"timing": None})["figures"]
    both = summarize_comparison(record, record, ("a/", "b/"))["answer"]
    assert both.startswith("The first selection chooses 1 feature, the second 1; 1 is in both, where")
    assert "The 12 chosen features, best first" in render_page(summarize(record_of(NAMES, 12)))
    assert "are a click away" not in render_page(summarize(record_of(NAMES, 12)))
    assert "the other one is a click away" in render_page(summarize(record_of(NAMES, 11)))
    assert "No feature is chosen" in render_page(summarize(record_of(NAMES, 0) | {"pairs": None}))
