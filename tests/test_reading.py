"""Files that are cut, empty or made to harm: one error each that names the file, soon and without much memory."""

import json
import re
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsieve.errors import DataError
from fedsieve.reading import (
    MAX_DEPTH,
    parse_json,
    parse_toml,
    read_array,
    read_arrays,
    read_json,
    read_json_lines,
    read_toml,
)

DEEP = 100_000
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    # Half a character is no text that could be printed.
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
)


@given(plain)
def test_what_json_writes_is_read_as_it_was(value):
    assert parse_json(json.dumps(value)) == value


BAD_JSON = {
    "empty": ("", "is no valid JSON: Expecting value"),
    "cut": ('{"name": "a', "is no valid JSON: Unterminated string"),
    "deep lists": ("[" * DEEP, "nested more than 32 deep"),
    "deep objects": ('{"a":' * DEEP, "nested more than 32 deep"),
    "deep, though it can be parsed": ("[" * 500 + "]" * 500, "nested more than 32 deep"),
    "just too deep": ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested more than 32 deep"),
    "a number of 5000 digits": ("9" * 5000, "Exceeds the limit (4300 digits)"),
    "a number of 4000 digits": ("9" * 4000, "a whole number beyond 64 bits"),
    "2^64": (str(2**64), "a whole number beyond 64 bits"),
    "1e400": ("[1e400]", "it holds inf, which is no finite number"),
    "NaN": ('{"a": NaN}', "it holds nan, which is no finite number"),
    "half a character": (r'["\ud800"]', "half a character"),
    "half a character in a key": (r'{"\ud800": 1}', "half a character"),
    "more than one value": ("{} {}", "is no valid JSON: Extra data"),
}


@pytest.mark.parametrize(("text", "reason"), BAD_JSON.values(), ids=BAD_JSON)
def test_bad_json_is_named(tmp_path, text, reason):
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(DataError, match=rf"x\.json: .*{re.escape(reason)}.* Start again\.$") as refused:
        read_json(file, way_out="Start again.")
    assert len(str(refused.value)) < 400


def test_as_deep_as_allowed_is_read():
    # The numbers inside are one more level.
    assert parse_json("[" * (MAX_DEPTH - 1) + "7" + "]" * (MAX_DEPTH - 1))


BAD_TOML = {
    "cut": ('a = "b', "is no valid TOML"),
    "deep lists": ("a = " + "[" * DEEP, "nested more than 32 deep"),
    "deep tables": ("a = " + "{b=" * DEEP, "nested more than 32 deep"),
    "deep, though it can be parsed": ("a = " + "[" * 300 + "]" * 300, "nested more than 32 deep"),
    "a dotted key": (".".join("a" * DEEP) + " = 1", "nested more than 32 deep"),
    "a dotted section": ("[" + " . ".join("a" * DEEP) + "]", "nested more than 32 deep"),
    "a dotted key in quotes": (".".join(['"a b"', "'c'"] * DEEP) + " = 1", "nested more than 32 deep"),
    "a dotted key of 50 parts": (".".join("a" * 50) + " = 1", "nested more than 32 deep"),
    "a number of 5000 digits": ("a = " + "9" * 5000, "Exceeds the limit (4300 digits)"),
    "a hexadecimal number": ("a = 0x" + "f" * 5000, "a whole number beyond 64 bits"),
    "no UTF-8": (b"a = '\xe4'", "is no valid TOML: 'utf-8' codec can't decode"),
}


@pytest.mark.parametrize(("text", "reason"), BAD_TOML.values(), ids=BAD_TOML)
def test_bad_toml_is_named(tmp_path, text, reason):
    file = tmp_path / "x.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=rf"x\.toml: .*{re.escape(reason)}") as refused:
        read_toml(file)
    assert len(str(refused.value)) < 400


def test_dots_in_names_and_numbers_are_no_deep_keys():
    names = [".".join("abcdefghijklmnop"), "1.2.3", *(f"gene.{i}" for i in range(500))]
    assert parse_toml(f"names = {json.dumps(names)}\n[ranges]\n'a.b' = [0.5, 1.5]\n")["names"] == names


