"""What `fedsieve select` refuses: exit code 2, one line that names the culprit, and nothing on disk."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def refusal(fedsieve, tables):
    """Run a select that must fail; return its message."""

    def run(*more: object, clients: tuple[str, ...] = ()) -> str:
        result = fedsieve(*tables.select(*more, clients=clients))
        assert result.code == 2, result.out
        assert not tables["result"].exists()
        assert not list(tables.folder.rglob("*.part"))
        assert "Selected" not in result.out
        return result.message

    return run


def with_client(tables, file: str) -> tuple[str, str]:
    return str(tables["siteB.parquet"]), str(tables[file])


def test_a_missing_file(refusal, tables):
    assert refusal(clients=with_client(tables, "nope.csv")) == f"{tables['nope.csv']}: no such file."
    assert refusal("--labeled", tables["nope.parquet"]) == f"{tables['nope.parquet']}: no such file."


def test_a_folder_instead_of_a_file(refusal, tables):
    tables["folder.csv"].mkdir()
    assert refusal(clients=with_client(tables, "folder.csv")) == f"{tables['folder.csv']}: no such file."


def test_an_unknown_ending(refusal, tables):
    message = refusal(clients=with_client(tables, "siteA.sav"))
    endings = "'.csv', '.csv.gz', '.tsv', '.tsv.gz', '.parquet', '.xlsx'"
    assert message == f"{tables['siteA.sav']}: the ending must be one of {endings}; got '.sav'."


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("junk.parquet", b"\x00\xff\x13junk" * 30, "cannot be read as PARQUET"),
        ("ragged.csv", b"age,dose\n1,2\n1,2,3\n", "cannot be read as CSV: line 3 has 3 fields, the first line 2"),
        ("empty.csv", b"", "cannot be read as CSV: Empty CSV file"),
        ("empty.parquet", b"", "cannot be read as PARQUET"),
        ("header.csv", b"age,dose\n", "has a header but no rows."),
        ("twice.csv", b"age,dose,age\n1,2,3\n", "of the column names 'age' occurs twice. Rename them."),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value and " " not in value else "",
)
def test_an_unreadable_file(refusal, tables, name, content, says):
    tables[name].write_bytes(content)
    assert refusal(clients=with_client(tables, name)).startswith(f"{tables[name]}: {says}")
    assert refusal("--labeled", tables[name]).startswith(f"{tables[name]}: {says}")


def test_columns_of_one_name_in_parquet(refusal, tables):
    ages = pa.array([1.0, 2.0])
    pq.write_table(pa.Table.from_arrays([ages, ages], names=["age", "age"]), tables["twice.parquet"])
    says = f"{tables['twice.parquet']}: of the column names 'age' occurs twice. Rename them."
    assert refusal(clients=with_client(tables, "twice.parquet")) == says


def test_no_shared_feature(refusal, tables):
    tables.save("other.csv", pd.DataFrame({"height": [1, 2], "id": [3, 4]}))
    for more in ([], ["--shared"]):
        message = refusal(*more, clients=with_client(tables, "other.csv"))
        assert message.startswith(f"client 'other' ({tables['other.csv']}) shares no feature with the labeled rows")
        assert "it has 'height', 'id', they have 'age', 'weight [kg]'" in message


def test_clients_that_share_features_with_the_server_but_not_with_each_other(refusal, tables):
    tables.save("left.csv", tables.clients["siteA"][["age", "dose"]])
    tables.save("right.csv", tables.clients["siteA"][["noise", "pulse"]])
    message = refusal("--shared", clients=(str(tables["left.csv"]), str(tables["right.csv"])))
    assert message.startswith("no feature is in all files")


def test_missing_and_extra_columns_are_listed(refusal, tables):
    other = tables.clients["siteA"].rename(columns={"dose": "dosis"}).drop(columns="age")
    tables.save("other.csv", other)
    assert refusal(clients=with_client(tables, "other.csv")) == (
        f"client 'other' ({tables['other.csv']}) has other columns than the labeled rows (missing: 'age', 'dose'; "
        "extra: 'dosis'). Give every site the same columns, or use --shared to work with those that all have."
    )


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("red", "text, first in row 1, no numbers"),
        ("2020-01-31", "dates, first in row 1, no numbers"),
        ("1,5", "numbers with commas, first in row 1 (--decimal; pandas: decimal=',')"),
    ],
)
def test_a_column_without_numbers_is_named(refusal, tables, value, what):
    tables.save("text.csv", tables.clients["siteA"].assign(dose=value))
    way_out = "Encode it in numbers, the same at all sites, or leave it out."
    message = refusal(clients=with_client(tables, "text.csv"))
    assert message == f"{tables['text.csv']}: column 'dose' holds {what}. {way_out}"
    tables.save("server.csv", tables.server.assign(pulse=value))
    assert refusal().startswith(f"{tables['server.csv']}: column 'pulse' holds ")


@pytest.mark.parametrize(("value", "what"), [(np.nan, "missing (NaN)"), (np.inf, "infinite (inf)")])
def test_values_that_are_not_finite_are_counted_by_column(refusal, tables, value, what):
    gaps = tables.clients["siteA"].copy()
    gaps.iloc[[1, 4, 5], 3] = value
    tables.save("gaps.csv", gaps)
    message = refusal(clients=with_client(tables, "gaps.csv"))
    assert message.startswith(f"client 'gaps': 3 {what} values in column 'pulse'.")
    if np.isnan(value):
        assert "unrelated" in message
    server = tables.server.copy()
    server.loc[server.index[:2], "dose"] = value
    tables.save("server.csv", server)
    assert refusal().startswith(f"the labeled rows have 2 {what} values in column 'dose'.")


def test_infinite_values_are_refused_where_missing_ones_are_not(refusal, tables):
    tables.save("gaps.csv", tables.clients["siteA"].assign(pulse=np.inf))
    message = refusal("--missing", "unrelated", clients=with_client(tables, "gaps.csv"))
    assert message.startswith("client 'gaps': 12 infinite (inf) values in column 'pulse'.")


def test_fewer_than_two_clients(refusal, tables):
    message = refusal(clients=(str(tables["siteA.csv"]),))
    assert message == "a federation needs at least two clients; got 1. Give --client twice or more."


def test_a_client_with_one_row(refusal, tables):
    tables.save("lonely.csv", tables.clients["siteA"][:1])
    message = refusal(clients=with_client(tables, "lonely.csv"))
    assert message.startswith("client 'lonely': has 1 row")
    assert "at least 2" in message


def test_two_clients_of_one_name(refusal, tables):
    message = refusal(clients=(str(tables["siteA.csv"]), f"siteA={tables['siteB.parquet']}"))
    assert message == (
        f"two clients are called 'siteA' ({tables['siteA.csv']}, {tables['siteB.parquet']}). "
        "Name them: --client NAME=FILE."
    )


@pytest.mark.parametrize("entry", ["=siteB.parquet", "north=", "", "="])
def test_a_client_without_name_or_file(refusal, tables, entry):
    assert refusal(clients=(str(tables["siteA.csv"]), entry)) == f"--client takes FILE or NAME=FILE; got {entry!r}."


def test_a_client_called_server(refusal, tables):
    message = refusal(clients=(str(tables["siteA.csv"]), f"server={tables['siteB.parquet']}"))
    assert "client names must differ from each other and from 'server'" in message
