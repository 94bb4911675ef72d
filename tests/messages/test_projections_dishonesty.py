"""Covariances and projections that no rows in these ranges have are refused; honest ones never are."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from protocol.federation import drive, select_by_edges
from sieve_cases import partitions, sieve_cases, sieve_example, thirds

N = 15  # rows of site-1
NAMES = ("f0", "f1", "f2", "f3=1", "f3=2", "f3=3", "f4", "f5=0", "f5=1")
F0, F1, F2, CODE, OTHER = range(5)  # a number; one of which site-1 has a part of the range; a constant; two codes
WIDE = {"screen": 2, "n_features_to_select": 1}
PARAMETERS = {m.Covariances: {}, m.Projections: WIDE}


def example():
    case = sieve_example()
    tables = thirds(case)
    tables["site-1"][:, 1] /= 4
    return case, case.sites(tables)


CASE, SITES = example()
MIDDLE = np.array([0.5, 0.5, 0, 0, 0, 0, 0.5, 0, 0])  # what columns are counted from, in units of their range


def of_table(change):
    """A lie about the rows: means in [0, 1] and sums of products of deviations are changed in place.

    So is all that follows from them.
    """

    def lie(request, reply):
        honest = Client(SITES["site-1"]).answer(m.AskCovariances(request.columns, request.scaling))
        mean, S = MIDDLE + honest.sums / N, honest.deviations()
        change(mean, S)
        sums = N * (mean - MIDDLE)
        products = S + np.outer(sums, sums) / N
        if isinstance(reply, m.Covariances):
            return replace(reply, sums=sums, upper=products[np.triu_indices(len(S))])
        W = request.weights
        squares = np.diagonal(products).copy()
        return replace(reply, sums=sums, squares=squares, weighted=sums @ W, products=products @ W)

    return lie


def rescale(S, column, m2):
    """Another spread of one column; its correlations stay, so that no rule about two columns is broken."""
    factor = np.sqrt(m2 / S[column, column]) if S[column, column] > 0 else 0.0
    S[column] *= factor
    S[:, column] *= factor
    S[column, column] = m2


def moments(column, mean=None, m2=None):
    """Another mean or another spread of one column."""

    def change(means, S):
        means[column] = means[column] if mean is None else mean
        if m2 is not None:
            rescale(S, column, m2)

    return of_table(change)


def rows_more(column, more):
    """So many more rows have a code, with the spread that belongs to their number."""

    def change(means, S):
        means[column] += more / N
        rescale(S, column, N * means[column] * (1 - means[column]) * (1 if more == round(more) else 0.9))

    return of_table(change)


def correlated(matrix):
    """The three numbers that vary have these correlations, and none with anything else."""

    def change(_means, S):
        numbers = [F0, F1, 6]
        length = np.sqrt(np.diagonal(S)[numbers])
        S[numbers] = S[:, numbers] = 0
        S[np.ix_(numbers, numbers)] = np.array(matrix) * np.outer(length, length)

    return of_table(change)


def put(**entries):
    """A reply with entries set: name=(index, value)."""

    def lie(_request, reply):
        arrays = {name: getattr(reply, name).copy() for name in entries}
        for name, (index, value) in entries.items():
            arrays[name][index] = value
        return replace(reply, **arrays)

    return lie


def changed(**fields):
    """A reply with fields that are made of the honest ones."""
    return lambda _request, reply: replace(reply, **{name: make(getattr(reply, name)) for name, make in fields.items()})


def unseen(request, reply):
    """Products that leave all weighted sums as they are, since the weights do not see the change."""
    _, _, rows = np.linalg.svd(request.weights.T)
    return replace(reply, products=reply.products + 10 * np.outer(rows[-1], np.eye(request.weights.shape[1])[0]))


SPREAD = r"sent a spread that no values in \[0, 1\] of this mean have\.$"
OUTSIDE = r"sent a mean outside \[0, 1\] for a scaled feature\.$"
NO_COUNTS = r"sent means of codes that are no counts of rows\.$"
NO_SUM = r"sent codes that do not add up to its rows\.$"
ONE_POINT = r"sent other moments than 0 for a feature whose range is one point\.$"
RANGES = r"sent moments that contradict its ranges\.$"
ABOVE = r"sent products above those of the deviations\.$"
TOO_MUCH = r"sent covariances above the product of the deviations\.$"
BOTH = {
    "a mean below all values": (moments(F0, mean=-1e-3), OUTSIDE),
    "a mean above all values": (moments(6, mean=1.001), OUTSIDE),
    "a code of fewer rows than none": (moments(CODE, mean=-1 / N), OUTSIDE),
    "the spread of more rows": (moments(F0, m2=float(N)), SPREAD),
    "the spread of another mean": (moments(F0, mean=0.01, m2=1.0), SPREAD),
    "a spread just above the widest": (moments(F0, mean=1 / N, m2=1 - 1 / N + 1e-6), SPREAD),
    "half a row of a code": (rows_more(CODE, 0.5), NO_COUNTS),
    "a code that is a share": (rows_more(OTHER, -0.01), NO_COUNTS),
    "a code's spread": (moments(CODE, m2=0.5), r"sent spreads of codes that no counts of rows have\.$"),
    "a row that has two codes": (rows_more(CODE, 1), NO_SUM),
    "a row that has no code": (rows_more(OTHER, -1), NO_SUM),
    "a mean of one point": (moments(F2, mean=0.5), ONE_POINT),
    "a spread of one point": (moments(F2, mean=0.5, m2=0.5), ONE_POINT),
    "a mean below what it named": (moments(F1, mean=0.1, m2=0.05), RANGES),
    "a mean above what it named": (moments(F1, mean=0.9, m2=0.05), RANGES),
    "a spread that reaches no ends": (moments(F1, m2=1e-4), RANGES),
    "no spread at all": (moments(F0, m2=0.0), RANGES),
    "a spread beyond what it named": (moments(F1, m2=1.5), r"sent a spread above what its ranges allow\.$"),
    "others' names": (changed(features=lambda names: names[::-1]), "for 9 columns, the plan has 9 .others, or in an"),
    "a column less": (changed(features=lambda names: names[1:]), r"for 8 columns, the plan has 9 \(missing: 'f0'\)"),
    "features for columns": (
        changed(features=lambda _: CASE.features),
        r"answered for 6 columns, the plan has 9 \(missing: 'f3=1', 'f3=2', 'f3=3', .*\)\. Check its columns",
    ),
    "a sum of a column less": (changed(sums=lambda sums: sums[1:]), r"sums of shape \(8,\); the plan needs \(9,\)"),
    "no number": (put(sums=(F0, np.nan)), "sent 1 values in sums that are not finite numbers"),
    "no array": (changed(sums=lambda sums: sums.tolist()), "sent sums as list, no array of numbers"),
    "sums beyond all numbers": (put(sums=(F0, 1.7e308)), OUTSIDE),
    "sums below all numbers": (put(sums=(CODE, -1.7e308)), OUTSIDE),
    "other rows": (changed(n_rows=lambda n_rows: n_rows + 1), "answered for 16 rows, before for 15"),
    "another reply": (lambda *_: m.Refusal("the disk is on fire"), "the disk is on fire"),
    "what nobody asked": (lambda *_: m.Products(N, np.zeros(9)), r"with Products; expected (Covariances|Projections)"),
}
BAD = {
    m.Covariances: {
        **BOTH,
        "a negative spread": (moments(F2, m2=-0.1), "sent negative spreads"),
        "more in common than is there": (
            correlated([[1, 1.01, 0], [1.01, 1, 0], [0, 0, 1]]),
            TOO_MUCH,
        ),
        "like two that are unlike": (
            correlated([[1, 0.9, 0.9], [0.9, 1, -0.9], [0.9, -0.9, 1]]),
            "sent covariances that give a combination of columns a negative spread",
        ),
        "codes that exclude each other too much": (
            of_table(lambda _mean, S: S.__setitem__(([CODE, OTHER], [OTHER, CODE]), S[CODE, OTHER] * 1.05)),
            "sent covariances that give a combination of columns a negative spread",
        ),
        "one product of a constant column": (put(upper=(2, 1e-3)), TOO_MUCH),
        "squares beyond all numbers": (put(upper=(0, 1.7e308)), TOO_MUCH),
        "products beyond all numbers": (changed(upper=lambda upper: np.full_like(upper, -1.7e308)), TOO_MUCH),
        "labels nobody asked for": (
            lambda *_: m.Covariances(N, NAMES, ("y",), np.zeros(10), np.zeros(55)),
            "answered for 1 labels, the plan has 0",
        ),
        "infinite": (put(upper=(0, np.inf)), "sent 1 values in upper that are not finite"),
        "without the diagonal": (
            changed(upper=lambda _: np.zeros(36)),
            r"upper of shape \(36,\); the plan needs \(45,",
        ),
    },
    m.Projections: {
        **BOTH,
        "a negative spread": (put(squares=(F2, -0.1)), SPREAD),
        "squares beyond all numbers": (put(squares=(F0, 1.7e308)), SPREAD),
        "other means of sums": (
            put(weighted=(0, 0.123)),
            "sent means of weighted sums that contradict the means of the columns",
        ),
        "weighted sums beyond all numbers": (
            put(weighted=(0, -1.7e308)),
            "sent means of weighted sums that contradict the means of the columns",
        ),
        "products with others' weights": (
            changed(products=lambda products: products[:, ::-1].copy()),
            "sent products that are not symmetric: no covariance gives them",
        ),
        "one product": (put(products=((F0, 0), 0.123)), "sent products that are not symmetric"),
        "products the other way round": (
            changed(products=np.negative),
            "sent products that give a weighted sum a negative spread",
        ),
        "products that the weights do not see": (unseen, ABOVE),
        "products of a constant column": (put(products=(F2, 1e-3)), ABOVE),
        "products beyond all numbers": (changed(products=lambda products: np.full_like(products, 1.7e308)), ABOVE),
        "infinite": (put(products=((1, 1), -np.inf)), "sent 1 values in products that are not finite"),
        "no sum": (put(weighted=(1, np.nan)), "sent 1 values in weighted that are not finite"),
        "no spread": (put(squares=(1, np.nan)), "sent 1 values in squares that are not finite"),
        "a sum less": (changed(weighted=lambda sums: sums[1:]), r"weighted of shape \(2,\); the plan needs \(3,\)"),
        "products of a sum less": (
            changed(products=lambda products: products[:, 1:]),
            r"products of shape \(9, 2\); the plan needs \(9, 3\)",
        ),
        "a spread less": (changed(squares=lambda x: x[1:]), r"squares of shape \(8,\); the plan needs \(9,\)"),
        "covariances instead": (
            lambda *_: m.Covariances(N, NAMES, (), np.zeros(9), np.zeros(45)),
            "answered AskProjections with Covariances; expected Projections",
        ),
    },
}
CASES = [(kind, name) for kind, lies in BAD.items() for name in lies]
lies = pytest.mark.parametrize(("kind", "name"), CASES, ids=[f"{kind.__name__}, {name}" for kind, name in CASES])


def spoil(kind, lie):
    """Let site-1 lie where it sends this kind."""

    def change(ask, name, reply):
        return lie(ask.request, reply) if name == "site-1" and type(reply) is kind else reply

    return change


@lies
def test_what_no_rows_have_ends_the_run_with_client_and_reason(kind, name):
    lie, reason = BAD[kind][name]
    with pytest.raises(ProtocolError, match=f"^client 'site-1': .*{reason}"):
        drive(CASE.plan(**PARAMETERS[kind]), CASE.rows, SITES, spoil(kind, lie))


@lies
def test_under_drop_the_run_equals_one_without_that_client(kind, name):
    plan = CASE.plan(**PARAMETERS[kind], on_bad_client="drop")
    result, asked = drive(plan, CASE.rows, SITES, spoil(kind, BAD[kind][name][0]))
    honest = in_process.select(plan, CASE.rows, {name: SITES[name] for name in ("site-0", "site-2")}).selection
    assert_array_equal(result.scores, honest.scores)
    assert_array_equal(result.order, honest.order)
    assert list(result.dropped) == ["site-1"]
    assert asked[-1].clients == ("site-0", "site-2")


@pytest.mark.parametrize("kind", BAD)
def test_the_lies_are_told_of_nine_columns_and_the_truth_in_their_place_is_believed(kind):
    truth = of_table(lambda *_: None)
    seen = []

    def check(ask, name, reply):
        if name == "site-1" and type(reply) is kind:
            seen.append(reply.features)
            told = truth(ask.request, reply)
            for field, value in vars(reply).items():
                if isinstance(value, np.ndarray):
                    assert_allclose(getattr(told, field), value, rtol=0, atol=1e-12, err_msg=field)
            return told
        return reply

    result, _ = drive(CASE.plan(**PARAMETERS[kind]), CASE.rows, SITES, check)
    assert seen == [NAMES]
    assert result.dropped == {}


def test_what_rules_cannot_tell_is_what_another_table_says():
    """Who passes other rows off as its own, in the ranges that it named, is believed."""
    X = SITES["site-1"].whole(CASE.features).copy()
    X[:, 0] = np.sort(X[:, 0])
    other = Client(ArrayTable(CASE.features, X))

    def change(ask, name, reply):
        return other.answer(ask.request) if name == "site-1" else reply

    assert drive(CASE.plan(), CASE.rows, SITES, change)[0].dropped == {}


UNITS = st.sampled_from([(1.0, 0.0), (1e-6, 1.0), (1e9, -3e9), (1e-200, 0.0), (1e150, 1e150), (0.1, 1e7)])
WAYS = st.sampled_from([{}, WIDE, {"screen": 4, "n_features_to_select": 2}])


def in_units(case, unit, shift):
    """The numbers, not the codes, in other units of measurement."""
    coded = np.isin(case.features, case.nominal)
    X, others = (np.where(coded, table, table * unit + shift) for table in (case.X, case.others))
    return replace(case, X=X, others=others)


@settings(max_examples=40)
@given(st.data(), UNITS, WAYS)
def test_no_honest_reply_is_ever_refused(data, units, way):
    case = in_units(data.draw(sieve_cases()), *units)
    tables = data.draw(partitions(case.others))
    earlier, seen = {}, set()

    def check(ask, name, reply):
        known = m.Known(len(tables[name]), earlier.get(name, {}))
        assert ask.request.why_refused(reply, known) is None
        seen.add(type(reply))
        if isinstance(reply, m.Ranges):
            earlier[name] = {m.AskRanges: (ask.request, reply)}
        return reply

    drive(case.plan(**way), case.rows, case.sites(tables), check)
    assert {m.Ranges, m.Covariances} <= seen <= {m.Ranges, m.Projections, m.Covariances}


@settings(max_examples=40)
@given(st.data(), UNITS, WAYS)
def test_no_honest_sum_of_an_edge_server_is_ever_refused(data, units, way):
    case = in_units(data.draw(sieve_cases(min_others=12)), *units)
    sites = case.sites(data.draw(partitions(case.others)))
    names = sorted(sites)
    half = -(-len(names) // 2)
    groups = {"edge-0": names[:half], "edge-1": names[half:]}
    plan = case.plan(max_sites_per_client=3, **way)
    edges = {edge: {name: sites[name] for name in group} for edge, group in groups.items()}
    found, _ = select_by_edges(plan, case.rows, edges)
    assert found.dropped == {}
    assert sum(found.n_rows.values()) == len(case.others)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.floats(-12, -5), st.booleans())
def test_weights_whose_sum_hardly_varies_at_a_site_are_no_reason_to_refuse(seed, n_columns, exponent, binary):
    """Rows along a line that the first weights nearly do not see: their sum's spread is lost in rounding."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(n_columns, 2)) * 10 ** rng.uniform(-3, 3)
    first = weights[:, 0]
    line = rng.normal(size=n_columns)
    line -= first * (first @ line) / (first @ first)
    line = line / np.abs(line).max() / 2.2 + 10**exponent * first / np.abs(first).max()
    place = rng.integers(0, 2, 400) - 0.5 if binary else rng.random(400) - 0.5
    names = tuple(f"f{p}" for p in range(n_columns))
    scaling = m.Scaling(np.zeros(n_columns), np.ones(n_columns))
    request = m.AskProjections(m.Columns(names, (), "error"), scaling, weights)
    reply = Client(ArrayTable(names, 0.5 + np.outer(place, line))).answer(request)
    assert request.why_refused(reply, m.Known(400)) is None


