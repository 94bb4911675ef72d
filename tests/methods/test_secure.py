"""Every method that adds up gives by secure sums what a plain run gives, and says at once what does not add up."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fedsieve.errors import ParameterError, ProtocolError
from fedsieve.messages.cells import AskCells
from fedsieve.methods import FedCMFSMethod, FMLFSMethod, SieveMethod, SSFMLFSMethod
from fedsieve.privacy import LIBRARY, SITE, GuardedTable, held_back_in_total
from fedsieve.privacy.taking_part import _constant
from fedsieve.protocol import Labeled
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from protocol.federation import example, labeled, sites
from protocol.supervised import supervised_example
from sieve_cases import partitions, sieve_cases
from strategies import federations

ROOM = 1e-9  # of scores: the fixed point's error is far below


def both(method, rows, tables, policy=LIBRARY):
    """By secure sums, and in a plain run of the same tables with the same columns held back."""
    secure = in_process.select(replace(method, secure=True), rows, tables, policy=policy).selection
    held = as_held_back(replace(method, secure=True), rows, tables)
    plain = in_process.select(method, *held).selection
    return secure, plain


def as_held_back(method, rows, tables):
    n = len(method.features)
    request = AskCells(method.columns, method.columns_read[n:], method.declared_scaling)
    first, *others = (request.answer(table) for table in tables.values())
    few = sum(others, first).too_few(method.min_cell)
    left_out = [name for name, out in zip(method.columns_read, few, strict=True) if out]
    guarded = {
        name: GuardedTable(table, held_back_in_total(table, left_out, method.nominal, method.min_cell))
        for name, table in tables.items()
    }
    Y = _constant(rows.Y, few[n:]) if len(few) > n else rows.Y
    return Labeled(_constant(rows.X, few[:n]), Y), guarded


def assert_same(secure, plain):
    assert_array_equal(secure.order, plain.order)
    for name, values in plain.columns().items():
        assert_allclose(secure.columns()[name], values, rtol=0, atol=ROOM, err_msg=name)


@settings(max_examples=10)
@given(data=st.data())
def test_sieve(data):
    case = data.draw(sieve_cases())
    tables = case.sites(data.draw(partitions(case.others)))
    tables |= {f"more-{i}": ArrayTable(case.features, case.rows.X) for i in range(3 - len(tables))}
    codes = dict.fromkeys(case.nominal, (-3.0, 9.0))
    method = case.plan(ranges="robust", bounds=codes, min_cell=data.draw(st.sampled_from([0, 3])))
    secure, plain = both(method, case.rows, tables)
    assert_allclose(secure.scores, plain.scores, rtol=0, atol=ROOM)
    assert secure.n_rows is None
    assert secure.unseen == "only the total over the sites is seen (secure sums)"


WIRES = {"statistics": {}, "vectors": {"wire": "vectors", "selected_distance": True}}


@pytest.mark.parametrize(
    "parameters",
    [WIRES["statistics"], pytest.param(WIRES["vectors"], marks=pytest.mark.full)],  # a sum per step of PageRank
    ids=WIRES,
)
@settings(max_examples=10)
@given(case=federations())
def test_ssfmlfs(parameters, case):
    tables = sites(case)
    tables |= {f"more-{i}": ArrayTable(case.features, case.X) for i in range(3 - len(tables))}
    secure, plain = both(SSFMLFSMethod(case.features, ranges="robust", tol=1e-6, **parameters), labeled(case), tables)
    assert_allclose(secure.scores, plain.scores, rtol=0, atol=1e-6)
    assert_allclose(secure.radius, plain.radius, rtol=0, atol=ROOM)
    assert secure.n_clipped is None


@pytest.mark.parametrize("parameters", [*WIRES.values(), {"missing": "unrelated"}], ids=[*WIRES, "missing"])
def test_ssfmlfs_with_codes_gaps_and_columns_left_out(parameters):
    case = example(n_clients=4)
    for X in case.clients.values():
        X[:, 3] = 2.0
        X[0, 3] = 1.0 if X is case.clients["site-0"] else 2.0
    if "missing" in parameters:
        case.clients["site-1"][2:4, 0] = case.clients["site-2"][2:4, 0] = np.nan
        case.clients["site-1"][2, 1] = np.nan  # a few rows, which would be told apart by that
    method = SSFMLFSMethod(case.features, ranges="robust", min_cell=3, nominal=case.features[2:3], **parameters)
    secure, plain = both(method, labeled(case), sites(case))
    assert_same(secure, plain)
    few_missing = case.features[1:2] if "missing" in parameters else ()
    assert secure.left_out == (*few_missing, case.features[3])
    assert secure.order[-1] == 3


def test_declared_ranges():
    case = example(n_clients=4)
    ranges = dict.fromkeys(case.features, (-1.0, 2.0))
    for kind in (SieveMethod, SSFMLFSMethod):
        assert_same(*both(kind(case.features, ranges=ranges), labeled(case), sites(case)))


@pytest.mark.parametrize("kind", [SieveMethod, SSFMLFSMethod])
def test_sites_hold_the_same_columns_back(kind):
    """Two rows of all sites differ in a column: the total knows of none of them."""
    case = example(n_clients=4)
    for X in case.clients.values():
        X[:, 4] = 0.25
    for name in ("site-0", "site-2"):
        case.clients[name][1, 4] = 0.75
    method = kind(case.features, ranges=dict.fromkeys(case.features, (-1.0, 2.0)), min_cell=3)
    secure, plain = both(method, labeled(case), sites(case))
    assert_same(secure, plain)
    assert secure.left_out == (case.features[4],)
    shown = in_process.select(method, as_held_back(method, labeled(case), sites(case))[0], sites(case)).selection
    apart = [np.abs(values - secure.columns()[name]).max() for name, values in shown.columns().items()]
    assert max(apart) > ROOM  # with these two rows it would be another result


def test_pooled_fedcmfs():
    case = supervised_example()
    tables = {**case.sites, "more": next(iter(case.sites.values()))}
    method = case.plan("FedCMFS, pooled", ranges="robust", min_cell=2)
    secure, plain = both(method, case.rows, tables)
    assert_same(secure, plain)
    for step in ("found", "recovered", "kept"):
        assert_array_equal(getattr(secure, step), getattr(plain, step), err_msg=step)


def wide(n_rows, n_features=40, seed=1):
    rng = np.random.default_rng(seed)
    features = tuple(f"x{i}" for i in range(n_features))
    X = rng.normal(size=(30, n_features))
    tables = {f"s{i}": ArrayTable(features, rng.normal(size=(n_rows, n_features))) for i in range(3)}
    return features, Labeled(X, (X[:, :2] > 0).astype(float)), tables


def test_sieve_compares_as_many_columns_as_the_rows_of_all_allow():
    features, rows, tables = wide(25)
    how = {"ranges": "robust", "n_features_to_select": 5, "n_trees": 5, "n_bootstraps": 0}
    strict = SieveMethod(features, secure=True, rows_per_column=3, **how)
    secure = in_process.select(strict, rows, tables)
    plain = in_process.select(SieveMethod(features, screen=17, **how), rows, tables).selection
    assert_same(secure.selection, plain)
    assert np.isnan(plain.redundancy).sum() == 40 - (25 - 4 * 2)  # what two weighted sums leave of 75 / 3
    assert_same(in_process.select(replace(strict, min_cell=5), rows, tables, policy=SITE).selection, plain)
    with pytest.raises(ParameterError, match=r"=9 needs 18 columns .* allow 17 besides 2 weighted sums .* at most 8"):
        in_process.select(replace(strict, n_features_to_select=9), rows, tables)


def test_other_methods_say_how_many_rows_they_need():
    features, rows, tables = wide(25)
    method = SSFMLFSMethod(features, ranges="robust", secure=True, min_cell=5, rows_per_column=3)
    with pytest.raises(ProtocolError, match="has 75 rows in all; pair sums of 40 columns need 120 in all"):
        in_process.select(method, rows, tables, policy=SITE)


def test_under_the_rules_of_a_site_the_total_counts():
    """Sites of 20 rows each, which would not answer by themselves."""
    features, rows, tables = wide(20, n_features=6)
    for kind in (SieveMethod, SSFMLFSMethod):
        method = kind(features, ranges="robust", secure=True, min_cell=5, rows_per_column=3)
        selection = in_process.select(method, rows, tables, policy=SITE).selection
        assert_same(selection, in_process.select(replace(method, secure=False), rows, tables).selection)
    few = {name: ArrayTable(features, table.whole(features)[:16]) for name, table in tables.items()}
    with pytest.raises(ProtocolError, match=r"has 48 rows in all; its rules ask for 50 \(min_rows\)"):
        in_process.select(method, rows, few, policy=SITE)


def test_a_site_asks_for_no_less_than_its_own_policy():
    features, rows, tables = wide(20, n_features=6)
    method = SieveMethod(features, ranges="robust", secure=True, min_cell=4, rows_per_column=3)
    with pytest.raises(ProtocolError, match="go by min_cell = 4, its policy asks for 5"):
        in_process.select(method, rows, tables, policy=SITE)


REFUSED = {
    "exact ranges": (
        SieveMethod,
        {"ranges": "federated"},
        "the smallest and the largest value are no sums. Use ranges='robust'",
    ),
    "local ranges": (SSFMLFSMethod, {"ranges": "local"}, "each site's own ranges"),
    "matrices": (SSFMLFSMethod, {"ranges": "robust", "wire": "matrices"}, "Use wire='statistics' or 'vectors'"),
    "mean spread": (SSFMLFSMethod, {"ranges": "robust", "spread": "mean"}, "Use 'pooled'"),
    "information": (FMLFSMethod, {"ranges": "robust", "labels": ("y",)}, "information does not add up"),
    "p-values": (FedCMFSMethod, {"ranges": "robust", "labels": ("y",)}, "Use 'pooled'"),
    "tests": (FedCMFSMethod, {"wire": "tests", "labels": ("y",)}, "Use 'pooled'"),
}


@pytest.mark.parametrize(("kind", "parameters", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_add_up_is_refused_at_once(kind, parameters, reason):
    with pytest.raises(ParameterError, match=f"^{kind.name}: secure=True needs replies that add up; .*{reason}"):
        kind(("a", "b"), secure=True, **parameters)


def test_secure_is_yes_or_no_and_counts_are_counts():
    with pytest.raises(ParameterError, match="Sieve: secure must be True or False; got 'yes'"):
        SieveMethod(("a", "b"), secure="yes")
    with pytest.raises(ParameterError, match="min_cell"):
        SieveMethod(("a", "b"), min_cell=-1)


def test_many_features_do_not_make_it_many_rounds_in_secret():
    many = tuple(f"x{i}" for i in range(2200))
    assert SSFMLFSMethod(many, ranges="robust").wire_form == "vectors"
    assert SSFMLFSMethod(many, ranges="robust", secure=True).wire_form == "statistics"


def test_three_sites_at_least():
    features, rows, tables = wide(20, n_features=6)
    del tables["s0"]
    with pytest.raises(ParameterError, match="a federation with secure sums needs at least 3 clients; got 2"):
        in_process.select(SieveMethod(features, ranges="robust", secure=True), rows, tables)


def test_the_server_s_rows_miss_nothing_in_a_column_that_is_left_out():
    """As at the sites: a gap there would be the only thing that tells its rows apart."""
    rng = np.random.default_rng(3)
    tables = {name: ArrayTable(("a", "b", "c"), rng.random((12, 3)) * [1, 1, 0]) for name in "xyz"}
    X, Y = rng.random((9, 3)), np.eye(9)[:, :2]
    X[2, 2], X[5:, 2] = np.nan, 0.25
    method = SSFMLFSMethod(("a", "b", "c"), ranges="robust", missing="unrelated", secure=True, min_cell=5)
    filled = X.copy()
    filled[:, 2] = 0.25
    with_gap, without = (in_process.select(method, Labeled(one, Y), tables).selection for one in (X, filled))
    assert with_gap.left_out == without.left_out == ("c",)
    assert_array_equal(_constant(X, np.array([False, False, True])), np.column_stack([X[:, :2], filled[:, 2]]))
    for name, values in without.columns().items():
        assert_array_equal(with_gap.columns()[name], values, err_msg=name)
