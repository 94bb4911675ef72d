"""Files that are read in batches: types that fit all rows in at most two passes, and files without rows."""

import pyarrow as arrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, parquet

from fedsieve import Sieve
from fedsieve.datasets import dialect, streams, table_files
from fedsieve.datasets.dialect import Reading
from fedsieve.datasets.streamed_file import open_table
from fedsieve.datasets.streams import CsvStream, open_stream
from fedsieve.datasets.table_files import read_file
from fedsieve.errors import DataError, FedSieveError, ParameterError

CONVERT = csv.ConvertOptions(strings_can_be_null=True)
CELLS = (
    *("", "0", "1", "-7", "1.5", "9" * 20, "true", "word", "2020-02-28", "10:00:00", "2020-02-28 10:00:00"),
    *("2020-02-28 10:00:00.123456789", "2020-02-28T10:00:00Z", " 3 ", "NA", '"a, b"'),
)


@pytest.fixture
def passes(monkeypatch):
    """Names of files, one for each time that one is read from its beginning."""
    opened = []
    whole = CsvStream._blocks

    def blocks(self, columns):
        opened.append(self.file.name)
        yield from whole(self, columns)

    monkeypatch.setattr(CsvStream, "_blocks", blocks)
    monkeypatch.setattr(streams, "BLOCK_BYTES", 256)
    return opened


def test_columns_that_change_late_cost_one_more_pass_together(tmp_path, passes):
    file = tmp_path / "late.csv"
    late = {"a": "1.5", "b": "word", "c": "true", "d": "2020-02-28", "e": "2.5", "f": "x", "g": "3"}
    first = {"a": "", "b": "", "c": "", "d": "", "e": "1", "f": "2020-02-28", "g": "2"}
    lines = [",".join(late), *[",".join(first.values())] * 200, ",".join(late.values())]
    file.write_text("\n".join(lines))
    stream = open_stream(file, Reading())
    assert passes == ["late.csv"] * 2
    types = [arrow.float64(), arrow.string(), arrow.bool_(), arrow.date32(), arrow.float64(), arrow.string()]
    assert [stream.type_of(name) for name in late] == [*types, arrow.int64()]
    assert stream.read(["e", "c"]).equals(read_file(file, Reading()).table.select(["e", "c"]))


def test_columns_that_stay_what_they_are_cost_one_pass(tmp_path, passes):
    file = tmp_path / "plain.csv"
    file.write_text("a,b\n" + "1,x\n" * 200)
    assert open_stream(file, Reading()).num_rows == 200
    assert passes == ["plain.csv"]


