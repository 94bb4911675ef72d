"""What a site remembers across runs and joins: how often, for which rows, and what must stay the same."""

import shutil
import stat
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fedsieve.deployment.ledger import DAY, Ledger
from fedsieve.errors import DataError, ProtocolError
from fedsieve.messages.base import View
from fedsieve.privacy import SITE, Story
from fedsieve.tables import ArrayTable
from policies import LENIENT

NAMES = ("a", "b")
ROWS = np.random.default_rng(0).normal(size=(60, 2))
AGREEMENT = "f00d"
NOON = 1_800_000_000.0


def table(rows, names=NAMES):
    return ArrayTable(names, np.asarray(rows, dtype=float))


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger")


def admit(ledger, rows=ROWS, run="run", policy=SITE, now=NOON, names=NAMES):
    ledger.admit(run, AGREEMENT, policy, table(rows, names), now)


def why_not(ledger, *arguments, **others):
    with pytest.raises(ProtocolError) as refused:
        admit(ledger, *arguments, **others)
    return str(refused.value)


def test_runs_within_a_day_are_counted(ledger):
    policy = replace(SITE, max_runs_per_day=3)
    for number in range(3):
        admit(ledger, run=f"r{number}", policy=policy, now=NOON + number)
    said = "has answered 3 runs within a day; its policy allows 3 (max_runs_per_day). Wait, or raise it in policy.toml."
    assert why_not(ledger, run="r3", policy=policy, now=NOON + 10) == said
    assert why_not(ledger, run="r3", policy=policy, now=NOON + DAY - 1) == said
    admit(ledger, run="r3", policy=policy, now=NOON + DAY)  # the first one is a day ago
    assert why_not(ledger, run="r4", policy=policy, now=NOON + DAY) == said
    assert [entry["run"] for entry in ledger.runs()] == ["r0", "r1", "r2", "r3"]  # a refused one is none


def test_runs_in_all_are_counted(ledger):
    policy = replace(SITE, max_runs=2)
    for number in range(2):
        admit(ledger, run=f"r{number}", policy=policy, now=NOON + 9 * number * DAY)
    said = "has answered 2 runs; its policy allows 2 in all (max_runs). Raise it in policy.toml."
    assert why_not(ledger, run="r2", policy=policy, now=NOON + 1000 * DAY) == said
    admit(ledger, run="r2", policy=replace(policy, max_runs=3), now=NOON + 1000 * DAY)


def test_zero_is_no_limit(ledger):
    for number in range(30):
        admit(ledger, ROWS[: 60 - number], run=f"r{number}", policy=LENIENT)
    assert len(ledger.runs()) == 30


def test_an_entry_says_which_run_when_and_under_which_agreement(ledger):
    admit(ledger)
    (entry,) = ledger.runs()
    assert entry == {"run": "run", "time": NOON, "agreement": AGREEMENT, "rows": entry["rows"], "consent": None}


def test_a_run_counts_under_the_consent_it_was_last_answered_under(ledger):
    for run, consent in (("first", 1.5), ("second", 1.5), ("first", 2.5)):
        ledger.admit(run, AGREEMENT, SITE, table(ROWS), NOON, consent)
    assert (ledger.runs_under(1.5), ledger.runs_under(2.5), ledger.runs_under(NOON)) == ({"second"}, {"first"}, set())
    assert [entry["run"] for entry in ledger.runs()] == ["first", "second"]


@pytest.mark.parametrize("n_rows", range(7))
def test_a_table_with_few_rows_more_is_refused(ledger, n_rows):
    admit(ledger)
    more = np.vstack([ROWS, np.arange(2.0 * n_rows).reshape(-1, 2)])
    if 1 <= n_rows <= 4:
        assert why_not(ledger, more, run="two") == (
            f"its rows differ from those it answered for before in {n_rows}; its policy asks for 5 or none "
            "(min_difference_rows): two answers would give these rows away by subtraction. "
            "join --as-of answers for the earlier rows; or wait until more rows have changed."
        )
        assert [entry["run"] for entry in ledger.runs()] == ["run"]
    else:
        admit(ledger, more, run="two")


