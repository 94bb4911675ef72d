"""Covariances and projections of encoded columns: what they are, that they add up, and what a site does not answer."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve import messages as m
from fedsieve import tables, values
from fedsieve.errors import DataError, ProtocolError
from fedsieve.messages import encoding as encoding_module
from fedsieve.messages.encoding import Encoding
from fedsieve.protocol import Client
from fedsieve.tables import ArrayTable
from sieve_cases import SieveCase, encoded, partitions, scaling_of, sieve_cases, sieve_example, thirds

ASKS = (m.AskCovariances, m.AskProjections)
asks = pytest.mark.parametrize("kind", ASKS, ids=lambda kind: kind.__name__)


def columns_of(case):
    return m.Columns(case.features, case.nominal, "error")


def request(kind, case, scaling=None, weights=None, seed=0):
    """A question about all columns; the weights are random unless given."""
    scaling = scaling or scaling_of(case.all_rows)
    if kind is m.AskCovariances:
        return kind(columns_of(case), scaling)
    if weights is None:
        n_encoded = len(Encoding.of(columns_of(case), scaling).names)
        weights = np.random.default_rng(seed).normal(size=(n_encoded, 3))
    return kind(columns_of(case), scaling, weights)


def answer(case, table, asked):
    reply = Client(ArrayTable(case.features, table)).answer(asked)
    assert type(reply) is asked.reply, reply
    return reply


def middle(asked):
    """What each encoded column is counted from, in units of its range: the middle, or 0 of codes and single points."""
    middles = []
    for name, low, high in zip(asked.columns.features, asked.scaling.low, asked.scaling.high, strict=True):
        if name in asked.columns.nominal:
            middles += [0.0] * int(high - low + 1)
        else:
            middles.append(0.5 if low < high else 0.0)
    return np.array(middles)


def means(asked, reply):
    """Of the columns in [0, 1]."""
    return middle(asked) + reply.sums / reply.n_rows


def spreads(reply):
    return reply.spreads() if isinstance(reply, m.Projections) else np.diagonal(reply.deviations())


def assert_same(first, second, atol=1e-9):
    assert type(first) is type(second)
    for name, value in vars(first).items():
        if isinstance(value, np.ndarray):
            scale = first.n_rows * max(1.0, np.abs(value).max(initial=0.0) / first.n_rows)
            assert_allclose(value, getattr(second, name), rtol=0, atol=atol * scale, err_msg=name)
        else:
            assert value == getattr(second, name), name


@given(sieve_cases(), st.integers(0, 2**32 - 1))
def test_they_are_moments_of_scaled_numbers_and_of_0_1_columns(case, seed):
    names, table = encoded(case.all_rows, case.features, case.nominal, case.others)
    products = np.cov(table, rowvar=False, ddof=0) * len(table)
    asked = request(m.AskCovariances, case)
    covariances = answer(case, case.others, asked)
    assert (covariances.features, covariances.labels, covariances.n_rows) == (names, (), len(table))
    assert_allclose(means(asked, covariances), table.mean(axis=0), rtol=0, atol=1e-12)
    assert_allclose(covariances.deviations(), products, rtol=0, atol=1e-9)
    asked = request(m.AskProjections, case, seed=seed)
    projections = answer(case, case.others, asked)
    assert (projections.features, projections.n_rows) == (names, len(table))
    assert_allclose(means(asked, projections), table.mean(axis=0), rtol=0, atol=1e-12)
    assert_allclose(projections.spreads(), np.diagonal(products), rtol=0, atol=1e-9)
    weighted_means = middle(asked) @ asked.weights + projections.weighted / len(table)
    assert_allclose(weighted_means, (table @ asked.weights).mean(axis=0), rtol=0, atol=1e-9)
    assert_allclose(projections.deviations(), products @ asked.weights, rtol=0, atol=1e-9)


@asks
@given(case=sieve_cases())
def test_they_are_plain_sums_of_columns_counted_from_the_middle_of_their_range(kind, case):
    asked = request(kind, case)
    reply = answer(case, case.others, asked)
    table = encoded(case.all_rows, case.features, case.nominal, case.others)[1] - middle(asked)
    assert_allclose(reply.sums, table.sum(axis=0), rtol=0, atol=1e-9)
    if kind is m.AskProjections:
        combined = table @ asked.weights
        assert_allclose(reply.squares, (table**2).sum(axis=0), rtol=0, atol=1e-9)
        assert_allclose(reply.weighted, combined.sum(axis=0), rtol=0, atol=1e-9)
        assert_allclose(reply.products, table.T @ combined, rtol=0, atol=1e-9)
    else:
        assert_allclose(reply.upper, (table.T @ table)[np.triu_indices(table.shape[1])], rtol=0, atol=1e-9)


@asks
@given(data=st.data())
def test_the_sum_over_any_partition_is_that_of_all_rows(kind, data):
    case = data.draw(sieve_cases())
    asked = request(kind, case)
    parts = data.draw(partitions(case.others))
    total = reduce(add, (answer(case, table, asked) for table in parts.values()))
    whole = answer(case, case.others, asked)
    assert_same(total, whole)
    assert_allclose(total.deviations(), whole.deviations(), rtol=0, atol=1e-9)
    assert_allclose(spreads(total), spreads(whole), rtol=0, atol=1e-9)


@asks
@given(data=st.data(), random=st.randoms(use_true_random=False))
def test_neither_the_order_nor_the_brackets_of_additions_matter(kind, data, random):
    case = data.draw(sieve_cases(min_others=8))
    asked = request(kind, case)
    replies = [answer(case, table, asked) for table in data.draw(partitions(case.others)).values()]
    expected = reduce(add, replies)
    random.shuffle(replies)
    cut = random.randint(0, len(replies))
    assert_same(reduce(add, (reduce(add, half) for half in (replies[:cut], replies[cut:]) if half)), expected)
    assert_same(replies[1] + replies[0], replies[0] + replies[1])


@asks
@given(data=st.data())
def test_every_number_is_added_and_nothing_else(kind, data):
    """So that sums of which nobody sees the parts are the same."""
    case = data.draw(sieve_cases())
    asked = request(kind, case)
    one, other, *_ = (answer(case, table, asked) for table in data.draw(partitions(case.others)).values())
    for name, value in vars(one + other).items():
        if isinstance(value, np.ndarray | int):
            assert_array_equal(value, getattr(one, name) + getattr(other, name), err_msg=name)


@asks
@pytest.mark.parametrize("value", [0.1, 1 / 3, -1e6 - 0.1, 7.0])
def test_what_is_constant_everywhere_has_exactly_no_spread(kind, value):
    """As a number, in a range of one point or a wider one, and as a code that all rows have."""
    rng = np.random.default_rng(0)
    case = SieveCase(rng.random((3, 4)), np.eye(3), rng.random((20, 4)), ("f2",))
    for table in (case.X, case.others):
        table[:, [0, 1]] = value
        table[:, 2] = 2.0
    scaling = scaling_of(case.all_rows)
    scaling.high[0] += 1.0
    asked = request(kind, case, scaling)
    total = reduce(add, (answer(case, part, asked) for part in np.array_split(case.all_rows, 5)))
    assert total.features == ("f0", "f1", "f2=2", "f3")
    assert_array_equal(means(asked, total)[1:3], [0, 1])
    assert means(asked, total)[0] == pytest.approx(0, abs=2e-16)  # half a range from its middle, to the last digit
    assert_array_equal(spreads(total)[:3], 0)
    assert_array_equal(total.deviations()[:3], 0)
    assert spreads(total)[3] > 0


@asks
@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_what_is_constant_somewhere_within_the_range_has_exactly_no_spread_either(kind, seed, n_parts):
    """Its sums are sums of a number that is no whole one, in another order at each partition."""
    rng = np.random.default_rng(seed)
    others = np.column_stack([np.full(40, rng.normal()), rng.random(40)])
    case = SieveCase(np.vstack([others[:1] - 10 * rng.random(), others[:1] + rng.random()]), np.eye(2), others)
    asked = request(kind, case)
    total = reduce(add, (answer(case, part, asked) for part in np.array_split(others, n_parts)))
    assert_array_equal(spreads(total)[0], 0)
    assert_array_equal(total.deviations()[0], 0)
    assert spreads(total)[1] > 0


@asks
@given(data=st.data())
def test_sparse_and_dense_tables_answer_alike(kind, data):
    case = data.draw(sieve_cases(kinds=("0/1", "few", "code", "one code", "constant")))
    asked = request(kind, case)
    table = sparse.csr_array(case.others)
    assert_same(answer(case, table, asked), answer(case, case.others, asked), atol=1e-12)


@pytest.mark.parametrize("wrap", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array])
def test_a_table_of_many_columns_is_read_a_few_rows_at_a_time(wrap, monkeypatch):
    """So many that their numbers, one per code too, fit; with codes where blocks of columns end as well."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 600)) < 0.2, rng.random((30, 600)), 0.0)
    coded = [0, 254, 255, 256, 257, 511, 512, 599]
    X[:, coded] = rng.integers(-1, 3, (30, len(coded)))
    X[:2, coded] = [[-1], [2]]
    case = SieveCase(X[:2], np.eye(2), X, tuple(f"f{p}" for p in coded))
    names, table = encoded(X, case.features, case.nominal, X)
    products = np.cov(table, rowvar=False, ddof=0) * 30
    read, read_by_ranges = [], []
    dense = encoding_module.dense
    monkeypatch.setattr(encoding_module, "dense", lambda some: read.append(some.shape) or dense(some))
    monkeypatch.setattr(values, "dense", lambda some: read_by_ranges.append(some.shape) or dense(some))
    for kind in ("BATCH_VALUES", "SPARSE_VALUES"):
        monkeypatch.setattr(tables, kind, 8 * 624 - 1)
    asked = request(m.AskProjections, case)
    projections = answer(case, wrap(X), asked)
    assert read == [(7, 600)] * 4 + [(2, 600)]  # 624 numbers become of a row
    assert sum(rows * columns for rows, columns in read_by_ranges) == X.size
    assert max(rows * columns for rows, columns in read_by_ranges) <= tables.BATCH_VALUES
    assert projections.features == names
    assert len(names) == 600 + 3 * len(coded) == 624
    assert_allclose(projections.deviations(), products @ asked.weights, rtol=0, atol=1e-8)
    assert_allclose(projections.spreads(), np.diagonal(products), rtol=0, atol=1e-9)
    read.clear()
    covariances = answer(case, wrap(X), request(m.AskCovariances, case))
    assert read == [(7, 600)] * 4 + [(2, 600)]
    assert covariances.features == names
    assert_allclose(covariances.deviations(), products, rtol=0, atol=1e-9)


