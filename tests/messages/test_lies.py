"""Well-formed lies are refused by a rule, or are what some honest table answers; the truth is never refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.methods import SSFMLFSMethod
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable
from protocol.certificates import certificate, same
from protocol.dishonesty import LIES, all_situations, lie, named_lies, situations
from protocol.federation import WIRES, drive, example, labeled, sites
from strategies import KINDS, Federation, federations, with_gaps

ROWS = 14


def equal_sites(n_features=4):
    """Sites of as many rows, so that one can pass off another's reply as its own."""
    case = example(seed=3, n_features=n_features)
    rng = np.random.default_rng(5)
    X = {name: rng.normal(size=(ROWS, n_features)) * 3 + 1 for name in case.clients}
    return Federation(X, case.X, case.Y)


def first_of_each_kind(**parameters):
    found = {}
    for situation in all_situations(equal_sites(), **parameters):
        found.setdefault(type(situation.honest), situation)
    return found


OF = first_of_each_kind()
OF_GAPS = first_of_each_kind(missing="unrelated")
CASES = [(kind, name) for kind, situation in OF.items() for name in named_lies(situation)]


@pytest.mark.parametrize(("kind", "name"), CASES, ids=[f"{kind.__name__}, {name}" for kind, name in CASES])
def test_a_lie_is_refused_or_is_the_truth_of_another_table(kind, name):
    rng = np.random.default_rng(len(name))
    for situation in (OF[kind], OF_GAPS[kind]):
        reply = lie(situation, name, rng)
        if situation.request.why_refused(reply, situation.known) is None:
            assert certificate(situation.request, reply, situation.tables) is not None


def test_every_lie_is_told():
    assert {name for _, name in CASES} == set(LIES)


def test_a_certificate_is_the_reply_of_a_client_and_not_of_the_liar():
    # So that the test above does not pass because any table will do.
    situation = OF[m.PairSums]
    reply = replace(situation.honest, upper=situation.honest.upper * 0.99)
    table = certificate(situation.request, reply, situation.tables)
    honest = Client(ArrayTable(situation.request.relation.columns.features, table)).answer(situation.request)
    assert same(honest, reply)
    assert not same(honest, situation.honest)


def put(**values):
    """A reply with entries set: name=((index, value), ...)."""

    def change(reply):
        arrays = {name: getattr(reply, name).copy() for name in values}
        for name, entries in values.items():
            for index, value in entries:
                arrays[name][index] = value
        return replace(reply, **arrays)

    return change


def relation(matrix):
    """The first feature's relation among the first three rows, who are related to nobody else."""

    def change(reply):
        values = reply.values.copy()
        values[0] = np.eye(ROWS)
        values[0, :3, :3] = matrix
        return replace(reply, values=values)

    return change


def sums(matrix):
    """The sums of the first three features, as shares of the way from n to n²; the others relate everything."""

    def change(reply):
        share = np.ones((4, 4))
        share[:3, :3] = matrix
        share[3, :] = share[:, 3] = np.diagonal(share)
        return m.PairSums.of(ROWS, reply.features, ROWS + share * (ROWS**2 - ROWS))

    return change


NEAR = OF[m.Relations].request.relation.radius[0]
CHAIN = [[1, 1 - NEAR / 2, 1 - NEAR / 2], [1 - NEAR / 2, 1, 1 - NEAR / 4], [1 - NEAR / 2, 1 - NEAR / 4, 1]]
IMPOSSIBLE = {
    "beyond what a client answers": (m.RangesAndMoments, put(high=[(0, 1e301)]), r"within ±1e\+300"),
    "neither end beside the mean": (m.RangesAndMoments, put(mean=[(0, 0.9 / ROWS)]), "contradict its ranges"),
    "less spread than both ends have": (m.RangesAndMoments, put(m2=[(0, 0.49)]), "contradict its ranges"),
    "ends, and all others in the middle": (m.RangesAndMoments, put(mean=[(0, 0.3)], m2=[(0, 0.5)]), "its ranges"),
    "more spread than zeros and ones have": (m.RangesAndMoments, put(m2=[(0, ROWS / 4 + 0.01)]), "its ranges allow"),
    "mean 0.01, spread of mean 0.5": (m.Moments, put(mean=[(0, 0.01)], m2=[(0, ROWS / 4)]), "of this mean"),
    "spread just above the widest": (m.Moments, put(mean=[(0, 1 / ROWS)], m2=[(0, 1 - 1 / ROWS + 1e-6)]), "this mean"),
    "spread of half a one as of a whole": (m.Moments, put(mean=[(0, 0.5 / ROWS)], m2=[(0, 0.3)]), "of this mean"),
    "more clipped than present": (m.Moments, lambda r: replace(r, n_clipped=ROWS * 4 + 1), "clipped 57 values of 56"),
    "a degree below the radius": (m.Relations, relation([[1, 0.01, 0], [0.01, 1, 0], [0, 0, 1]]), "radius allows"),
    "a triangle that is no line": (m.Relations, relation(CHAIN), "degrees contradict each other"),
    "too many rows apart": (m.Relations, relation(np.eye(3)), r"would not fit into \[0, 1\]"),
    "no row like itself in both": (m.PairSums, put(upper=[(1, ROWS - 0.1)]), "S_pb below n = 14"),
    "overlap of two full features": (m.PairSums, sums([[1, 0.9, 1], [0.9, 1, 1], [1, 1, 1]]), "below S_p"),
    "like one, unlike its likes": (m.PairSums, sums([[0.5, 0.5, 0.3], [0.5, 0.5, 0.5], [0.3, 0.5, 0.5]]), "triangle"),
    "all apart under a wide radius": (m.PairSums, sums(np.zeros((3, 3))), "too small for its radius"),
    "as far as from oneself": (m.Products, put(values=[(slice(None), ROWS**2 * 4 - 1.0)]), "products outside"),
    "near to all, all far": (m.Products, put(values=[(slice(None), 100.0), (0, 30.0)]), "too far apart"),
    "near to all but one": (m.Products, put(values=[(slice(None), 0.0), (0, 30.0)]), "too far apart"),
}


