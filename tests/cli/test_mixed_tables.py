"""Tables as hospitals keep them, through select, apply, init and join: text, dates, ids, and files of many kinds."""

import json
import tomllib

import numpy as np
import openpyxl
import pandas as pd
import pytest

from fedsieve.cli.agreed_tables import read_rows
from fedsieve.deployment.site_folder import SiteFolder

CANARY = "SECRET-7731"
RULES = "min_rows = 10\nmin_cohort = 2\nrows_per_column = 1\n"


@pytest.fixture
def mixed(tables):
    """The tables with a patient's id, sex and ward, as text, and the day of a visit."""
    rng = np.random.default_rng(2)

    def more(frame: pd.DataFrame) -> pd.DataFrame:
        n = len(frame)
        return frame.assign(
            patient_id=[f"P{number}" for number in rng.permutation(10**6)[:n]],
            sex=rng.permutation(np.resize(["f", "m"], n)),
            ward=rng.permutation(np.resize(["Nord", "Süd"], n)),
        )

    made = {"server": more(tables.server), **{name: more(frame) for name, frame in tables.clients.items()}}
    tables.save("server.csv", made["server"])
    tables.save("siteA.csv", made["siteA"])
    tables.save("siteB.parquet", made["siteB"])
    return made


def selected(tables, out="result"):
    return json.loads((tables[out] / "selection.json").read_text())


@pytest.mark.usefixtures("mixed")
def test_select_reads_text_and_leaves_ids_out(fedsieve, tables):
    result = fedsieve(*tables.select())
    assert result.code == 0, result.err
    assert "Text is read as categories: 'sex' (2), 'ward' (2)" in result.out
    assert "Warning: columns are left out: 'patient_id': named like an id." in result.err
    record = selected(tables)
    assert set(record["order"]) == {*tables.features, "sex", "ward"}
    assert record["parameters"]["nominal"] == ["sex", "ward"]


def test_select_gives_what_codes_by_hand_give(fedsieve, tables, mixed):
    assert fedsieve(*tables.select()).code == 0
    for name, frame in mixed.items():
        coded = frame.drop(columns="patient_id").replace({"f": 0, "m": 1, "Nord": 0, "Süd": 1})
        tables.save({"siteB": "siteB.parquet"}.get(name, f"{name}.csv"), coded.infer_objects())
    assert fedsieve(*tables.select("--nominal", "sex,ward", out="twin")).code == 0
    assert selected(tables)["scores"] == selected(tables, "twin")["scores"]


def test_columns_are_dropped_kept_and_read_as_days(fedsieve, tables, mixed):
    for name, frame in mixed.items():
        days = pd.date_range("2020-01-01", periods=len(frame)).strftime("%Y-%m-%d")
        file = {"siteB": "siteB.parquet"}.get(name, f"{name}.csv")
        tables.save(file, frame.assign(seen=list(days), device_id=np.arange(len(frame)) % 3))
    refused = fedsieve(*tables.select())
    assert refused.message.startswith(
        f"{tables['server.csv']}: column 'seen' holds dates, first in row 1. Leave it out"
    )
    result = fedsieve(*tables.select("--drop", "ward,noise", "--dates", "seen", "--keep", "device_id"))
    assert result.code == 0, result.err
    assert set(selected(tables)["order"]) == {*tables.features, "sex", "seen", "device_id"} - {"noise"}
    assert "no column 'nope' to drop" in fedsieve(*tables.select("--drop", "nope", out="x")).message


def test_ids_need_not_be_the_same_everywhere(fedsieve, tables, mixed):
    tables.save("siteA.csv", mixed["siteA"].rename(columns={"patient_id": "mrn"}))
    tables.save("siteB.parquet", mixed["siteB"].drop(columns="patient_id"))
    assert fedsieve(*tables.select()).code == 0


