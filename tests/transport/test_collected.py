"""The server's side of collecting: whatever dies on the way, the same rows are there in the end, and nothing else."""

import weakref
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fedsieve.messages import Refusal
from fedsieve.messages.rows_chunk import AskRowsChunk, RowsChunk
from fedsieve.messages.rows_offer import RowsOffer
from fedsieve.methods import SieveMethod, collecting
from fedsieve.methods.collecting import OTHER_ROWS, Collecting
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable
from fedsieve.transport import collected
from fedsieve.transport.codec import decode
from fedsieve.transport.collected import Shelf, collect
from fedsieve.transport.exchange import Answer

rng = np.random.default_rng(0)
ROWS = {"near": rng.normal(size=(10, 3)), "far": rng.normal(size=(4, 3))}
SITES, COLUMNS = tuple(ROWS), ("a", "b", "c")


@pytest.fixture(autouse=True)
def _three_rows_a_message(monkeypatch):
    monkeypatch.setattr(collecting, "CHUNK_BYTES", 3 * 2 * 8)


@pytest.fixture
def method():
    return Collecting.after(SieveMethod(COLUMNS), ["c", "a"])


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path / "rows")


class Died(BaseException):
    """The server's process."""


def honest(asked=None, change=None):
    """An exchange with sites in this process; `change` makes another reply of an honest one."""
    tables = {name: ArrayTable(COLUMNS, X) for name, X in ROWS.items()}

    def exchange(question):
        replies = {}
        for name in question.clients:
            request = question.request_to(name)
            reply = Client(tables[name]).answer(request)
            if asked is not None:
                asked.append((name, type(request).__name__, getattr(request, "start", None)))
            replies[name] = Answer(reply if change is None else change(name, request, reply), 1)
        return replies

    return exchange


def rows_of(shelf, site):
    return np.concatenate(list(shelf.rows(site)))


def files(shelf):
    return {path.relative_to(shelf.folder): path.read_bytes() for path in shelf.folder.rglob("*") if path.is_file()}


def test_all_rows_arrive_in_their_order_a_chunk_of_each_site_at_a_time(method, shelf):
    asked = []
    found = collect(method, SITES, SITES, honest(asked), shelf)
    assert (found.rows, found.refused) == ({"near": 10, "far": 4}, {})
    for site, X in ROWS.items():
        assert_array_equal(rows_of(shelf, site), X[:, [2, 0]])
    starts = [(site, start) for site, kind, start in asked if kind == "AskRowsChunk"]
    assert starts == [("near", 0), ("far", 0), ("near", 3), ("far", 3), ("near", 6), ("near", 9)]
    assert all(path.stat().st_mode & 0o077 == 0 for path in shelf.folder.rglob("*"))


@pytest.mark.parametrize("deaths", [(1,), (2,), (4,), (1, 1, 1, 1)])
def test_a_server_that_dies_asks_only_for_the_rest_and_has_the_same_bytes_in_the_end(method, tmp_path, deaths):
    whole = Shelf(tmp_path / "whole")
    collect(method, SITES, SITES, honest(), whole)
    shelf, asked = Shelf(tmp_path / "rows"), []

    def dying(after):
        left, exchange = [after], honest(asked)

        def one(question):
            if not left[0]:
                raise Died
            left[0] -= 1
            return exchange(question)

        return one

    for after in deaths:
        with pytest.raises(Died):
            collect(method, SITES, SITES, dying(after), shelf)
    collect(method, SITES, SITES, honest(asked), shelf)
    assert files(shelf) == files(whole)
    assert len(asked) == len(set(asked))  # nothing was asked for twice


def test_a_site_that_is_lost_or_refuses_holds_up_nobody_and_goes_on_where_it_was(method, shelf):
    def lost(name, request, reply):
        is_lost = name == "near" and getattr(request, "start", 0) >= 6
        return Refusal("did not answer within 300 s.") if is_lost else reply

    found = collect(method, SITES, SITES, honest(change=lost), shelf)
    assert (found.rows, found.refused) == ({"far": 4}, {"near": "did not answer within 300 s."})
    asked = []
    found = collect(method, ["near"], SITES, honest(asked), shelf)
    assert found.rows == {"near": 10}
    assert asked == [("near", "AskRowsChunk", 6), ("near", "AskRowsChunk", 9)]
    assert_array_equal(rows_of(shelf, "near"), ROWS["near"][:, [2, 0]])


def test_half_written_and_damaged_files_are_removed_and_asked_for_again(method, shelf):
    collect(method, SITES, SITES, honest(), shelf)
    whole = files(shelf)
    second = shelf.folder / "near" / "000002"
    second.write_bytes(second.read_bytes()[:-5])
    (shelf.folder / "near" / ".000009.77.part").write_bytes(b"half")
    asked = []
    collect(method, SITES, SITES, honest(asked), shelf)
    assert files(shelf) == whole
    assert [start for _, _, start in asked] == [3, 6, 9]


def test_what_was_kept_in_other_chunks_is_forgotten_and_asked_for_anew(method, shelf, monkeypatch):
    """By another version, say: what is left of it would be taken for rows of the site, or for more than all."""
    collect(method, SITES, SITES, honest(), shelf)
    monkeypatch.setattr(collecting, "CHUNK_BYTES", 5 * 2 * 8)
    for n_asked in (5, 0):  # an announcement each, and chunks of five rows; then all is there
        asked = []
        assert collect(method, SITES, SITES, honest(asked), shelf).rows == {"near": 10, "far": 4}
        assert len(asked) == n_asked
    for site, X in ROWS.items():
        assert_array_equal(rows_of(shelf, site), X[:, [2, 0]])
        assert shelf.n_rows(site) == len(X)


