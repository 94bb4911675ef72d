"""Names of columns that hold commas, in options that list names."""

import json

import pandas as pd
import pytest

from fedsieve.cli.options import names_among

KNOWN = ("age", "sex", "dose, mg", "a,b", "a")


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["age,sex"], ("age", "sex")),
        (["age", "sex"], ("age", "sex")),
        (["dose, mg"], ("dose, mg",)),
        (["age,dose, mg, sex"], ("age", "dose, mg", "sex")),
        (["a,b"], ("a,b",)),
        (["a,sex"], ("a", "sex")),
        (["zip,age"], ("zip", "age")),
        (["", " , "], ()),
    ],
)
def test_known_names_are_taken_as_they_are(given, names):
    assert names_among(given, KNOWN) == names


@pytest.fixture
def files(tables):
    def save(name, frame):
        frame = frame.rename(columns={"code": "code, old", "dose": "dose, mg"})
        return tables.save(name, frame)

    server = pd.read_csv(tables["server.csv"])
    return save("s.csv", server), save("a.csv", tables.clients["siteA"]), save("b.csv", tables.clients["siteB"])


def test_select_takes_them_in_nominal_and_groups(fedsieve, tables, files):
    server, one, two = files
    result = fedsieve(
        *("select", "--labeled", server, "--labels", "prefix:label_", "--client", one, "--client", two, "--alone"),
        *("--nominal", "code, old", "--group", "age,dose, mg", "--out", tables["result"]),
    )
    assert result.code == 0, result.err
    parameters = json.loads((tables["result"] / "selection.json").read_text())["parameters"]
    assert parameters["nominal"] == ["code, old"]
    assert parameters["groups"] == [["age", "dose, mg"]]


def test_apply_keeps_them(fedsieve, tables, files):
    selection = tables["selection.json"]
    selection.write_text(json.dumps({"format": "fedsieve-selection/1", "order": ["age"], "selected": ["age"]}))
    out = tables["kept.csv"]
    result = fedsieve("apply", "--selection", selection, files[1], "--keep", "dose, mg,pulse", "--out", out)
    assert result.code == 0, result.err
    assert list(pd.read_csv(out)) == ["dose, mg", "pulse", "age"]