def test_files_of_all_kinds_are_read_and_said(fedsieve, tables, mixed):
    mixed["server"].to_csv(tables["server.csv"], sep=";", decimal=",", encoding="latin-1")  # with an index
    mixed["siteA"].to_csv(tables["siteA.tsv"], sep="\t", index=False)
    mixed["siteB"].to_csv(tables["siteB.csv.gz"], index=False)
    mixed["siteC"].to_excel(tables["siteC.xlsx"], index=False)
    files = tuple(str(tables[name]) for name in ("siteA.tsv", "siteB.csv.gz", "siteC.xlsx"))
    result = fedsieve(*tables.select(clients=files))
    assert result.code == 0, result.err
    said = (
        f"{tables['server.csv']}: read as: sep ';', decimal ',', latin-1, the first column, which has no name, as the"
    )
    assert said in result.out
    assert set(selected(tables)["n_rows"]) >= {"siteA", "siteB", "siteC"}
    tables.save("server.csv", mixed["server"])
    tables.save("siteC.csv", mixed["siteC"])
    plain = tuple(str(tables[name]) for name in ("siteA.csv", "siteB.parquet", "siteC.csv"))
    assert fedsieve(*tables.select(out="plain", clients=plain)).code == 0
    assert selected(tables)["scores"] == selected(tables, "plain")["scores"]


def test_the_options_reach_the_reader(fedsieve, tables):
    text = "age;dose\n1,234;2,500\n5,678;3,500\n"
    tables["odd.csv"].write_text(text)
    record = {"format": "fedsieve-selection/1", "order": ["dose", "age"], "selected": ["dose"]}
    tables["selection.json"].write_text(json.dumps(record))
    call = ("apply", "--selection", tables["selection.json"], tables["odd.csv"], "--force")
    assert "--decimal ',' or --decimal '.'" in fedsieve(*call).message
    assert fedsieve(*call, "--decimal", ",").code == 0
    assert tables["odd-selected.csv"].read_text() == "dose\n2,5\n3,5\n"
    assert fedsieve(*call, "--decimal", ".").code == 0
    assert tables["odd-selected.csv"].read_text() == '"dose"\n2500\n3500\n'
    tables["odd.csv"].write_text("dose\tage\n1\t2\n")
    assert fedsieve(*call, "--sep", "tab").code == 0


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".xlsx"])
def test_apply_writes_as_the_table_was(fedsieve, tables, ending):
    record = {"format": "fedsieve-selection/1", "order": ["größe", "sex"], "selected": ["größe"]}
    tables["selection.json"].write_text(json.dumps(record))
    frame = pd.DataFrame({"id": [1, 2], "größe": [1.5, 2.25], "sex": ["f", "m"]})
    file = tables[f"t{ending}"]
    write = {"parquet": frame.to_parquet, "xlsx": frame.to_excel}.get(ending[1:], frame.to_csv)
    how = {"sep": "\t" if "tsv" in ending else ";", "decimal": ",", "encoding": "latin-1"}
    write(file, index=False, **(how if write == frame.to_csv else {}))
    assert fedsieve("apply", "--selection", tables["selection.json"], file, "--keep", "sex").code == 0
    result = tables[f"t-selected{ending}"]
    read = {"parquet": pd.read_parquet, "xlsx": pd.read_excel}.get(ending[1:], pd.read_csv)
    again = read(result, **(how if read == pd.read_csv else {}))
    pd.testing.assert_frame_equal(again, frame[["sex", "größe"]], check_dtype=False)


@pytest.fixture
def init(fedsieve, tables):
    def call(*more: object):
        sites = ("--sites", "siteA,siteB", "--min-clients", 2, "--min-rows", 10, "--with-keys")
        schema = ("--schema", tables["server.csv"], "--labels", "prefix:label_")
        return fedsieve("federation", "init", "--out", tables["fed"], *sites, *schema, *more)

    return call


def agreed(tables):
    return tomllib.loads((tables["fed"] / "federation.toml").read_text())


def test_init_agrees_on_words_and_leaves_ids_out(init, tables, mixed):
    tables.save("server.csv", mixed["server"].assign(ward=["Nord"] * 9 + ["Süd"] * 8 + [CANARY]))
    result = init()
    assert result.code == 0, result.err
    content = agreed(tables)
    assert content["categories"] == {"sex": ["f", "m"], "ward": ["Nord", "Süd"]}
    assert "patient_id" not in content["columns"]["features"]
    assert "'patient_id': named like an id" in result.err
    assert CANARY not in result.out + result.err + (tables["fed"] / "federation.toml").read_text()
    method = SiteFolder(tables["fed"] / "sites" / "siteA").agreement().method
    assert set(method.nominal) == {"sex", "ward"}
    assert method.bounds == {"sex": (0, 2), "ward": (0, 2)}


