"""What a site keeps as a result: a whole selection of what was agreed on, and nothing else."""

import json
import time
import tracemalloc
import zlib
from dataclasses import replace

import numpy as np
import pytest

from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.errors import CodecError
from fedsieve.methods import SieveMethod
from fedsieve.protocol import Labeled
from fedsieve.selection_file import selection_record, selection_text
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from fedsieve.transport.results import most_bytes, read_result

RUN = "20260101-000000-abcdef"
FEATURES, LABELS = ["a", "b", "c", "d"], ["y0", "y1"]


@pytest.fixture(scope="module", params=["Sieve", "SSFMLFS"])
def agreement(request):
    return parse_agreement(agreement_text("fed", "127.0.0.1:9443", ["x", "y"], FEATURES, LABELS, method=request.param))


@pytest.fixture
def record(agreement):
    rng = np.random.default_rng(3)
    labeled = Labeled(rng.normal(size=(12, 4)), (rng.random((12, 2)) < 0.5).astype(float))
    sites = {name: ArrayTable(agreement.method.features, rng.normal(size=(60, 4))) for name in "xy"}
    outcome = in_process.select(agreement.method, labeled, sites)
    return selection_record(agreement.method, outcome, list(LABELS), federation={"run": RUN, "sites": ["x", "y"]})


def packed(record):
    return zlib.compress(json.dumps(record).encode())


def refused(payload, agreement):
    with pytest.raises(CodecError) as caught:
        read_result(payload, agreement, RUN)
    return str(caught.value)


def test_an_honest_result_is_kept_as_it_is(record, agreement):
    assert read_result(packed(record), agreement, RUN) == json.loads(json.dumps(record))


CHANGES = {
    "its format is not": lambda r: r.update(format="fedsieve-selection/9"),
    "its method is not the agreed": lambda r: r.update(method="Oracle"),
    "its labels are not the agreed ones": lambda r: r["labels"].pop(),
    "its order is not of the agreed 4 features": lambda r: r["order"].append("diagnosis"),
    "is not of the agreed 4 features, each once": lambda r: r["order"].__setitem__(0, r["order"][1]),
    "is not the beginning of its order": lambda r: r.update(selected=r["order"][1:]),
    "it selected 4 features, and at most 2 were agreed on": lambda r: r.update(selected=r["order"]),
    "its column 'scores' is not of the agreed features": lambda r: r["scores"].pop("a"),
    "its column 'scores' holds something": lambda r: r["scores"].update(a=[1]),
    "its features are not the agreed ones": lambda r: r["features"].reverse(),
    "its columns are no list of names": lambda r: r.update({"=1+1": r["scores"], "columns": ["=1+1"]}),
    "it lacks 'transcript'": lambda r: r.pop("transcript"),
    "it lacks 'parameters', 'n_rows'": lambda r: (r.pop("parameters"), r.pop("n_rows")),
    "it is of another run": lambda r: r["federation"].update(run="another"),
    "an entry of its transcript": lambda r: r["transcript"][0].pop("kind"),
}


@pytest.mark.parametrize("said", CHANGES)
def test_a_result_that_is_not_whole_is_refused_by_name(record, agreement, said):
    CHANGES[said](record)
    message = refused(packed(record), agreement)
    assert message.startswith("was sent a result that is no whole selection: ")
    assert said in message


def test_as_many_features_as_were_agreed_on_are_those_of_the_largest_groups():
    columns = tuple("abcdefg")
    method = SieveMethod(columns, n_features_to_select=2, groups=(("a", "b"), ("c", "d", "e")))
    assert method.most_selected == 5
    assert replace(method, n_features_to_select="auto").most_selected == 7
    assert replace(method, groups=(), n_features_to_select=None).most_selected == 3


REASONS = {
    "what it tells of single labels is not of the agreed ones": lambda r: r["per_label"].pop("y0"),
    "what it tells of the label 'y1' is no number of each agreed": lambda r: r["per_label"]["y1"].update(a="much"),
    "its reasons are not one sentence for each": lambda r: r["why"].pop("a"),
    "its reasons are not one sentence": lambda r: r["why"].update(a=7),
    "its reasons are not one sentence for each agreed": lambda r: r["why"].update(a='=HYPERLINK("http://evil")'),
    "its reasons are not one sentence for each agreed feature": lambda r: r["why"].update(a="selected\x1b[2J"),
}


@pytest.mark.parametrize("said", REASONS)
def test_a_reason_that_is_none_is_refused(record, agreement, said):
    if agreement.method.name != "Sieve":
        assert "why" not in record  # no reasons are made up for a method that gives none
        return
    REASONS[said](record)
    assert said in refused(packed(record), agreement)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_refused(record, agreement, number):
    text = json.dumps({**record, "scores": "HERE"}).replace('"HERE"', f'{{"a": {number}}}')
    assert "which is no finite number" in refused(zlib.compress(text.encode()), agreement)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (b"{}", "cannot be unpacked"),
        (zlib.compress(b"{}")[:-2], "is cut"),
        (zlib.compress(b"\xff"), "no valid JSON"),
        (zlib.compress(b"{} {}"), "no valid JSON"),
        (zlib.compress(b"[" * 200_000 + b"]" * 200_000), "nested more than 32 deep"),
        (zlib.compress(b'{"n": ' + b"9" * 100_000 + b"}"), "no valid JSON"),
        (zlib.compress(b'["\\ud800"]'), "half a character"),  # which no site could read again
        (zlib.compress(b"[]"), "its format is not"),
    ],
    ids=["not packed", "cut", "no text", "two", "nesting", "digits", "half a character", "a list"],
)
def test_what_is_no_result_at_all_is_refused(agreement, payload, said):
    assert said in refused(payload, agreement)


def test_a_bomb_is_refused_before_it_grows(agreement):
    bomb = zlib.compress(b" " * 200_000_000, 1)
    tracemalloc.start()
    try:
        start = time.process_time()
        assert f"above {most_bytes(agreement)} bytes" in refused(bomb, agreement)
        assert time.process_time() - start < 5
        assert tracemalloc.get_traced_memory()[1] < 4 * most_bytes(agreement)
    finally:
        tracemalloc.stop()


def test_control_characters_are_kept_as_escapes_only(record, agreement):
    record["dropped"] = {"x": "\x1b[2J\u202e gone"}
    text = zlib.compress(json.dumps(record, ensure_ascii=False).encode())
    assert selection_text(read_result(text, agreement, RUN)).isascii()