@given(st.lists(st.lists(st.sampled_from(CELLS), min_size=1, max_size=3), min_size=2, max_size=3))
@settings(max_examples=60, deadline=None)
def test_types_are_those_of_the_file_read_at_once(tmp_path_factory, columns):
    """Each column a few blocks of one cell after another."""
    file = tmp_path_factory.mktemp("types") / "t.csv"
    names = [f"c{place}" for place in range(len(columns))]
    blocks = [[cells[min(turn, len(cells) - 1)] for cells in columns] for turn in range(3)]
    file.write_text("\n".join([",".join(names), *(",".join(block) for block in blocks for _ in range(30))]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(streams, "BLOCK_BYTES", 128)
        stream, whole = open_stream(file, Reading()), csv.read_csv(file, convert_options=CONVERT)
        assert [stream.type_of(name) for name in names] == whole.schema.types
        assert stream.read(names).equals(whole)


def test_bytes_of_another_encoding_are_refused_wherever_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "BLOCK_BYTES", 64)
    file = tmp_path / "latin.csv"
    for head in (b"1,2\n", b"x,2\n"):
        file.write_bytes(b"a,b\n" + head * 100 + b"\xe9t\xe9,2\n")
        with pytest.raises(DataError, match="it is in another encoding"):
            open_stream(file, Reading(encoding="utf-8"))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_without_rows_is_a_table_without_rows(tmp_path, kind):
    file, empty = (
        tmp_path / f"empty.{kind}",
        arrow.table({"x0": arrow.array([], "double"), "x1": arrow.array([], "str")}),
    )
    (parquet.write_table if kind == "parquet" else csv.write_csv)(empty, file)
    stream = open_stream(file, Reading())
    assert (stream.column_names, stream.num_rows) == (["x0", "x1"], 0)
    assert stream.read(["x1", "x0"]).column_names == ["x1", "x0"]
    table = open_table(file)
    assert table.whole(("x1", "x0")).shape == (0, 2)
    X, Y = [[0.0, 1.0], [1.0, 2.0], [2.0, 0.5]] * 8, [[0, 1], [1, 0], [1, 1]] * 8
    with pytest.raises(FedSieveError, match="client 'a': has 0 rows; a client needs at least 2"):
        Sieve(1).fit(X, Y, clients={"a": table, "b": X})


@pytest.mark.parametrize("value", [-1, 0, 1.5, "a", True])
def test_batches_have_a_whole_number_of_rows(tmp_path, value):
    file = tmp_path / "t.parquet"
    parquet.write_table(arrow.table({"x0": [1.0, 2.0]}), file)
    with pytest.raises(ParameterError, match=f"open_table: batch_rows must be a whole number .* got {value!r}"):
        open_table(file, batch_rows=value)
    assert next(open_table(file, batch_rows=1).batches(("x0",))).shape == (1, 1)


def test_columns_of_one_name_are_refused_by_it(tmp_path):
    file = tmp_path / "twice.parquet"
    columns = [arrow.array([1.0, 2.0])] * 3
    parquet.write_table(arrow.Table.from_arrays(columns, names=["x0", "x1", "x1"]), file)
    with pytest.raises(DataError, match=r"twice\.parquet: .*'x1' occurs twice\. Rename"):
        open_table(file)
    file = tmp_path / "twice.csv"
    file.write_text("x0,x1,x1\n" + "1,2,3\n" * 9)
    with pytest.raises(DataError, match=r"twice\.csv: .*'x1' occurs twice\. Rename"):
        open_table(file)


NOTES = "a,note\n" + '1,plain\n2,"two\nlines, and a comma"\n' * 300


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a file that is streamed, and of one that is read at once."""
    monkeypatch.setattr(streams, "BLOCK_BYTES", 2000)
    monkeypatch.setattr(table_files, "BLOCK_BYTES", 2000)


def read_streamed(file):
    stream = open_stream(file, Reading())
    return stream.read(stream.column_names)


def read_at_once(file):
    return read_file(file, Reading()).table


both_ways = pytest.mark.parametrize("read", [read_streamed, read_at_once], ids=["streamed", "at once"])


@both_ways
@pytest.mark.parametrize("late", ["", "x,1\n"], ids=["one pass", "a type that changes late"])
@pytest.mark.usefixtures("small_blocks")
def test_texts_may_hold_ends_of_lines_wherever_blocks_are_cut(tmp_path, read, late):
    file = tmp_path / "notes.csv"
    file.write_text(NOTES + late)
    table = read(file)
    assert table.num_rows == 600 + bool(late)
    assert table.column("note").to_pylist()[:600] == ["plain", "two\nlines, and a comma"] * 300


@pytest.mark.usefixtures("small_blocks")
def test_a_line_that_is_longer_than_a_block_is_read_where_the_file_is_read_at_once(tmp_path):
    file = tmp_path / "wide.csv"
    names = [f"a{place:05d}" for place in range(3000)]
    file.write_text("\n".join([",".join(names), *[",".join(["0.25"] * 3000)] * 3]))
    table = read_at_once(file)
    assert (table.column_names, table.num_rows) == (names, 3)


LONG_NAME, LONG_TEXT = "a" * 3000 + ",b\n1,2\n", "a,b\n" + "1,2\n" * 900 + "1," + "x" * 3000 + "\n1,2\n"


@pytest.mark.parametrize("text", [LONG_NAME, LONG_TEXT], ids=["of names", "of a row"])
@pytest.mark.usefixtures("small_blocks")
def test_a_line_that_is_longer_than_a_block_of_a_streamed_file_is_called_so(tmp_path, text):
    file = tmp_path / "long.csv"
    file.write_text(text)
    with pytest.raises(DataError, match=r"a line is longer than 2,000 bytes\. Store the table as Parquet"):
        read_streamed(file)


@both_ways
@pytest.mark.usefixtures("small_blocks")
def test_a_quote_that_is_not_closed_swallows_no_rows(tmp_path, read):
    file = tmp_path / "quote.csv"
    file.write_text("a,b\n" + "1,x\n" * 900 + '1,"x\n' + "2,x\n" * 900)
    with pytest.raises(
        DataError, match=r"a text in quotes is longer than 2,000 bytes\. Is a quote not closed\?"
    ) as said:
        read(file)
    assert "x" not in str(said.value).replace("text", "")


@both_ways
@pytest.mark.parametrize("text", ["", "\n\n"])
@pytest.mark.usefixtures("small_blocks")
def test_an_empty_file_is_called_empty(tmp_path, read, text):
    file = tmp_path / "nothing.csv"
    file.write_text(text)
    with pytest.raises(DataError, match="cannot be read as CSV: Empty CSV file"):
        read(file)


@both_ways
@pytest.mark.usefixtures("small_blocks")
def test_rows_are_torn_whatever_texts_hold(tmp_path, read):
    file = tmp_path / "torn.csv"
    file.write_text(NOTES + "1,2,3\n")
    with pytest.raises(DataError, match="has 3 fields, the first line 2"):
        read(file)


@given(st.lists(st.text("ab\n", max_size=5), max_size=6))
def test_the_longest_line_is_that_of_the_text(tmp_path_factory, parts):
    file = tmp_path_factory.mktemp("lines") / "t.csv"
    text = "".join(parts)
    file.write_text(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dialect, "CHUNK", 3)
        assert dialect.longest_line(file) == max(map(len, text.split("\n")))