@pytest.mark.parametrize("n_rows", range(7))
def test_so_is_a_table_with_few_rows_less_or_others(ledger, n_rows):
    admit(ledger)
    changed = ROWS.copy()
    changed[:n_rows] += 1
    for number, others in enumerate((ROWS[n_rows:], changed)):
        fresh = Ledger(ledger.path.parent / f"copy-{number}")
        shutil.copytree(ledger.path, fresh.path)
        if 1 <= n_rows <= 4:
            assert f"in {n_rows}; its policy asks for 5" in why_not(fresh, others, run="two")
        else:
            admit(fresh, others, run="two")


def test_the_order_of_rows_and_columns_does_not_matter(ledger):
    admit(ledger)
    admit(ledger, ROWS[::-1][:, ::-1], run="two", names=NAMES[::-1])
    swapped = ROWS.copy()
    swapped[:5] = swapped[:5, ::-1]  # other rows, though of the same numbers
    admit(ledger, swapped, run="three")
    assert "differ" in why_not(ledger, np.vstack([swapped, [[1, 2]]]), run="four")


def test_a_row_twice_is_two_rows(ledger):
    admit(ledger)
    assert "in 1; its policy" in why_not(ledger, np.vstack([ROWS, ROWS[:1]]), run="two")


@pytest.mark.parametrize("n_rows", [1, 4, 5, 60])
def test_a_run_is_about_one_table(ledger, n_rows):
    """However much the rows differ, and whatever was answered for in between."""
    admit(ledger)
    admit(ledger, ROWS[::-1])
    more = np.vstack([ROWS, np.ones((n_rows, 2))])
    assert why_not(ledger, more).startswith("its rows are not those that the run began with")
    admit(ledger, np.vstack([ROWS, np.ones((60, 2))]), run="two")
    admit(ledger)
    assert [entry["run"] for entry in ledger.runs()] == ["run", "two"]


def test_tables_answered_for_count_not_refused_ones(ledger):
    admit(ledger)
    for n_rows in (1, 2, 3, 4):  # step by step does not help
        assert f"in {n_rows}; its" in why_not(ledger, np.vstack([ROWS, np.ones((n_rows, 2))]), run="two")
    admit(ledger, run="two")


@settings(max_examples=25)
@given(st.lists(st.sets(st.integers(0, 59), max_size=8), min_size=2, max_size=5))
def test_every_table_that_was_answered_for_is_compared_not_the_last_one_alone(tmp_path_factory, absent):
    """Else a table of many rows more, answered for in between, would make a table of one row more look new."""
    ledger, answered = Ledger(tmp_path_factory.mktemp("ledger") / "ledger"), []
    for number, gone in enumerate(absent):
        differences = [max(len(gone - before), len(before - gone)) for before in answered]
        rows = np.delete(ROWS, sorted(gone), axis=0)
        if 0 not in differences and any(n < 5 for n in differences):
            assert f"in {min(differences)}; its policy" in why_not(ledger, rows, run=f"r{number}")
        else:
            admit(ledger, rows, run=f"r{number}", policy=replace(SITE, max_runs_per_day=0))
            answered.append(gone)
            assert ledger.as_before(table(ROWS)).sum() == len(rows)


def test_other_columns_in_between_do_not_make_it_forget(ledger):
    admit(ledger)
    admit(ledger, np.ones((70, 1)), run="two", names=("z",))
    assert "in 1; its policy" in why_not(ledger, ROWS[1:], run="three")
    admit(ledger, run="three")