@pytest.mark.usefixtures("mixed")
def test_init_takes_words_from_a_file(init, tables):
    tables["words.toml"].write_text('[categories]\nsex = ["f", "m", "x"]\ncode = ["1", "2"]\n')
    assert init("--categories", tables["words.toml"], "--drop", "ward,noise").code == 0
    content = agreed(tables)
    assert content["categories"] == {"code": ["1", "2"], "sex": ["f", "m", "x"]}
    assert not {"ward", "noise"} & set(content["columns"]["features"])


@pytest.mark.usefixtures("mixed")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('hair = ["red"]', "--categories: names no such feature: 'hair'."),
        ('sex = "f"', "words.toml: 'sex' must be a list of words; got 'f'."),
        ('categories = "f"', 'must hold lines such as sex = ["f", "m"]'),
        ("sex", "is no valid TOML"),
    ],
)
def test_init_refuses_words_that_are_none(init, tables, text, says):
    tables["words.toml"].write_text(text)
    assert says in init("--categories", tables["words.toml"]).message
    assert not tables["fed"].exists()


@pytest.fixture
def join(fedsieve, tables):
    def call(data, *more: object):
        site = tables["fed"] / "sites" / "siteA"
        (site / "policy.toml").write_text(RULES)
        return fedsieve("federation", "join", site, "--data", tables[data], *more)

    return call


def everything_in(folder) -> str:
    return "".join(file.read_text(errors="replace") for file in folder.rglob("*") if file.is_file())


def test_join_reads_text_by_the_agreed_words(init, join, tables, mixed):
    assert init("--missing", "error").code == 0
    frame = mixed["siteA"].assign(sex=[CANARY, *["f", "m"] * 5, None])
    tables.save("siteA.csv", frame.assign(sex=[CANARY, *["f", "m"] * 5, "f "]))
    result = join("siteA.csv", "--dry-run")
    assert result.code == 0, result.err
    assert "words that are none of the agreed categories count as 'other': 1 in 'sex'." in result.err
    assert CANARY not in result.out + result.err + everything_in(tables["fed"])
    tables.save("siteA.csv", frame)
    assert "1 missing (NaN) value in column 'sex'" in join("siteA.csv").message


def test_empty_cells_of_text_are_missing_values_in_a_federation(init, join, tables, mixed):
    assert init().code == 0
    tables.save("siteA.csv", mixed["siteA"].assign(sex=[None, "", *["f", "m"] * 5]))
    result = join("siteA.csv", "--dry-run")
    assert result.code == 0, result.err
    agreement = SiteFolder(tables["fed"] / "sites" / "siteA").agreement()
    X, _ = read_rows(tables["siteA.csv"], agreement)
    sex = X[:, agreement.method.features.index("sex")]
    np.testing.assert_array_equal(sex, [np.nan, np.nan, *[0.0, 1.0] * 5])


def test_select_takes_text_with_empty_cells_for_codes_with_gaps(fedsieve, tables, mixed):
    mixed["siteA"]["sex"] = [None] * 3 + ["f", "m", "m"] * 3
    mixed["server"].loc[4, "ward"] = None
    for name, file in (("server", "server.csv"), ("siteA", "siteA.csv")):
        tables.save(file, mixed[name])
    assert fedsieve(*tables.select(method="sieve")).code == 0
    record = selected(tables)
    assert record["missing_by_site"]["siteA"] == {"sex": 3 / 12}
    for name, frame in mixed.items():
        codes = {"sex": {"f": 0, "m": 1}, "ward": {"Nord": 0, "Süd": 1}}
        coded = frame.drop(columns="patient_id").assign(**{one: frame[one].map(words) for one, words in codes.items()})
        tables.save({"siteB": "siteB.parquet"}.get(name, f"{name}.csv"), coded)
    assert fedsieve(*tables.select("--nominal", "sex", "--nominal", "ward", out="twin", method="sieve")).code == 0
    assert record["scores"] == selected(tables, "twin")["scores"]


