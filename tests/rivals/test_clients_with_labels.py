"""Clients that bring labels: how pairs of tables are read, matched and refused, by every federated rival."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from fedsieve import FMLFS, FedCMFS
from fedsieve.errors import DataError, ParameterError, ProtocolError
from reference.rivals.fedcmfs_loops import fedcmfs_loops
from reference.rivals.fmlfs_loops import fmlfs_loops
from sites_with_labels import fit, split

SELECTORS = [FMLFS(), FedCMFS(), FedCMFS(combine="pooled"), FedCMFS(wire="tests")]
FEATURES, LABELS = ["age", "pulse", "dose", "length"], ["ill", "old", "tall"]

pytestmark = pytest.mark.parametrize("selector", SELECTORS, ids=str)


@pytest.fixture
def sites(rng):
    Y = rng.integers(0, 2, (90, 3)).astype(float)
    X = rng.normal(size=(90, 4))
    X[:, :3] += Y * [1.0, 2.0, 0.5]
    return split(X, Y, [40, 30, 20])


def refusal(selector, X, Y, clients, kind=DataError):
    """What is said, without the owner, whom every sentence must name."""
    with pytest.raises(kind) as refused:
        selector.fit(X, Y, clients=clients)
    owner = f"{type(selector).__name__}: "
    assert str(refused.value).startswith(owner)
    return str(refused.value).removeprefix(owner)


def test_a_list_and_a_dict_of_clients_are_as_good(selector, sites):
    (X, Y), *others = sites
    listed = selector.fit(X, Y, clients=others).scores_
    named = selector.fit(X, Y, clients={"north": others[0], "south": list(others[1])}).scores_
    assert_array_equal(named, listed)


def test_clients_are_told_apart_in_the_transcript(selector, sites):
    (X, Y), *others = sites
    fitted = selector.fit(X, Y, clients=dict(zip(["north", "south"], others, strict=True)))
    assert {entry.sender for entry in fitted.transcript_} == {"server", "north", "south"}
    assert fitted.dropped_ == {}


def test_it_pickles_and_clones_after_a_federation(selector, sites):
    fitted = fit(clone(selector), sites)
    copy = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(copy.transform(sites[0][0]), fitted.transform(sites[0][0]))
    assert copy.transcript_ == fitted.transcript_
    assert clone(fitted).get_params() == selector.get_params()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_features_and_labels_of_data_frames_are_matched_by_name_in_any_order(selector, sites, frame):
    def framed(table, names, order):
        return frame({names[place]: table[:, place] for place in order})

    (X, Y), *others = sites
    clients = [(framed(Z, FEATURES, [2, 0, 3, 1]), framed(Yz, LABELS, [2, 0, 1])) for Z, Yz in others]
    named = selector.fit(framed(X, FEATURES, range(4)), framed(Y, LABELS, range(3)), clients=clients)
    assert_array_equal(named.scores_, fit(selector, sites).scores_)


def test_a_label_that_a_client_lacks_is_named(selector, sites):
    (X, Y), *others = sites
    clients = {f"c{i}": (Z, pd.DataFrame(Yz, columns=LABELS)) for i, (Z, Yz) in enumerate(others)}
    clients["c1"] = (clients["c1"][0], clients["c1"][1].rename(columns={"old": "young"}))
    said = refusal(selector, X, pd.DataFrame(Y, columns=LABELS), clients)
    assert said == (
        "client 'c1', its labels, has other columns than the labeled rows (missing: 'old'; extra: 'young'). "
        "Give every site the same labels, in any order."
    )


def test_labels_may_have_the_names_of_features(selector, sites):
    (X, Y), *others = sites
    frames = [(pd.DataFrame(Z, columns=FEATURES), pd.DataFrame(Yz, columns=FEATURES[:3])) for Z, Yz in others]
    X, Y = pd.DataFrame(X, columns=FEATURES), pd.DataFrame(Y, columns=FEATURES[:3])
    assert_array_equal(selector.fit(X, Y, clients=frames).scores_, fit(selector, sites).scores_)


def test_classes_that_only_some_sites_have_are_labels_of_all(selector, sites, rng):
    n_rows = [len(X) for X, _ in sites]
    held = [["a", "b"], ["b", "c"], ["d"]]
    y = [rng.choice(classes, n) for classes, n in zip(held, n_rows, strict=True)]
    found = fit(selector, [(X, classes) for (X, _), classes in zip(sites, y, strict=True)])
    encoded = [
        (X, np.stack([classes == c for c in "abcd"], axis=1).astype(float))
        for (X, _), classes in zip(sites, y, strict=True)
    ]
    slow = fmlfs_loops(encoded) if isinstance(selector, FMLFS) else fedcmfs_loops(encoded, combine=selector.combine)
    assert found.order_.tolist() == slow["order"]
    if isinstance(selector, FedCMFS):
        assert found.kept_.shape == (4, 4)


def test_two_classes_are_one_label(selector, sites):
    column = fit(selector, [(X, Y[:, [0]]) for X, Y in sites])
    for classes in (lambda y: y, lambda y: np.where(y == 1, "yes", "no"), lambda y: 3 - 2 * y):
        assert_array_equal(fit(selector, [(X, classes(Y[:, 0])) for X, Y in sites]).order_, column.order_)


@pytest.mark.parametrize(
    ("y", "n_rows"),
    [
        (np.array([[-1, -1, -1], [0, 1, 1], [1, 1, 0]]), 1),
        (np.array([-1, -1, 1]), 2),
        (["ill", -1, "well"], 1),
    ],
    ids=["rows of -1", "classes", "a list of text"],
)
def test_unlabeled_rows_are_counted_and_refused(selector, rng, y, n_rows):
    X = rng.random((3, 4))
    said = f"{n_rows} unlabeled row{'s' * (n_rows > 1)} (-1). It needs labels for all rows."
    assert refusal(selector, X, y, None) == said
    labeled = np.abs(np.asarray(y)) if not isinstance(y, list) else ["ill", "ill", "well"]
    assert refusal(selector, X, labeled, [(X, y), (X, labeled)]) == said


def test_labels_that_are_neither_0_nor_1_are_refused_with_their_place(selector, sites):
    (X, Y), *others = sites
    Y[7, 2] = 3.0
    assert "labels must be 0 or 1; got another number in row 7, label 2" in refusal(selector, X, Y, others)


def test_rows_without_labels_are_refused_before_anything_is_read(selector, sites):
    (X, _), *others = sites
    assert refusal(selector, X, None, others).startswith("requires y to be passed, but the target y is None.")


@pytest.mark.parametrize("client", [np.zeros((20, 4)), "ab", (np.zeros((20, 4)),), 5], ids=["rows", "text", "one", "5"])
def test_a_client_that_is_no_pair_is_named(selector, sites, client):
    (X, Y), other, _ = sites
    said = refusal(selector, X, Y, {"north": other, "south": client})
    kind = type(client).__name__
    assert said == (
        f"client 'south' must be a pair (rows, labels): this method needs labels at the clients; got {kind}."
    )


def test_rows_and_labels_must_be_as_many(selector, sites):
    (X, Y), other, (Z, Yz) = sites
    assert refusal(selector, X, Y, {"north": other, "south": (Z, Yz[:-1])}) == (
        "client 'south' has 20 rows and labels of shape (19, 3); they must be the same rows."
    )
    assert refusal(selector, X, Y[1:], [other, (Z, Yz)]) == (
        "the server has 40 rows and labels of shape (39, 3); they must be the same rows."
    )


def test_all_sites_must_have_as_many_labels(selector, sites):
    (X, Y), other, (Z, Yz) = sites
    said = refusal(selector, X, Y, [other, (Z, Yz[:, :2])])
    assert said == "all sites must have the same number of labels; got [2, 3]."


def test_one_client_is_no_federation(selector, sites):
    (X, Y), other, _ = sites
    for clients in ([], [other]):
        assert refusal(selector, X, Y, clients, ParameterError) == (
            f"a federation needs at least 2 clients; got {len(clients)}. "
            "For rows in one place call fit(X, Y) without clients."
        )


def test_a_client_of_one_row_is_refused_by_name(selector, sites):
    (X, Y), other, (Z, Yz) = sites
    with pytest.raises(ProtocolError, match=r"^client 'south': has 1 row; a client needs at least 2, since"):
        selector.fit(X, Y, clients={"north": other, "south": (Z[:1], Yz[:1])})


def test_a_bad_client_can_be_left_out(selector, sites):
    (X, Y), *others = sites
    lenient = type(selector)(**{**selector.get_params(), "on_bad_client": "drop"})
    bad = (others[0][0][:1], others[0][1][:1])
    found = lenient.fit(X, Y, clients={"north": others[0], "east": bad, "south": others[1]})
    assert list(found.dropped_) == ["east"]
    assert_array_equal(found.scores_, fit(selector, sites).scores_)


def test_a_client_with_other_columns_is_refused(selector, sites):
    (X, Y), other, (Z, Yz) = sites
    with pytest.raises(DataError, match=r"^client 'client-1' has 3 columns, the labeled rows have 4\."):
        selector.fit(X, Y, clients=[other, (Z[:, 1:], Yz)])


def test_missing_values_at_a_client_are_refused_by_name_and_column(selector, sites):
    (X, Y), other, (Z, Yz) = sites
    Z[3, 2] = np.nan
    with pytest.raises(ProtocolError, match=r"^client 'client-1': 1 missing \(NaN\) value in column 'x2'\."):
        selector.fit(X, Y, clients=[other, (Z, Yz)])


def test_a_message_above_the_limit_is_refused_with_what_to_do(selector, sites):
    small = type(selector)(**{**selector.get_params(), "max_message_bytes": 100})
    (X, Y), *others = sites
    said = refusal(small, X, Y, others, ParameterError)
    other_wire = isinstance(selector, FedCMFS) and (selector.wire, selector.combine) == ("statistics", "p-values")
    way_out = "wire='tests' or fewer features" if other_wire else "fewer features"
    assert said.endswith(f"above max_message_bytes=100. Use {way_out}, or raise max_message_bytes.")


def test_labels_have_names_everywhere_or_nowhere(selector, sites):
    (X, Y), (Z, Yz), other = sites
    named = pd.DataFrame(Yz, columns=["a", "b", "c"])
    said = refusal(selector, X, Y, {"north": (Z, named), "south": other}, DataError)
    assert said.startswith("client 'north' has labels with names, the server with none; labels are matched by name.")


def test_a_bad_label_is_placed_in_its_own_site(selector, sites):
    (X, Y), (Z, Yz), other = sites
    Yz[5, 1] = 7
    said = refusal(selector, X, Y, {"north": (Z, Yz), "south": other}, DataError)
    assert said.startswith("client 'north': labels must be 0 or 1; got another number in row 5, label 1")