def test_codes_outside_the_range_it_named_are_a_contradiction():
    columns, wide = m.Columns(("a",), ("a",), "error"), m.Scaling(np.array([1.0]), np.array([3.0]))
    named = m.Ranges(4, ("a",), np.array([1.0]), np.array([2.0]))
    known = m.Known(4, {m.AskRanges: (m.AskRanges(columns), named)})
    asked = m.AskCovariances(columns, wide)
    for codes, reason in (([1, 2, 1, 2], None), ([1, 2, 1, 3], "sent counts of codes that contradict its ranges.")):
        reply = Client(ArrayTable(("a",), np.array(codes, dtype=float)[:, None])).answer(asked)
        assert asked.why_refused(reply, known) == reason


def narrow_request(kind, weight):
    """About three numbers in [0, 1], whatever a site's own ranges are; the first has this weight."""
    columns, scaling = m.Columns(("a", "b", "c"), (), "error"), m.Scaling(np.zeros(3), np.ones(3))
    weights = np.array([[weight, weight], [-2.0, 1.0], [0.5, 3.0]])
    return kind(columns, scaling) if kind is m.AskCovariances else kind(columns, scaling, weights)


@pytest.mark.parametrize("kind", [m.AskCovariances, m.AskProjections])
@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("much", [1e-3, -0.2])
def test_what_is_constant_at_a_site_has_nothing_in_common_with_anything(kind, value, much):
    """Where it varies between sites a false product would count in the sum."""
    rng = np.random.default_rng(0)
    table = np.column_stack([np.full(12, value), rng.random((12, 2))])
    request = narrow_request(kind, 0.0)
    honest = Client(ArrayTable(("a", "b", "c"), table)).answer(request)
    assert request.why_refused(honest, m.Known(12)) is None
    if kind is m.AskCovariances:
        upper = honest.upper.copy()
        upper[1] += much
        false, reason = replace(honest, upper=upper), "sent covariances above the product of the deviations."
    else:
        products = honest.products.copy()
        products[0, 1] += much  # the weights do not see the column, so that all stays symmetric
        false, reason = replace(honest, products=products), "sent products above those of the deviations."
    assert request.why_refused(false, m.Known(12)) == reason


@pytest.mark.parametrize("kind", [m.AskCovariances, m.AskProjections])
@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.floats(-16, -1), st.floats(0.1, 0.9))
def test_rows_that_hardly_differ_are_no_reason_to_refuse(kind, seed, n_rows, exponent, center):
    """Columns on a line are as correlated as can be, and what rounding makes of that must not be more."""
    rng = np.random.default_rng(seed)
    line = rng.normal(size=n_rows)
    line /= np.abs(line).max()
    table = center + 0.1 * 10**exponent * np.column_stack([line, -line, 0.7 * line + 0.1])
    request = narrow_request(kind, 1.0)
    site = Client(ArrayTable(("a", "b", "c"), table))
    named = m.AskRanges(request.columns)
    known = m.Known(n_rows, {m.AskRanges: (named, site.answer(named))})
    assert request.why_refused(site.answer(request), known) is None