def test_names_with_commas_can_be_dropped_kept_and_read_as_days(fedsieve, tables, mixed):
    for name, frame in mixed.items():
        days = pd.date_range("2020-01-01", periods=len(frame)).strftime("%Y-%m-%d")
        more = {"seen, first": list(days), "ward, id": np.arange(len(frame)) % 3, "a, b": 1.0}
        tables.save({"siteB": "siteB.parquet"}.get(name, f"{name}.csv"), frame.assign(**more))
    result = fedsieve(*tables.select("--drop", "ward,a, b", "--dates", "seen, first", "--keep", "ward, id"))
    assert result.code == 0, result.err
    assert set(selected(tables)["order"]) == {*tables.features, "sex", "seen, first", "ward, id"}


@pytest.mark.usefixtures("mixed")
def test_consent_shows_the_words(init, join):
    assert init().code == 0
    result = join("siteA.csv")
    assert result.code == 2  # nobody is there to consent
    assert "Text in 'sex' is read by the agreement's words: 'f', 'm'; any other word counts as 'other'." in result.out


@pytest.mark.usefixtures("mixed")
def test_join_takes_numbers_where_words_are_numbers(init, join, tables):
    tables["words.toml"].write_text('code = ["0", "1", "2", "3", "4", "5", "6", "7", "8"]\n')
    assert init("--categories", tables["words.toml"]).code == 0
    result = join("siteA.csv", "--dry-run")
    assert result.code == 0, result.err
    assert "none of the agreed" not in result.err


def test_dates_are_agreed_on(init, join, tables, mixed):
    for name in ("server", "siteA"):
        days = pd.date_range("2020-01-01", periods=len(mixed[name])).strftime("%Y-%m-%d")
        tables.save(f"{name}.csv", mixed[name].assign(seen=list(days)))
    assert "column 'seen' holds dates" in init().message
    assert init("--dates", "seen").code == 0
    assert agreed(tables)["columns"]["dates"] == ["seen"]
    assert join("siteA.csv", "--dry-run").code == 0
    tables.save("siteA.csv", mixed["siteA"].assign(seen="31.01.2020"))
    assert "column 'seen' holds dates, first in row 1, that are not written as YYYY-MM-DD" in join("siteA.csv").message


def torn(frame: pd.DataFrame) -> str:
    return frame.to_csv(index=False) + f"{CANARY},1\n"