@pytest.mark.parametrize(("kind", "change", "reason"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_no_table_answers_is_refused_by_its_rule(kind, change, reason):
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(OF[kind].request.why_refused(change(OF[kind].honest), OF[kind].known))


def test_nominal_relations_are_equivalences():
    spec = m.Relation(m.Columns(("a",), ("a",), "error"), m.Scaling(None, None), np.zeros(1), "distance")

    def told(matrix):
        reply = m.Relations(3, ("a",), np.array([matrix], dtype=float))
        return m.AskRelations(spec).why_refused(reply, m.Known(n_rows=3))

    assert told([[1, 1, 0], [1, 1, 0], [0, 0, 1]]) is None
    assert "contradict" in told([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    assert "radius allows" in told([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])


def test_columns_without_values_or_of_one_value_have_no_moments():
    both = OF_GAPS[m.RangesAndMoments]
    nothing = {"count": [(0, 0)], "low": [(0, np.inf)], "high": [(0, -np.inf)], "mean": [(0, 0.0)], "m2": [(0, 0.0)]}
    point = {"low": [(0, 2.0)], "high": [(0, 2.0)], "mean": [(0, 0.0)], "m2": [(0, 0.0)]}
    for honest in (nothing, point, {**point, "count": [(0, 1)]}):
        assert both.request.why_refused(put(**honest)(both.honest), both.known) is None
    for change, reason in (
        ({**nothing, "count": [(0, 1)]}, "misses 13 values, of at least 14"),
        ({**nothing, "mean": [(0, 0.5)]}, "other moments than 0"),
        ({**point, "m2": [(0, 0.1)]}, "other moments than 0"),
        ({"count": [(0, 1)]}, "one value in a range of two ends"),
        ({"count": [(0, 0)]}, "counts that contradict its ranges"),
    ):
        assert reason in both.request.why_refused(put(**change)(both.honest), both.known)


def test_exact_ranges_clip_nothing():
    moments = OF[m.Moments]
    assert moments.request.why_refused(moments.honest, moments.known) is None
    clipped = replace(moments.honest, n_clipped=1)
    assert "clipped 1 values, though" in moments.request.why_refused(clipped, moments.known)


def test_later_replies_must_fit_the_ones_before():
    first, second = situations(equal_sites(), "vectors")[1:3]
    later = replace(second.request, relation=None)
    known = replace(second.known, earlier={m.AskProducts: (first.request, first.honest)})
    assert later.why_refused(second.honest, known) is None
    assert "earlier ones" in later.why_refused(first.honest, known)  # a replay
    assert "earlier ones" in later.why_refused(second.other, known)


@pytest.mark.parametrize("reason", ["", " \n", "x" * 100_000])
def test_a_refusal_in_no_or_in_many_words_names_the_client(reason):
    def refuse(_question, name, reply):
        return m.Refusal(reason) if name == "site-1" else reply

    case = example()
    with pytest.raises(ProtocolError, match=r"client 'site-1': (refused without a reason|xxx)") as refused:
        drive(SSFMLFSMethod(case.features), labeled(case), sites(case), refuse)
    assert len(str(refused.value)) < 1100


PARAMETERS = st.fixed_dictionaries(
    {
        "relation": st.sampled_from(KINDS),
        "wire": st.sampled_from(WIRES),
        "lam": st.sampled_from([0.4, 1.2, 2.0]),
        "constant": st.sampled_from(["last", "keep"]),
        "spread": st.sampled_from(["pooled", "mean"]),
        "ranges": st.sampled_from(["federated", "local", "declared"]),
        "nominal": st.booleans(),
        "missing": st.sampled_from(["error", "unrelated"]),
        "tol": st.just(1e-4),  # some products more would be like those before
    }
)


@settings(max_examples=40)
@given(federations(), PARAMETERS, st.integers(0, 2**32 - 1))
def test_no_honest_reply_is_ever_refused(case, options, seed):
    if options["missing"] == "unrelated":
        gaps = {name: with_gaps(X, seed + i, 0.3) for i, (name, X) in enumerate(case.clients.items())}
        case = Federation(gaps, case.X, case.Y)
    if options["ranges"] == "declared":
        options["ranges"] = dict.fromkeys(case.features, (0.2, 0.7))
    method = SSFMLFSMethod(case.features, **{**options, "nominal": case.features[:2] if options["nominal"] else ()})
    earlier, seen = {name: {} for name in case.clients}, set()

    def check(question, name, reply):
        request = question.request
        seen.add(type(reply))
        assert request.why_refused(reply, m.Known(len(case.clients[name]), earlier[name])) is None
        if request.remembered:
            earlier[name][type(request)] = request, reply
        return reply

    drive(method, labeled(case), sites(case), check)
    assert seen & {m.Moments, m.Deviations, m.RangesAndMoments}