def test_looking_for_dotted_keys_takes_time_in_proportion():
    """One long word, or many quotes, must not be looked at again from each of their characters."""

    def seconds(n):
        start = time.process_time()  # no other process counts
        parse_toml(f'a = "{"x" * n}"')
        return time.process_time() - start

    few = min(seconds(100_000) for _ in range(3))
    assert any(seconds(1_000_000) < 40 * max(few, 0.001) for _ in range(5))


def test_a_long_file_is_not_read(tmp_path):
    file = tmp_path / "x.toml"
    with file.open("wb") as content:
        content.truncate(1 << 40)
    with pytest.raises(DataError, match=r"x\.toml: has 1099511627776 bytes; at most 16777216 are read\."):
        read_toml(file)
    with pytest.raises(DataError, match=r"x\.toml: has 1099511627776 bytes; at most 268435456 are read\."):
        read_json(file)


@pytest.mark.parametrize("content", ["[]", "7", "{}", '{"name": 7}', '{"name": "a"}', '{"name": "a", "of": ["b", 1]}'])
def test_an_object_without_its_fields_is_refused(tmp_path, content):
    file = tmp_path / "x.json"
    file.write_text(content)
    needs = r"x\.json: must be an object with 'name' \(text\), 'of' \(a list of names\)\. Out\.$"
    with pytest.raises(DataError, match=needs):
        read_json(file, {"name": str, "of": list[str]}, way_out="Out.")
    file.write_text('{"name": "a", "of": ["b"], "more": 1}')
    assert read_json(file, {"name": str, "of": list[str]})["of"] == ["b"]


def test_of_lines_only_an_unfinished_last_one_is_passed_over(tmp_path):
    file = tmp_path / "x.jsonl"
    file.write_text('{"a": 1}\n{"a": 2}\n{"a"')
    assert read_json_lines(file) == [{"a": 1}, {"a": 2}]
    file.write_text('{"a": 1}\n{"a"\n{"a": 2}\n')
    with pytest.raises(DataError, match=r"x\.jsonl, line 2: is no valid JSON: .* Out\.$"):
        read_json_lines(file, way_out="Out.")
    file.write_text("")
    assert read_json_lines(file) == []


def test_a_line_may_hold_what_others_call_the_end_of_a_line(tmp_path):
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps({"a": "one\u2028two\x85three"}, ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_json_lines(file) == [{"a": "one\u2028two\x85three"}]


def test_arrays_that_are_cut_are_named(tmp_path):
    one, two = tmp_path / "x.npy", tmp_path / "x.npz"
    np.save(one, np.arange(100.0))
    np.savez(two, X=np.arange(100.0), Y=np.arange(50.0))
    assert read_array(one).sum() == 4950
    assert [len(found) for found in read_arrays(two, ("X", "Y"))] == [100, 50]
    with pytest.raises(DataError, match=r"x\.npz: is cut or damaged"):
        read_array(two)
    with pytest.raises(DataError, match=r"x\.npy: is cut or damaged"):
        read_arrays(one, ("X", "Y"))
    with pytest.raises(DataError, match=r"x\.npz: is cut or damaged"):
        read_arrays(two, ("X", "Z"))
    for file, read in ((one, read_array), (two, lambda path, **way: read_arrays(path, ("X", "Y"), **way))):
        whole = file.read_bytes()
        for length in (0, 1, 7, 60, 100, 127, 500, len(whole) - 1):
            file.write_bytes(whole[:length])
            with pytest.raises(DataError, match=rf"{file.name}: is cut or damaged.* Join again\.$"):
                read(file, way_out="Join again.")


def test_an_array_that_claims_more_than_there_is_takes_no_memory(tmp_path):
    file = tmp_path / "x.npy"
    np.save(file, np.zeros(1))
    file.write_bytes(file.read_bytes().replace(b"(1,)", b"(9999999999999,)", 1))
    with pytest.raises(DataError, match=r"x\.npy: is cut or damaged"):
        read_array(file)