@pytest.mark.parametrize("content", [b"", b"[[60", b"[[60, 0]]\nabc", b"[60]\n", b"[" * 2000])
def test_a_damaged_file_of_rows_is_no_reason_to_forget(ledger, content):
    admit(ledger)
    (file,) = ledger.path.glob("*.rows")
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"damaged, and no part of a ledger\. Restore it from a backup"):
        admit(ledger, run="two")


def test_minus_zero_is_zero_and_what_is_missing_is_missing(ledger):
    rows = np.array([[0.0, 1.0], [np.nan, 2.0], [3.0, np.nan]] * 4)
    admit(ledger, rows)
    admit(ledger, np.where(rows == 0, -0.0, rows), run="two")


@settings(max_examples=25)
@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 6))
def test_differences_are_counted_as_sets_of_rows_differ(tmp_path_factory, n_gone, n_new, least):
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "ledger")
    policy = replace(LENIENT, min_difference_rows=least)
    admit(ledger, policy=policy)
    others = np.vstack([ROWS[n_gone:], 7 + np.arange(2.0 * n_new).reshape(-1, 2)])
    n_different = max(n_gone, n_new)
    if least > 1 and 0 < n_different < least:
        assert f"in {n_different}; its policy asks for {least}" in why_not(ledger, others, run="two", policy=policy)
    else:
        admit(ledger, others, run="two", policy=policy)


@pytest.mark.parametrize("n_rows", range(7))
def test_of_other_columns_the_number_of_rows_is_compared(ledger, n_rows):
    """A new agreement with one more column must not open what an old one closed."""
    admit(ledger)
    wider = np.column_stack([ROWS, ROWS[:, 0]])
    more = np.vstack([wider, np.ones((n_rows, 3))])
    if 1 <= n_rows <= 4:
        assert f"in {n_rows}; its policy asks for 5" in why_not(ledger, more, run="two", names=("a", "b", "c"))
    else:
        admit(ledger, more, run="two", names=("a", "b", "c"))


def test_as_before_finds_the_rows_that_were_answered_for(ledger):
    admit(ledger)
    more = np.vstack([[[9.0, 9.0]], ROWS[30:], ROWS[:30], [[8.0, 8.0]], ROWS[:1]])
    chosen = ledger.as_before(table(more))
    assert_array_equal(np.flatnonzero(~chosen), [0, 61, 62])  # the second copy of a row is a new one
    admit(ledger, more[chosen], run="two")


def test_as_before_says_where_it_cannot(ledger):
    with pytest.raises(ProtocolError, match="has answered for no rows of these columns yet; --as-of has nothing"):
        ledger.as_before(table(ROWS))
    admit(ledger)
    with pytest.raises(ProtocolError, match=r"^2 of the rows it last answered for are no longer in the table"):
        ledger.as_before(table(ROWS[2:]))
    with pytest.raises(ProtocolError, match="has answered for no rows of these columns yet"):
        ledger.as_before(table(ROWS, ("a", "z")))


def test_the_ledger_outlives_what_is_prepared(tmp_path):
    """It lies beside `prepared/`, which leaving removes."""
    (tmp_path / "prepared").mkdir()
    admit(Ledger(tmp_path / "ledger"))
    shutil.rmtree(tmp_path / "prepared")
    again = Ledger(tmp_path / "ledger")
    assert "in 1; its policy" in why_not(again, ROWS[1:], run="two")
    admit(again, run="two")
    assert len(again.runs()) == 2


def test_all_files_are_for_the_owner_alone_and_tell_no_row(ledger):
    admit(ledger)
    ledger.keep_story("run", Story(("x",), (("AskRanges", "1"),), {}))
    ledger.keep_lasting(AGREEMENT, {"bins": "1"})
    files = [path for path in ledger.path.rglob("*") if path.is_file()]
    assert {"rows.key", "runs.json", "run.json", f"pins-{AGREEMENT}.json"} < {one.name for one in files}
    for path in (ledger.path, ledger.path / "stories", *(one for one in files if one.stat().st_size)):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    content = b"".join(path.read_bytes() for path in files if path.name != "rows.key")
    assert not any(value.tobytes() in content or repr(float(value)).encode() in content for value in ROWS.ravel())