def test_more_than_all_rows_are_forgotten_too(method, shelf):
    collect(method, SITES, SITES, honest(), shelf)
    whole = files(shelf)
    (shelf.folder / "near" / "000005").write_bytes((shelf.folder / "near" / "000004").read_bytes())
    assert collect(method, SITES, SITES, honest(), shelf).rows == {"near": 10, "far": 4}
    assert files(shelf) == whole


def test_of_what_was_kept_one_chunk_is_in_memory_at_a_time(method, shelf, monkeypatch):
    collect(method, SITES, SITES, honest(), shelf)
    alive, most = weakref.WeakSet(), []

    def watched(data):
        reply = decode(data)
        alive.add(reply)
        most.append(len(alive))
        return reply

    monkeypatch.setattr(collected, "decode", watched)
    assert shelf.n_rows("near") == 10
    collect(method, SITES, SITES, honest(), shelf)
    assert max(most) <= 3  # the announcement, the last chunk, and the next


LIES = {
    "more rows than it said": (
        lambda reply: replace(reply, n_rows=11),
        "answered for 11 rows, before for 10. Its data changed during the run.",
    ),
    "more rows than asked for": (
        lambda reply: replace(reply, values=np.vstack([reply.values, reply.values])),
        "sent rows of shape (6, 2); the plan needs (3, 2).",
    ),
    "another column": (
        lambda reply: replace(reply, features=("c", "a", "b"), values=np.ones((3, 3))),
        "answered for 3 features, the plan has 2 (others, or in another order)."
        " Check its columns against the plan's list.",
    ),
    "one column more in the values": (
        lambda reply: replace(reply, values=np.ones((3, 3))),
        "sent rows of shape (3, 3); the plan needs (3, 2).",
    ),
    "labels": (
        lambda reply: replace(reply, labels=("y",)),
        "answered for 1 labels, the plan has 0 (others, or in another order)."
        " Check its columns against the plan's list.",
    ),
    "infinite values": (
        lambda reply: replace(reply, values=np.full((3, 2), np.inf)),
        "sent values that are no finite numbers within ±1e+300.",
    ),
    "another chunk again": (
        lambda reply: replace(reply, start=3),
        "sent rows from number 3 on; asked for were those from 0 on.",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_no_honest_site_sends_is_refused_and_not_kept(method, shelf, lie):
    change, said = LIES[lie]

    def lying(name, _request, reply):
        return change(reply) if name == "near" and isinstance(reply, RowsChunk) else reply

    found = collect(method, SITES, SITES, honest(change=lying), shelf)
    assert (found.rows, found.refused) == ({"far": 4}, {"near": said})
    assert [path.name for path in (shelf.folder / "near").iterdir()] == ["000000"]  # what it announced


def test_gaps_and_no_codes_are_refused_where_they_were_not_agreed_on(shelf):
    method = Collecting.after(SieveMethod(COLUMNS, missing="error", nominal=("a",)), ["c", "a"])

    def with_value(value):
        return lambda _name, _request, reply: (
            replace(reply, values=np.full((len(reply.values), 2), value)) if isinstance(reply, RowsChunk) else reply
        )

    for value, said in ((np.nan, "miss values, which was not agreed on"), (0.5, "nominal columns that are no codes")):
        found = collect(method, SITES, SITES, honest(change=with_value(value)), shelf)
        assert not found.rows
        assert all(said in reason for reason in found.refused.values())


def test_rows_that_are_not_those_announced_are_all_forgotten(method, shelf):
    """Each chunk could be honest; all of them together are not what the site signed first."""

    def tampered(name, request, reply):
        is_last = name == "near" and isinstance(request, AskRowsChunk) and request.start == 9
        return replace(reply, values=reply.values + 1) if is_last else reply

    found = collect(method, SITES, SITES, honest(change=tampered), shelf)
    assert (found.rows, found.refused) == ({"far": 4}, {"near": OTHER_ROWS})
    assert not (shelf.folder / "near").exists()
    assert collect(method, ["near"], SITES, honest(), shelf).rows == {"near": 10}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda reply: replace(reply, n_rows=5000), "more than the agreed"),
        (lambda reply: replace(reply, features=("a", "c")), "others, or in another order"),
        (lambda reply: replace(reply, sha256=reply.sha256[:5]), "it has 32 bytes"),
    ],
)
def test_an_announcement_that_no_honest_site_makes_is_refused(method, shelf, change, said):
    def lying(_name, _request, reply):
        return change(reply) if isinstance(reply, RowsOffer) else reply

    found = collect(replace(method, max_rows=1000), SITES, SITES, honest(change=lying), shelf)
    assert all(said in reason for reason in found.refused.values())
    assert not shelf.folder.exists()


def test_a_message_has_as_many_rows_as_fit_and_the_agreed_limit_has_room_for(method, monkeypatch):
    monkeypatch.setattr(collecting, "CHUNK_BYTES", 4_000_000)
    assert method.chunk_rows * 2 * 8 == 4_000_000
    assert replace(method, max_message_bytes=3200).chunk_rows * 2 * 8 == 1600
    assert replace(method, max_message_bytes=1).chunk_rows == 1