@pytest.mark.parametrize("wrap", [sparse.csr_array, sparse.csc_array])
def test_ranges_of_a_sparse_table_are_read_a_few_columns_at_a_time(wrap, monkeypatch):
    X = np.where(np.random.default_rng(0).random((30, 600)) < 0.2, 1.5, 0.0)
    widths = []
    dense = values.dense
    monkeypatch.setattr(values, "dense", lambda some: widths.append(some.shape) or dense(some))
    case = SieveCase(X[:2], np.eye(2), X)
    ranges = answer(case, wrap(X), m.AskRanges(columns_of(case)))
    assert widths == [(30, 256), (30, 256), (30, 88)]
    assert_array_equal(ranges.low, X.min(axis=0))
    assert_array_equal(ranges.high, X.max(axis=0))


def test_codes_are_named_by_column_and_code_those_that_nobody_has_too():
    case = SieveCase(np.array([[1.0, -1.0], [9.0, 2.0]]), np.eye(2), np.empty((0, 2)), ("color",), (), ("age", "color"))
    asked = request(m.AskCovariances, case)
    reply = answer(case, case.X, asked)
    assert reply.features == ("age", "color=-1", "color=0", "color=1", "color=2")
    assert_array_equal(means(asked, reply), [0.5, 0.5, 0, 0, 0.5])


