"""`fedsieve check`: what is wrong in files, before anything is selected; and what a federation's check shows."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from fedsieve.cli.federation.check import show_check
from fedsieve.deployment.runs import CHECK, RunFolder


def frame(seed, n=60):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "glucose": rng.normal(110, 25, n),
            "temperature": rng.normal(37, 0.7, n),
            "sex": rng.integers(0, 2, n),
            "ward": rng.integers(1, 4, n),
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], n),
        }
    )


@pytest.fixture
def files(tmp_path):
    """Three sites and a server whose tables are alike, and a way to write a changed one."""
    frames = {f"site{name}": frame(seed) for seed, name in enumerate("ABC")}
    frames["server"] = frame(9).assign(label_a=lambda rows: (rows["glucose"] > 110).astype(int))

    def write(**changed):
        for name, rows in (frames | changed).items():
            rows.to_csv(tmp_path / f"{name}.csv", index=False)
        sites = [tmp_path / f"{name}.csv" for name in frames if name != "server"]
        return ["check", *sites, "--labeled", tmp_path / "server.csv"]

    write.frames = frames
    return write


def warnings_of(said):
    return [line.removeprefix("Warning: ") for line in said.err.splitlines() if line.startswith("Warning")]


def test_alike_files_give_nothing_and_exit_code_0(fedsieve, files):
    said = fedsieve(*files(), "--nominal", "ward")
    assert (said.code, warnings_of(said)) == (0, [])
    assert "Nothing looks wrong." in said.out
    assert "Taken for labels, since no site has them: 'label_a'." in said.out


def test_everything_that_is_wrong_is_named_by_site_and_column_and_no_value_is_shown(fedsieve, files):
    a, b, c = (files.frames[name].copy() for name in ("siteA", "siteB", "siteC"))
    a["glucose"] /= 18
    a["sex"] += 1
    b["temperature"] = 1.8 * b["temperature"] + 32
    b.loc[:35, "glucose"] = np.nan
    b["more"] = 3.25
    c = c.drop(columns="glucose")
    c["city"] = c["city"].replace("Kiel", "Atlantis")
    c["ward"] = 2
    said = fedsieve(*files(siteA=a, siteB=b, siteC=c), "--nominal", "ward")
    assert said.code == 1
    assert warnings_of(said) == [
        "siteB: alone has the columns 'more'.",
        "siteC: lacks the columns 'glucose'.",
        "siteA: codes that no other party has in 'sex'.",
        "siteB: half of the values or more are missing in 'glucose'.",
        "siteC: one value only in 'ward', which vary elsewhere.",
        "siteC: codes that no other party has in 'city'.",
        "siteA, column 'glucose': its values look like 1/18 of the others' (mg/dl and mmol/l of glucose?)",
        "siteB, column 'temperature': its values look like 1.8 times the others' plus 32 (°C and °F?)",
    ]
    assert "Atlantis" not in said.out + said.err


def test_json_holds_the_same_for_programs(fedsieve, files):
    a = files.frames["siteA"].copy()
    a["glucose"] /= 18
    said = fedsieve(*files(siteA=a), "--json")
    found = json.loads(said.out)
    assert said.code == 1
    assert found["shift"]["siteA"]["findings"][0]["factor"] == pytest.approx(1 / 18)
    assert found["parties"]["siteA"]["rows"] == 60
    assert len(found["findings"]) == 1


def test_columns_that_are_nearly_the_same_at_all_sites_are_named_once_and_by_chance_at_one_never(fedsieve, files):
    changed = {name: rows.assign(again=2 * rows["glucose"] + 1) for name, rows in files.frames.items()}
    changed["siteA"].loc[:30, "glucose"] = np.nan  # rows that have both are compared
    assert "columns 'glucose' and 'again' are nearly the same." in warnings_of(fedsieve(*files(**changed)))
    changed["siteB"]["again"] = changed["siteB"]["temperature"] * 3
    assert not any("nearly the same" in line for line in warnings_of(fedsieve(*files(**changed))))


def test_text_of_rows_and_text_among_numbers_are_named(fedsieve, files):
    changed = {n: rows.assign(code=[f"{n}{i}" for i in range(60)]) for n, rows in files.frames.items()}
    changed["siteB"]["sex"] = changed["siteB"]["sex"].map({0: "f", 1: "m"})
    assert warnings_of(fedsieve(*files(**changed))) == [
        "column 'code' holds text of its own in most rows: an ID, or free text?",
        "column 'sex' holds text in 'siteB', numbers elsewhere.",
    ]


def test_files_of_all_kinds_are_read_as_select_reads_them(fedsieve, files, tmp_path):
    files()
    files.frames["siteA"].to_csv(tmp_path / "siteA.csv", index=False, sep=";", decimal=",", encoding="latin-1")
    files.frames["siteB"].assign(city=files.frames["siteB"]["city"] + " ").to_csv(tmp_path / "siteB.tsv", sep="\t")
    sites = [tmp_path / name for name in ("siteA.csv", "siteB.tsv", "siteC.csv")]
    said = fedsieve("check", *sites, "--labeled", tmp_path / "server.csv")
    assert (said.code, warnings_of(said)) == (0, [])
    assert f"{sites[0]}: read as: sep ';', decimal ','" in said.out
    as_json = fedsieve("check", *sites, "--labeled", tmp_path / "server.csv", "--json")
    assert json.loads(as_json.out)["findings"] == []
    wrong = fedsieve("check", *sites, "--sep", ";")
    assert (wrong.code, "siteC: alone has the columns" in wrong.err) == (1, True)


def test_words_are_compared_as_words_also_where_one_file_calls_them_categories(fedsieve, files, tmp_path):
    b, c = (files.frames[name].astype({"city": "category"}) for name in ("siteB", "siteC"))
    call = files()
    for name, rows in (("siteB", b), ("siteC", c)):
        rows.to_parquet(tmp_path / f"{name}.parquet")
    call[2:4] = [tmp_path / "siteB.parquet", tmp_path / "siteC.parquet"]
    assert fedsieve(*call).code == 0
    c["city"] = c["city"].cat.rename_categories({"Kiel": "Atlantis"})
    c.to_parquet(tmp_path / "siteC.parquet")
    assert warnings_of(fedsieve(*call)) == ["siteC: codes that no other party has in 'city'."]


def test_ids_and_dates_are_not_compared_and_ids_need_not_be_the_same(fedsieve, files):
    days = {"seen": [f"20{20 + i}-01-01" for i in range(4)]}
    changed = {
        name: rows.assign(patient_id=np.arange(60) + 1000 * place, seen=days["seen"][place], record=np.arange(60) + 500)
        for place, (name, rows) in enumerate(files.frames.items())
    }
    changed["siteA"] = changed["siteA"].rename(columns={"patient_id": "mrn"})
    said = fedsieve(*files(**changed))
    assert (said.code, warnings_of(said)) == (0, [])
    assert (
        "Not compared: 'patient_id': named like an id; 'seen': holds dates; 'record': differs in every row" in said.out
    )


def test_what_nobody_can_read_is_named_by_its_row_and_never_shown(fedsieve, files):
    b, c = files.frames["siteB"].astype({"glucose": object}), files.frames["siteC"].copy()
    b.loc[4, "glucose"] = "SECRET"
    c["temperature"] = "2020-01-01"
    said = fedsieve(*files(siteB=b, siteC=c))
    assert warnings_of(said) == [
        "column 'temperature' holds dates in 'siteC', numbers elsewhere.",
        "siteB: column 'glucose' holds text among numbers, first in row 5.",
    ]
    assert "SECRET" not in said.out + said.err


def test_of_two_files_nobody_can_say_which_is_odd(fedsieve, files):
    _, first, second, *_ = files()
    said = fedsieve("check", first, second)
    assert said.code == 0
    assert "of two files nobody could say which one is odd" in said.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["A.csv"], "check compares two files or more; got 1."),
        (["A.csv", "nowhere.csv"], "nowhere.csv: no such file."),
        (["A.csv", "x=A.csv", "--nominal", "shoe"], "--nominal names 'shoe', which no or few files have."),
        (["A.csv", "labeled=A.csv", "--labeled", "A.csv"], "a site is called 'labeled'"),
        (["A.csv", "A.csv"], "two clients are called 'A'"),
    ],
)
def test_bad_calls_are_named(fedsieve, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    frame(0).to_csv("A.csv", index=False)
    said = fedsieve("check", *arguments)
    assert said.code == 2
    assert message in said.message


REPORT = {
    "asked": ["histograms of the columns"],
    "refused": {"siteC": "has too few rows."},
    "secure": False,
    "parties": {"siteA": {"rows": 60, "missing": {"age": 0.1}, "constant": [], "unknown_codes": {}}},
    "shift": {"siteA": {"columns": [], "findings": [{"column": "age", "words": "siteA, column 'age': odd"}]}},
}


def shown(fedsieve_folder, report):
    run = RunFolder(fedsieve_folder)
    settings = {"id": "run", "sites": ["siteA", "siteC"], "absent": ["siteD"], "agreement": "f", "check": True}
    (run.path / "run.json").write_text(json.dumps(settings), encoding="utf-8")
    run.keep_aside(CHECK, report)
    return run


def test_a_federations_check_names_who_was_absent_who_refused_and_what_is_odd(tmp_path, capsys):
    assert show_check(shown(tmp_path, REPORT), as_json=False)
    said = capsys.readouterr()
    assert "Warning: siteD did not join." in said.err
    assert "Warning: siteC refused: has too few rows." in said.err
    assert "Warning: siteA, column 'age': odd" in said.err
    assert "No columns were compared. 3 findings" in " ".join(said.out.split())


def test_a_secure_check_says_that_sites_find_their_own_shift_and_a_clean_one_that_nothing_is_wrong(tmp_path, capsys):
    clean = REPORT | {"refused": {}, "secure": True, "shift": None}
    run = shown(tmp_path, clean)
    settings = json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) | {"absent": []}
    (tmp_path / "run.json").write_text(json.dumps(settings), encoding="utf-8")
    assert not show_check(run, as_json=False)
    said = " ".join(capsys.readouterr().out.split())
    assert "each site finds in a run: fedsieve federation log FOLDER --shift" in said
    assert "Nothing looks wrong." in said
    assert not show_check(run, as_json=True)
    assert json.loads(capsys.readouterr().out)["findings"] == []


def test_a_check_cannot_be_resumed_as_a_run(fedsieve, tmp_path, monkeypatch):
    from fedsieve.cli.federation import run as command

    folder = tmp_path / "server" / "runs" / "r1"
    folder.mkdir(parents=True)
    shown(folder, REPORT)
    monkeypatch.setattr(command.ServerFolder, "agreement", lambda _: SimpleNamespace(above=None, sites=()))
    monkeypatch.setattr(command, "find_run", lambda *_: RunFolder(folder))
    assert (
        "was a check, which ends without a selection"
        in fedsieve("federation", "run", tmp_path, "--resume", "last").message
    )


def test_one_finding_is_said_in_the_singular(fedsieve, files, tmp_path, capsys):
    a = files.frames["siteA"].copy()
    a["glucose"] /= 18
    said = fedsieve(*files(siteA=a))
    assert len(warnings_of(said)) == 1
    assert said.out.rstrip().endswith("1 finding.")
    run = shown(tmp_path, REPORT | {"refused": {}, "shift": None})
    assert show_check(run, as_json=False)  # siteD is absent
    assert "No columns were compared. 1 finding; all" in " ".join(capsys.readouterr().out.split())