def test_hashes_need_the_key_of_this_very_site(tmp_path):
    first, second = Ledger(tmp_path / "first"), Ledger(tmp_path / "second")
    assert first.hashes(table(ROWS)).tolist() == first.hashes(table(ROWS)).tolist()
    assert not set(first.hashes(table(ROWS)).tolist()) & set(second.hashes(table(ROWS)).tolist())
    assert len((tmp_path / "first" / "rows.key").read_bytes()) == 32


def test_an_edge_server_without_rows_counts_runs_alone(ledger):
    policy = replace(SITE, max_runs=1)
    ledger.admit("one", AGREEMENT, policy, None, NOON)
    with pytest.raises(ProtocolError, match="max_runs"):
        ledger.admit("two", AGREEMENT, policy, None, NOON)
    assert not list(ledger.path.glob("*.rows"))


def test_a_story_is_that_of_its_run_and_pins_are_those_of_their_agreement(ledger):
    story = Story(("x", "y"), (("AskRanges", "1"),), {"a": "2"})
    ledger.keep_story("run", story)
    assert ledger.story("run") == story
    assert ledger.story("other") == Story()
    ledger.keep_lasting("one", {"a": "1"})
    ledger.keep_lasting("one", {"b": "2"})
    assert ledger.lasting("one") == {"a": "1", "b": "2"}
    assert ledger.lasting("two") == {}


def test_how_columns_were_seen_is_kept_for_all_agreements(ledger):
    assert ledger.views() == {}
    views = {"a": [View(0.0, 1.0), View(0.0, 2.5, 3), View(0.0, 1.0, 0, 0.2)]}
    ledger.keep_views(views)
    assert Ledger(ledger.path).views() == views
    assert ledger.told() == {}
    ledger.keep_told({"a in [0.0, 1.0]": 1, "weighted sum 00": 4})
    assert Ledger(ledger.path).told() == {"a in [0.0, 1.0]": 1, "weighted sum 00": 4}
    assert stat.S_IMODE((ledger.path / "told.json").stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE((ledger.path / "views.json").stat().st_mode) & 0o077 == 0


def test_changes_are_those_to_the_nearest_table_and_the_rows_that_are_new_to_each(ledger):
    assert (ledger.changes(table(ROWS)).least, ledger.changes(table(ROWS)).new) == (0, ())
    admit(ledger, ROWS[:40])
    admit(ledger, ROWS[10:50], run="two")
    changes = ledger.changes(table(ROWS))
    assert changes.least == 20
    assert [np.flatnonzero(rows).tolist() for rows in changes.new] == [[*range(10), *range(50, 60)], [*range(40, 60)]]
    assert ledger.changes(table(ROWS[10:50])).least == 10  # to the first: itself is no other table
    assert ledger.changes(table(ROWS[10:40])).new == ()  # rows that are gone are nowhere here
    assert ledger.changes(table(ROWS, ("a", "z"))).least == 0


def test_words_in_another_order_do_not_make_every_row_new(tmp_path):
    """The attack: one row more under an agreement whose codes mean something else, and the two answers subtracted."""
    before, after = (Ledger(tmp_path / "ledger", lambda words=words: words) for words in ("f m", "m f"))
    sex = np.resize([0.0, 1.0], 60)
    age = np.arange(60.0)
    before.admit("run-1", "one", SITE, ArrayTable(("age", "sex"), np.column_stack([age, sex])))
    turned = ArrayTable(("age", "sex"), np.column_stack([np.append(age, 99.0), 1 - np.append(sex, 0.0)]))
    with pytest.raises(ProtocolError, match="differ from those it answered for before in 1"):
        after.admit("run-2", "two", SITE, turned)
