"""`secure=True`: the estimators give the order of a plain fit, and show nothing of single clients."""

import builtins
import os
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fedsieve import SSFMLFS, Sieve, datasets, partition
from fedsieve.errors import MissingExtraError, ParameterError
from fedsieve.rivals import FedCMFS

FIVE = ("emotions", "yeast", "cal500", "enron", "corel5k")


@pytest.fixture
def case(rng):
    X = rng.normal(size=(30, 8))
    return X, (X[:, :2] > 0).astype(int), [rng.normal(size=(20 + 5 * i, 8)) for i in range(4)]


@pytest.mark.parametrize("kind", [Sieve, SSFMLFS])
def test_the_same_order_and_nothing_of_single_clients(kind, case):
    X, Y, clients = case
    plain = kind(ranges="robust").fit(X, Y, clients)
    secure = kind(ranges="robust", secure=True).fit(X, Y, clients)
    assert_array_equal(secure.order_, plain.order_)
    np.testing.assert_allclose(secure.scores_, plain.scores_, rtol=0, atol=1e-9)
    assert secure.influence_ is None
    assert (secure.left_out_, secure.dropped_) == ((), {})
    sent = {entry.kind for entry in secure.transcript_ if entry.sender != "server"}
    assert sent == {"Keys", "Shares", "Masked", "Signature", "Unmasking"}


def test_rules_of_a_site_count_all_rows(case):
    """No client has 50 rows, and one column varies in four of all rows."""
    X, Y, clients = case
    for table in clients:
        table[:, 5] = 1.0
        table[0, 5] = 2.0
    secure = Sieve(ranges="robust", secure=True).fit(X, Y, clients, policy="site")
    assert secure.left_out_ == ("x5",)
    assert not secure.support_[5]


def test_fedcmfs(rng):
    X = rng.normal(size=(150, 5))
    Y = (X[:, :2] + 0.3 * rng.normal(size=(150, 2)) > 0).astype(int)
    clients = [(X[start::4], Y[start::4]) for start in range(1, 4)]
    how = {"combine": "pooled", "ranges": "robust"}
    plain = FedCMFS(**how).fit(X[::4], Y[::4], clients)
    assert_array_equal(FedCMFS(**how, secure=True).fit(X[::4], Y[::4], clients).order_, plain.order_)


def test_in_one_place_there_is_nothing_to_hide(case):
    X, Y, _ = case
    assert_array_equal(Sieve(secure=True).fit(X, Y).order_, Sieve().fit(X, Y).order_)


def test_exact_ranges_are_no_sums(case):
    X, Y, clients = case
    with pytest.raises(ParameterError, match=r"Sieve: secure=True needs .* Use ranges='robust', or declare ranges\."):
        Sieve(ranges="federated", secure=True).fit(X, Y, clients)


def test_without_the_extra_it_is_named(case, monkeypatch):
    X, Y, clients = case
    for name in [name for name in sys.modules if name.startswith(("cryptography", "fedsieve.privacy.secure_sum"))]:
        monkeypatch.delitem(sys.modules, name)
    really = builtins.__import__

    def refuse(name, *others, **more):
        if name.partition(".")[0] == "cryptography":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return really(name, *others, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(
        MissingExtraError, match=r'needs the package .cryptography.\. .* pip install "fedsieve\[secure\]"'
    ):
        Sieve(ranges="robust", secure=True).fit(X, Y, clients)
    Sieve(ranges="robust").fit(X, Y, clients)


@pytest.mark.full
@pytest.mark.skipif(not os.environ.get("FEDSIEVE_DATA"), reason="FEDSIEVE_DATA is not set")
@pytest.mark.parametrize("kind", [Sieve, SSFMLFS])
@pytest.mark.parametrize("name", FIVE)
def test_the_order_of_a_plain_run_on_real_tables(name, kind):
    data = datasets.load(name)
    X = np.asarray(data.X.todense()) if hasattr(data.X, "todense") else data.X
    labeled, *owners = partition.dirichlet(data.Y, n_clients=11, alpha=0.5, random_state=0)
    labeled = labeled[:200]
    clients = [X[rows] for rows in owners if len(rows) > 1]
    plain = kind(ranges="robust").fit(X[labeled], data.Y[labeled], clients)
    secure = kind(ranges="robust", secure=True).fit(X[labeled], data.Y[labeled], clients)
    assert_array_equal(secure.order_, plain.order_)