def test_a_part_of_the_columns_in_another_order_is_matched_by_name():
    case = sieve_example()
    order = [5, 0, 3]
    some = case.with_columns(np.array(order))
    columns = m.Columns(("f5", "f0", "f3"), ("f5", "f3"), "error")
    asked = m.AskCovariances(columns, scaling_of(some.all_rows))
    assert_same(answer(case, case.others, asked), answer(some, some.others, asked))


@pytest.mark.parametrize("names", [("f1", "f0"), ("f0", "f1=2")])
def test_projections_of_other_columns_do_not_add_up(names):
    numbers = np.zeros(2), np.zeros(2), np.zeros(1), np.zeros((2, 1))
    with pytest.raises(ProtocolError, match=r"^replies about different columns do not add up: \('f0', 'f1'\) and"):
        m.Projections(2, ("f0", "f1"), *numbers) + m.Projections(2, names, *numbers)


NO_WHOLE_NUMBER = r"nominal column 'f3' has a code that is no whole number\. Number the categories 0, 1, 2, \.\.\.$"
TOO_MANY = (
    r"the codes of nominal column 'f3' are too far apart; at most 1000 are encoded\. "
    r"Number the categories 0, 1, 2, \.\.\., or treat the column as a number\.$"
)
BAD_CODES = {
    "below all others": (0.5, NO_WHOLE_NUMBER),
    "between others": (1.5, NO_WHOLE_NUMBER),
    "above all others": (3.25, NO_WHOLE_NUMBER),
    "far above": (1001.0, TOO_MANY),
    "far below": (-997.0, TOO_MANY),
    "beyond whole floats": (2.0**60, TOO_MANY),
}
bad_codes = pytest.mark.parametrize(("code", "says"), BAD_CODES.values(), ids=BAD_CODES)
wide_or_not = pytest.mark.parametrize("screen", [2, 2000], ids=["wide", "narrow"])


