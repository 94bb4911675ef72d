"""What `SSFMLFS.fit` takes, keeps and refuses."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fedsieve import SSFMLFS
from fedsieve.errors import FedSieveError, ParameterError, ProtocolError
from reference import selection_loops

NAMES = ["age", "height", "weight", "pulse", "dose"]


@pytest.fixture
def case():
    rng = np.random.default_rng(5)

    def table(n):
        return pd.DataFrame(rng.normal(size=(n, 5)), columns=NAMES)

    return table(12), rng.integers(0, 2, (12, 4)), {"east": table(9), "west": table(14), "north": table(11)}


def test_the_fitted_attributes_agree_with_each_other_and_with_the_loops(case):
    X, Y, clients = case
    fitted = SSFMLFS(2).fit(X, Y, clients=clients)
    slow = selection_loops.select({name: t.to_numpy() for name, t in clients.items()}, X.to_numpy(), Y)
    assert list(fitted.order_) == slow.order
    assert_allclose(fitted.scores_, slow.scores, rtol=1e-6)
    assert_allclose(fitted.distance_, slow.distance, atol=1e-7)
    assert_array_equal(fitted.ranking_[fitted.order_], [1, 2, 3, 4, 5])
    assert_array_equal(np.flatnonzero(fitted.support_), np.sort(fitted.order_[:2]))
    assert fitted.selected_distance_.shape == (2, 2)
    assert_array_equal(fitted.selected_distance_, fitted.distance_[np.ix_(fitted.order_[:2], fitted.order_[:2])])
    assert fitted.n_iter_ > 1
    assert fitted.dropped_ == {}


def test_list_and_dict_of_clients_are_the_same_federation(case):
    X, Y, clients = case
    by_dict, by_list = SSFMLFS().fit(X, Y, clients=clients), SSFMLFS().fit(X, Y, clients=list(clients.values()))
    assert_allclose(by_list.scores_, by_dict.scores_, rtol=1e-12)
    assert {entry.sender for entry in by_list.transcript_} == {"server", "client-0", "client-1", "client-2"}
    assert {entry.sender for entry in by_dict.transcript_} == {"server", "east", "west", "north"}


def test_columns_of_clients_are_aligned_by_name(case):
    X, Y, clients = case
    shuffled = {name: table[table.columns[::-1]] for name, table in clients.items()}
    assert_array_equal(SSFMLFS().fit(X, Y, clients=shuffled).scores_, SSFMLFS().fit(X, Y, clients=clients).scores_)


def test_without_clients_the_rows_are_one_pool_and_nothing_is_claimed_to_travel(case):
    X, Y, _ = case
    fitted = SSFMLFS().fit(X, Y)
    assert fitted.transcript_ == ()
    slow = selection_loops.select({"pool": X.to_numpy()}, X.to_numpy(), Y)
    assert_allclose(fitted.scores_, slow.scores, rtol=1e-6)


def test_rows_of_minus_one_are_the_pool_s_unlabeled_rows(case):
    X, Y, _ = case
    Y = Y.copy()
    Y[8:] = -1
    fitted = SSFMLFS().fit(X, Y)
    slow = selection_loops.select({"pool": X.to_numpy()}, X.to_numpy()[:8], Y[:8])
    assert_allclose(fitted.scores_, slow.scores, rtol=1e-6)


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_a_single_target_is_one_hot_encoded_and_minus_one_is_unlabeled(case, shape):
    X, _, _ = case
    y = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, -1, -1, -1])
    one_hot = np.vstack([np.eye(3, dtype=int)[y[:9]], np.full((3, 3), -1)])
    assert_array_equal(SSFMLFS().fit(X, y.reshape(shape)).scores_, SSFMLFS().fit(X, one_hot).scores_)


def test_text_classes_are_classes(case):
    X, _, _ = case
    words, codes = np.array(["cat", "dog", "emu"] * 4), np.array([0, 1, 2] * 4)
    assert_array_equal(SSFMLFS().fit(X, words).scores_, SSFMLFS().fit(X, codes).scores_)


def test_nominal_features_go_by_name_or_index(case):
    X, Y, clients = case
    for table in (X, *clients.values()):
        table["dose"] = np.arange(len(table)) % 7
    by_name, by_index = (SSFMLFS(nominal=n).fit(X, Y, clients=clients) for n in (["dose"], [4]))
    assert_array_equal(by_name.scores_, by_index.scores_)
    assert by_name.radius_[4] == 0
    assert by_name.scores_[4] != SSFMLFS().fit(X, Y, clients=clients).scores_[4]


def test_declared_ranges_count_what_they_clip(case):
    X, Y, clients = case
    fitted = SSFMLFS(ranges=dict.fromkeys(NAMES, (-1.0, 1.0))).fit(X, Y, clients=clients)
    assert fitted.n_clipped_["east"] == int((clients["east"].abs() > 1).to_numpy().sum())
    assert "AskRanges" not in {entry.kind for entry in fitted.transcript_}


def test_a_bad_client_ends_the_run_or_is_dropped(case):
    X, Y, clients = case
    with pytest.raises(ProtocolError, match="client 'west': has 1 row; a client needs at least 2"):
        SSFMLFS().fit(X, Y, clients={**clients, "west": clients["west"][:1]})
    fitted = SSFMLFS(on_bad_client="drop").fit(X, Y, clients={**clients, "west": clients["west"][:1]})
    others = {name: clients[name] for name in ("east", "north")}
    assert_array_equal(fitted.scores_, SSFMLFS().fit(X, Y, clients=others).scores_)
    assert list(fitted.dropped_) == ["west"]


def test_default_number_of_features(case):
    X, Y, _ = case
    assert SSFMLFS().fit(X, Y).support_.sum() == 2  # 40 % of 5


REFUSED = [
    (
        lambda X, Y, east: (X, Y, {"a": east, "b": east.rename(columns={"age": "id"})}),
        r"client 'b' has other columns than the labeled rows \(missing: 'age'; extra: 'id'\)",
    ),
    (
        lambda X, Y, east: (X, Y, {"a": east, "b": east.to_numpy()}),
        "client 'b' has columns with no names, the labeled",
    ),
    (
        lambda X, Y, east: (X.to_numpy(), Y, {"a": east.to_numpy(), "b": east}),
        "client 'b' has columns with names, the labeled rows with none",
    ),
    (
        lambda X, Y, east: (X.to_numpy(), Y, [east.to_numpy(), east.to_numpy()[:, :4]]),
        "client 'client-1' has 4 columns, the labeled rows have 5",
    ),
    (
        lambda X, Y, east: (X, Y, {"a": east, "b": east.assign(age="old")}),
        "client 'b': column 'age' holds text, first in row 1, no numbers",
    ),
    (lambda X, Y, _: (X, Y, 3), "clients must be a list of tables or a dict"),
    (lambda X, Y, east: (X, Y, {1: east, "1": east, "b": east}), "clients must have different names"),
    (lambda X, Y, east: (X, Y, [east]), "at least 2 clients; got 1"),
    (lambda X, Y, _: (X, Y, []), "at least 2 clients; got 0"),
    (
        lambda X, Y, east: (X, Y, {"a": east, "b": east.assign(age=np.nan)}),
        r"client 'b': 9 missing \(NaN\) values in column 'age'\. Fill them in, .* missing='unrelated'",
    ),
    (
        lambda X, Y, east: (X.assign(age=np.inf), Y, [east, east]),
        r"labeled rows have 12 infinite \(inf\) values in column 'age'",
    ),
    (
        lambda X, Y, east: (X, Y, [east, east * 1e301]),
        r"too large \(beyond ±1e\+300\) values in column 'age' and 4 more columns\. Numbers so large overflow",
    ),
    (lambda X, Y, east: (X, np.full_like(Y, -1), [east, east]), "all rows of Y are -1"),
    (
        lambda X, Y, east: (X, np.vstack([np.full((1, 4), -1), Y[1:]]), [east, east]),
        r"1 unlabeled row \(-1\) in Y\. With clients",
    ),
    (
        lambda X, Y, _: (X, np.where(np.eye(12, 4) > 0, 2, Y), None),
        "0 or 1; got another number in row 0, label 0",
    ),
    (lambda X, Y, _: (X, np.full(Y.shape, "yes"), None), "labels must be 0 or 1; Y has dtype"),
    (lambda X, Y, _: (X, Y[:11], None), "X has 12 rows and Y 11"),
    (
        lambda X, Y, _: (X.assign(age=[np.nan, *range(11)]), Y, None),
        r"SSFMLFS: X has 1 missing \(NaN\) value in column",
    ),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_what_cannot_be_used_is_refused_and_named(case, change, message):
    X, Y, clients = case
    X, Y, clients = change(X, Y, clients["east"])
    with pytest.raises(FedSieveError, match=message):
        SSFMLFS().fit(X, Y, clients=clients)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 12}, "n_neighbors must be below the number of labeled rows, 12; got 12"),
        ({"nominal": [9]}, r"nominal=\[9\] has an index beyond the 5 features"),
        ({"lam": 7}, r"lam must be in \[0\.4, 2\]; got 7"),
        ({"ranges": 5}, "ranges must be 'federated', 'robust', 'local' or .*; got 5"),
        ({"ranges": dict.fromkeys(NAMES, 3)}, r"ranges\['age'\] must be \(low, high\); got 3"),
    ],
)
def test_a_parameter_outside_its_rule_is_named(case, parameters, message):
    X, Y, _ = case
    with pytest.raises(ParameterError, match=message):
        SSFMLFS(**parameters).fit(X, Y)


def test_frames_with_numbered_columns_are_as_good_as_arrays(case):
    X, Y, clients = case
    arrays = [table.to_numpy() for table in clients.values()]
    by_array = SSFMLFS().fit(X.to_numpy(), Y, clients=arrays)
    by_frame = SSFMLFS().fit(pd.DataFrame(X.to_numpy()), Y, clients=[pd.DataFrame(table) for table in arrays])
    assert_array_equal(by_frame.scores_, by_array.scores_)


def test_nullable_columns_and_sparse_labels_are_understood(case):
    X, Y, clients = case
    gaps = clients["east"].astype("Float64")
    gaps.iloc[0, 0] = pd.NA
    plain = clients["east"].copy()
    plain.iloc[0, 0] = np.nan
    options = {"missing": "unrelated"}
    nullable = SSFMLFS(**options).fit(X, sparse.csr_array(Y), clients=[gaps, clients["west"]])
    assert_array_equal(nullable.scores_, SSFMLFS(**options).fit(X, Y, clients=[plain, clients["west"]]).scores_)


def test_minus_one_among_text_classes_is_unlabeled(case):
    X, _, _ = case
    words = ["cat", "dog", "emu"] * 3 + [-1, -1, -1]
    codes = [0, 1, 2] * 3 + [-1, -1, -1]
    assert_array_equal(SSFMLFS().fit(X, words).scores_, SSFMLFS().fit(X, codes).scores_)


def test_nominal_features_need_no_declared_range(case):
    X, Y, clients = case
    ranges = dict.fromkeys(NAMES[:-1], (-5.0, 5.0))
    SSFMLFS(ranges=ranges, nominal=["dose"]).fit(X, Y, clients=clients)


def test_every_error_of_ours_is_one_family():
    assert issubclass(ParameterError, FedSieveError)
    assert issubclass(ParameterError, ValueError)
