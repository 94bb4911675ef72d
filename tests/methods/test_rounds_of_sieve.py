"""How many rounds Sieve takes, and that covariances asked for at once are those that it would have got in the end."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fedsieve import messages as m
from fedsieve.audit.sites import honest_run
from fedsieve.errors import DataError
from fedsieve.methods import SieveMethod
from fedsieve.privacy import LIBRARY, SITE
from fedsieve.protocol import Labeled
from fedsieve.protocol.cohort import BadReplyError
from fedsieve.protocol.influence import KeptReplies, influence, stretch
from fedsieve.protocol.totals import KeptTotals
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from fedsieve.transport.rerank import rerank
from fedsieve.transport.totals_file import Totals
from methods.test_missing import declared
from methods.test_sieve import kinds_asked
from policies import LENIENT
from protocol.federation import drive, select_by_edges
from sieve_cases import partitions, sieve_cases, sieve_example, thirds
from strategies import with_gaps

AT_ONCE = "AskWholeCovariances"
QUICK = {"n_trees": 6, "n_bootstraps": 0}


def gapped(case, rows=slice(0, 3)):
    others = case.others.copy()
    others[rows, 0] = np.nan
    return replace(case, others=others)


def rounds(case, tables=None, **parameters):
    outcome = case.run(thirds(case) if tables is None else tables, **parameters)
    assert len(kinds_asked(outcome)) == max(entry.round for entry in outcome.transcript)
    return kinds_asked(outcome)


def test_one_round_in_declared_ranges_and_two_in_robust_ones_where_nothing_is_missing():
    case = replace(sieve_example(), nominal=())
    ranges = declared(case)
    assert rounds(case, ranges=ranges, missing="mean") == [AT_ONCE]
    assert rounds(case, ranges=ranges, missing="indicator") == [AT_ONCE]
    assert rounds(case, ranges=ranges, missing="error") == ["AskCovariances"]
    assert rounds(case, ranges="robust", missing="mean") == ["AskHistograms", "AskCovariances"]


def test_where_values_are_missing_the_means_come_next():
    case = replace(sieve_example(), nominal=())
    some, ranges = gapped(case), declared(case)
    assert rounds(some, ranges=ranges, missing="mean") == [AT_ONCE, "AskMeans", "AskCovariances"]
    own = replace(case, X=with_gaps(case.X, 1))
    assert rounds(own, ranges=ranges, missing="mean") == ["AskMeans", "AskCovariances"]
    wide = {"screen": 2, "n_features_to_select": 1}
    assert rounds(case, ranges=ranges, missing="mean", **wide) == ["AskMeans", "AskProjections", "AskCovariances"]


@pytest.mark.parametrize("center", ["federation", "sites"])
@pytest.mark.parametrize("missing", ["mean", "indicator"])
@settings(max_examples=10)
@given(data=st.data())
def test_the_selection_is_that_without_missing_values_to_the_last_bit(center, missing, data):
    case = data.draw(sieve_cases())
    tables, how = data.draw(partitions(case.others)), {"ranges": declared(case), "center": center}
    at_once, known = case.run(tables, missing=missing, **how), case.run(tables, missing="error", **how)
    assert AT_ONCE in kinds_asked(at_once)
    assert_array_equal(at_once.selection.scores, known.selection.scores)
    assert_array_equal(at_once.selection.order, known.selection.order)
    assert at_once.selection.missing.share is None


def test_a_site_that_misses_values_tells_how_many_and_no_sum_of_the_others_is_made():
    case = sieve_example()
    request = m.AskWholeCovariances(
        case.plan(missing="mean").columns, case.plan(ranges=declared(case)).declared_scaling
    )
    some, whole = (request.answer(ArrayTable(case.features, one.others)) for one in (gapped(case), case))
    assert (some.n_missing, some.sums.size, some.upper.size) == (3, 0, 0)
    assert_array_equal(whole.upper, request.of_all.answer(ArrayTable(case.features, case.others)).upper)
    for total in (some + whole, whole + some, some + some):
        assert total.n_missing in (3, 6)
        assert total.upper.size == total.sums.size == 0
        assert total.deviation_by_column() is None
        assert request.facts(total) is None
        with pytest.raises(DataError, match="values are missing"):
            total.covariances  # noqa: B018
    assert (whole + whole).covariances.n_rows == 2 * whole.n_rows


LIES = {
    "sums beside gaps": ({"n_missing": 1}, "sums of shape"),
    "more gaps than values": ({"n_missing": 10**6, "sums": np.zeros(0), "upper": np.zeros(0)}, "misses 1000000 values"),
    "no number": ({"n_missing": True}, "misses True values"),
    "no sums": ({"sums": np.zeros(0), "upper": np.zeros(0)}, "sums of shape"),
    "other columns": ({"features": ("a",)}, "answered for 1 columns"),
}


@pytest.mark.parametrize(("change", "said"), LIES.values(), ids=LIES)
def test_a_reply_that_no_table_gives_is_refused(change, said):
    case = sieve_example()

    def tamper(_question, name, reply):
        return replace(reply, **change) if name == "a" and isinstance(reply, m.WholeCovariances) else reply

    tables = dict(zip("abc", thirds(case).values(), strict=True))
    with pytest.raises(BadReplyError, match=f"client 'a': .*{said}"):
        drive(case.plan(ranges=declared(case)), case.rows, case.sites(tables), tamper)


def test_a_total_of_edge_servers_holds_no_sums_of_some_sites_either():
    case = gapped(replace(sieve_example(), nominal=()))
    tables = case.sites({str(number): rows for number, rows in enumerate(np.array_split(case.others, 4))})
    method = case.plan(ranges=declared(case), max_sites_per_client=2)
    groups = {"one": {name: tables[name] for name in "01"}, "two": {name: tables[name] for name in "23"}}
    found, said = select_by_edges(method, case.rows, groups)
    first = [reply for reply in said if isinstance(reply, m.WholeCovariances)]
    assert [reply.upper.size == 0 for reply in first] == [True, False]
    flat = in_process.select(method, case.rows, tables).selection
    assert_array_equal(found.order, flat.order)


def guarded_case(n_gaps):
    rng = np.random.default_rng(4)
    names, X = tuple("abcd"), rng.normal(size=(40, 4))
    Y = (X[:, :2] + rng.normal(size=(40, 2)) > 0).astype(float)
    tables = {name: rng.normal(size=(90, 4)) for name in ("north", "south", "west")}
    tables["south"][:n_gaps, 1] = np.nan
    method = SieveMethod(names, ranges=dict.fromkeys(names, (-2.0, 2.0)), **QUICK)
    return method, Labeled(X, Y), {name: ArrayTable(names, rows) for name, rows in tables.items()}


@pytest.mark.parametrize(("n_gaps", "n_rounds"), [(0, 1), (3, 1), (20, 3)])
def test_sites_with_all_their_rules_answer_every_round(n_gaps, n_rounds):
    """Fewer gaps than `min_cell` are not told: a usual value stands there."""
    outcome = in_process.select(*guarded_case(n_gaps), policy=SITE)
    assert len(kinds_asked(outcome)) == n_rounds
    replies = [entry for entry in outcome.transcript if entry.sender == "south"]
    assert [entry.kind for entry in replies] == ["WholeCovariances", "Means", "Covariances"][:n_rounds]


def test_covariances_at_once_come_first_or_not_at_all():
    method, rows, tables = guarded_case(20)
    scaling = method.declared_scaling

    class Late(SieveMethod):
        name = "Sieve"

        def run(self, _labeled, cohort):
            yield from cohort.total(m.AskMeans(self.columns, scaling))
            yield from cohort.total(m.AskWholeCovariances(self.columns, scaling))

    late = Late(method.features, ranges=method.ranges)
    with pytest.raises(BadReplyError, match="was asked AskWholeCovariances after AskMeans"):
        in_process.select(late, rows, tables, policy=LENIENT)


def test_secure_sums_ask_for_means_first():
    method = guarded_case(0)[0]
    secure = replace(method, secure=True)
    assert m.AskWholeCovariances in {terms.request for terms in method.terms()}
    assert m.AskWholeCovariances not in {terms.request for terms in secure.terms()}
    with pytest.raises(Exception, match="the total would be of the others alone"):
        m.AskWholeCovariances(method.columns, method.declared_scaling).addends(10)


@pytest.mark.parametrize("n_gaps", [0, 20])
def test_kept_totals_give_the_same_selection_again(n_gaps):
    method, rows, tables = guarded_case(n_gaps)
    kept = KeptTotals()
    found = in_process.select(method, rows, tables, totals=kept).selection
    _, again = rerank(Totals.of(method, rows, kept), rows, {"n_features_to_select": 2})
    assert_array_equal(again.scores, found.scores)


@pytest.mark.parametrize("n_gaps", [0, 20])
def test_what_one_site_moves_is_told_as_before(n_gaps):
    """Sites that miss values are in no sum of the first round, which so tells of no spread."""
    method, rows, tables = guarded_case(n_gaps)
    kept = KeptReplies()
    found = in_process.select(method, rows, tables, kept=kept).selection
    moved = influence(method, rows, found, kept)
    assert set(moved) == set(tables)
    assert max(stretch(kept).values()) < 1.2


def test_attacks_find_the_covariances_of_sites_that_answered_at_once():
    method, rows, tables = guarded_case(0)
    seen = honest_run(method, rows, tables, LIBRARY, "south")
    assert [type(request) for request, _ in seen] == [m.AskCovariances]
    assert_array_equal(seen[0][1].upper, seen[0][0].answer(tables["south"]).upper)