@wide_or_not
@bad_codes
def test_bad_codes_of_the_server_are_its_own_fault(code, says, screen):
    case = sieve_example()
    case.X[5, 3] = code
    with pytest.raises(DataError, match=f"^Sieve: {says}"):
        case.select(thirds(case), screen=screen, n_features_to_select=1)


@wide_or_not
@bad_codes
def test_bad_codes_of_a_client_are_named_by_column_and_way_out(code, says, screen):
    case = sieve_example()
    tables = thirds(case)
    tables["site-1"][5, 3] = code
    with pytest.raises(ProtocolError, match=f"^client 'site-1': {says}"):
        case.select(tables, screen=screen, n_features_to_select=1)
    found = case.select(tables, screen=screen, n_features_to_select=1, on_bad_client="drop")
    assert list(found.dropped) == ["site-1"]


@asks
def test_a_client_that_finds_a_bad_code_between_its_good_ones_says_which_column(kind):
    case = sieve_example()
    asked = request(kind, case)
    table = case.others.copy()
    table[[4, 7], 3] = 2.75, 1.25
    for rows in (table, sparse.csr_array(table)):
        reply = Client(ArrayTable(case.features, rows)).answer(asked)
        assert reply.reason == (
            "nominal column 'f3' has a code that is no whole number. Number the categories 0, 1, 2, ..."
        )


WHOLE = 2.0**53  # beyond, not every whole number is a float


@pytest.mark.parametrize(
    ("low", "high", "allowed"),
    [
        (0.0, 999.0, True),
        (0.0, 1000.0, False),
        (WHOLE - 9, WHOLE, True),
        (WHOLE, WHOLE + 2, False),
        (-WHOLE, -WHOLE + 9, True),
        (-WHOLE - 2, -WHOLE, False),
    ],
)
def test_a_thousand_codes_are_allowed_where_floats_tell_them_apart(low, high, allowed):
    columns, scaling = m.Columns(("id",), ("id",), "error"), m.Scaling(np.array([low]), np.array([high]))
    if allowed:
        assert len(set(Encoding.of(columns, scaling).code)) == high - low + 1
    else:
        with pytest.raises(DataError, match=r"nominal column 'id' are too far apart; at most 1000 are encoded"):
            Encoding.of(columns, scaling)


NOT_HELD = "was sent ranges that do not hold its own values; federated ranges hold those of all."
NO_RANGES = "was sent no ranges, or not one per column; the encoding must be the same at all sites."
NOT_FINITE = "was sent ranges that are no finite numbers."


def with_entry(name, column, value):
    def change(low, high):
        ends = {"low": low.copy(), "high": high.copy()}
        ends[name][column] = value
        return m.Scaling(**ends)

    return change