def far_below(frame: pd.DataFrame) -> str:
    """Beyond the first megabyte, by which pyarrow judges a column."""
    header, *rows = frame.assign(dose=1.5).to_csv(index=False).splitlines()
    last = rows[-1].replace(",1.5,", f",{CANARY},", 1)
    return "\n".join([header, *rows * (1_200_000 // sum(map(len, rows))), last]) + "\n"


BROKEN = {
    "text among numbers": lambda frame: frame.assign(dose=[CANARY, *frame["dose"][1:]]).to_csv(index=False),
    "text for numbers": lambda frame: frame.assign(dose=CANARY).to_csv(index=False),
    "a torn row": torn,
    "text far below": far_below,
    "a date that is none": lambda frame: frame.assign(dose=f"2020-01-01 {CANARY}").to_csv(index=False),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_no_cell_is_ever_shown(fedsieve, init, join, tables, mixed, broken):
    """Through select and join, on the screen and in whatever lies in a site's folder: its log and its consent."""
    assert init().code == 0
    tables["broken.csv"].write_text(BROKEN[broken](mixed["siteA"]))
    for result in (
        fedsieve(*tables.select(clients=(str(tables["siteB.parquet"]), str(tables["broken.csv"])))),
        join("broken.csv", "--yes"),
    ):
        assert result.code == 2
        assert str(tables["broken.csv"]) in result.message
        assert CANARY not in result.out + result.err
    assert CANARY not in everything_in(tables["fed"])


@pytest.mark.parametrize("broken", ["text among numbers", "a torn row", "text far below"])
def test_no_cell_of_the_labeled_rows_is_ever_shown(fedsieve, init, tables, mixed, broken):
    tables["server.csv"].write_text(BROKEN[broken](mixed["server"]))
    for result in (init(), fedsieve(*tables.select())):
        assert result.code == 2, result.out
        assert CANARY not in result.out + result.err


def test_a_label_that_is_text_is_named_and_not_shown(fedsieve, init, tables, mixed):
    tables.save("server.csv", mixed["server"].assign(label_b=CANARY))
    for result in (init(), fedsieve(*tables.select())):
        assert "column 'label_b' holds string, first in row 1" in result.message
        assert CANARY not in result.out + result.err


def test_audit_reads_the_same_tables(fedsieve, tables, mixed):
    rows = pd.concat([mixed["server"]] * 20).drop(columns=list(tables.labels))
    rows.to_csv(tables["rows.csv"], sep=";", decimal=",", index=False)
    how = ("--sites", 2, "--only", "small sites", "--drop", "ward")
    result = fedsieve("audit", "--table", tables["rows.csv"], *how)
    assert result.code == 0, result.err
    assert "read as: sep ';', decimal ','" in result.out
    assert "Text is read as categories: 'sex' (2)" in result.out


def test_audit_takes_dates_and_columns_that_look_like_ids(fedsieve, tables, mixed):
    rows = pd.concat([mixed["server"]] * 20).drop(columns=["patient_id", *tables.labels])
    days = pd.date_range("2020-01-01", periods=len(rows)).strftime("%Y-%m-%d")
    rows.assign(seen=list(days), device_id=np.arange(len(rows)) % 3).to_csv(tables["rows.csv"], index=False)
    call = ("audit", "--table", tables["rows.csv"], "--sites", 2, "--only", "small sites")
    assert "column 'seen' holds dates" in fedsieve(*call).message
    result = fedsieve(*call, "--dates", "seen", "--keep", "device_id")
    assert result.code == 0, result.err
    assert f"{len(rows.columns) + 2} columns" in " ".join(result.out.split())


@pytest.mark.usefixtures("mixed")
def test_the_hint_of_init_names_the_option_of_try_too(init):
    """`try` carries out `init`, and its own --keep is a folder."""
    assert "say so: --keep NAME (of 'federation try': --keep-columns NAME)." in init().err


@pytest.mark.usefixtures("mixed")
def test_init_says_whose_codes_those_of_numbers_are(init):
    said = "the codes of 'code' are those of the labeled rows; a site with a code beyond them is refused in a run."
    result = init("--nominal", "code,sex")
    assert result.code == 0, result.err
    assert said in result.err
    assert "declare them with --bounds FILE: feature,low,high." in result.err


@pytest.mark.usefixtures("mixed")
@pytest.mark.parametrize(
    "more",
    [
        ("--nominal", "sex"),
        ("--nominal", "code", "--bounds", "bounds.csv"),
        ("--nominal", "code", "--ranges", "federated"),
        ("--nominal", "code", "--method", "SSFMLFS"),
    ],
)
def test_init_says_nothing_of_codes_that_are_known_or_need_no_range(init, tables, more):
    tables["bounds.csv"].write_text("feature,low,high\ncode,0,20\n")
    result = init(*(tables[word] if word == "bounds.csv" else word for word in more))
    assert result.code == 0, result.err
    assert "the codes of" not in result.err


def test_several_sheets(fedsieve, tables):
    book = openpyxl.Workbook()
    for row in (("note",), ("x",)):
        book.active.append(row)
    page = book.create_sheet("rows")
    for row in (("age", "dose"), (1, 2)):
        page.append(row)
    book.save(tables["t.xlsx"])
    record = {"format": "fedsieve-selection/1", "order": ["dose", "age"], "selected": ["dose"]}
    tables["selection.json"].write_text(json.dumps(record))
    call = ("apply", "--selection", tables["selection.json"], tables["t.xlsx"])
    assert "has no column 'dose'" in fedsieve(*call).message
    assert fedsieve(*call, "--sheet", "rows", "--out", tables["t.csv"]).code == 0
    assert tables["t.csv"].read_text() == '"dose"\n2\n'