BAD_RANGES = {
    "above the smallest": (with_entry("low", 0, 0.0), NOT_HELD),
    "below the largest": (with_entry("high", 1, 0.0), NOT_HELD),
    "codes above the smallest": (with_entry("low", 3, 2.0), NOT_HELD),
    "codes below the largest": (with_entry("high", 3, 2.0), NOT_HELD),
    "codes that no row has": (with_entry("low", 3, 5.0), NOT_HELD),
    "upside down": (lambda low, high: m.Scaling(high, low), NOT_HELD),
    "beyond what has a width": (with_entry("high", 0, 1e301), NOT_HELD),
    "no number": (with_entry("low", 0, np.nan), NOT_FINITE),
    "no code": (with_entry("low", 3, np.nan), NOT_FINITE),
    "infinite": (with_entry("high", 0, np.inf), NOT_FINITE),
    "infinitely many codes": (with_entry("high", 3, np.inf), NOT_FINITE),
    "of one column less": (lambda low, high: m.Scaling(low[1:], high[1:]), NO_RANGES),
    "of one column more": (lambda low, high: m.Scaling(np.append(low, 0), np.append(high, 9)), NO_RANGES),
    "low ends only": (lambda low, _: m.Scaling(low, None), NO_RANGES),
    "high ends only": (lambda _, high: m.Scaling(None, high), NO_RANGES),
    "its own": (lambda *_: m.Scaling(None, None), NO_RANGES),
    "one for all": (lambda *_: m.Scaling(np.array(-9.0), np.array(9.0)), NO_RANGES),
    "too many codes": (
        with_entry("high", 3, 5000.0),
        "the codes of nominal column 'f3' are too far apart; at most 1000 are encoded. "
        "Number the categories 0, 1, 2, ..., or treat the column as a number.",
    ),
    "half a code": (
        with_entry("high", 3, 3.5),
        "nominal column 'f3' has a code that is no whole number. Number the categories 0, 1, 2, ...",
    ),
}


@asks
@pytest.mark.parametrize(("change", "says"), BAD_RANGES.values(), ids=BAD_RANGES)
def test_a_client_refuses_ranges_that_no_federation_with_it_has(kind, change, says):
    """Clipped at edges of its choice, a server could count rows."""
    case = sieve_example()
    own = scaling_of(case.others)
    columns = columns_of(case)
    asked = request(kind, case, own)
    answer(case, case.others, asked)
    changed = change(own.low, own.high)
    asked = kind(columns, changed) if kind is m.AskCovariances else kind(columns, changed, np.ones((9, 2)))
    assert Client(ArrayTable(case.features, case.others)).answer(asked).reason == says


@pytest.mark.parametrize(
    "weights",
    [
        np.ones((8, 2)),
        np.ones((10, 2)),
        np.ones(9),
        np.ones((9, 2, 1)),
        np.array(1.0),
        np.full((9, 2), np.nan),
        np.where(np.eye(9, 2) > 0, np.inf, 0.0),
        np.where(np.eye(9, 2) > 0, -np.inf, 0.0),
    ],
    ids=["one less", "one more", "one axis", "three axes", "no axis", "no numbers", "infinite", "minus infinite"],
)
def test_a_client_refuses_weights_that_do_not_fit_its_columns(weights):
    case = sieve_example()
    client = Client(ArrayTable(case.features, case.others))
    assert isinstance(client.answer(request(m.AskProjections, case, weights=np.ones((9, 2)))), m.Projections)
    reply = client.answer(request(m.AskProjections, case, weights=weights))
    assert reply.reason == "was sent weights that do not fit its 9 columns."


def test_no_weights_are_no_question_and_no_trouble():
    case = sieve_example()
    reply = answer(case, case.others, request(m.AskProjections, case, weights=np.ones((9, 0))))
    assert reply.products.shape == reply.deviations().shape == (9, 0)
    assert reply.squares.shape == (9,)
    assert reply.weighted.shape == (0,)


@asks
def test_missing_values_and_columns_that_a_site_lacks_are_refused_by_name(kind):
    case = sieve_example()
    asked = request(kind, case)
    table = case.others.copy()
    table[3, 1] = np.nan
    assert "1 missing (NaN) value in column 'f1'" in Client(ArrayTable(case.features, table)).answer(asked).reason
    lacking = ArrayTable(case.features[:-1], case.others[:, :-1])
    assert Client(lacking).answer(asked).reason.startswith("no column 'f5' here.")
