"""Data frames as hospitals have them: text, categories, booleans, dates and ids, through `fit`."""

import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from fedsieve import SSFMLFS, Sieve, rivals
from fedsieve.errors import DataError, FedSieveError, FedSieveWarning

CANARY = "SECRET-7731"
SMALL = {"n_trees": 10, "n_bootstraps": 0}


def made(n_rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n_rows),
            "age": rng.integers(20, 90, n_rows).astype(float),
            "ward": rng.choice(["north", "south", "west"], n_rows),
            "smoker": rng.random(n_rows) < 0.4,
            "noise": rng.random(n_rows),
        }
    )


@pytest.fixture
def case():
    X = made(40, 0)
    Y = np.column_stack([X["sex"] == "f", X["ward"] == "north", X["age"] > 60]).astype(int)
    return X, Y, {"a": made(50, 1), "b": made(60, 2)}


def by_hand(frame: pd.DataFrame, words: dict[str, list[str]]) -> pd.DataFrame:
    """The slow twin: codes by a dictionary, row by row."""
    coded = frame.copy()
    for name, known in words.items():
        coded[name] = [float(known.index(word)) if word in known else float(len(known)) for word in frame[name]]
    return coded.astype(float)


WORDS = {"sex": ["f", "m"], "ward": ["north", "south", "west"]}
SELECTORS = {
    "Sieve": lambda **more: Sieve(2, **SMALL, **more),
    "Sieve, robust": lambda **more: Sieve(2, ranges="robust", **SMALL, **more),
    "SSFMLFS": lambda **more: SSFMLFS(2, **more),
}


@pytest.mark.parametrize("selector", SELECTORS)
def test_text_counts_as_codes_that_were_made_by_hand(case, selector):
    X, Y, clients = case
    text = SELECTORS[selector]().fit(X, Y, clients=clients)
    twins = {name: by_hand(frame, WORDS) for name, frame in clients.items()}
    twin = SELECTORS[selector](nominal=["sex", "ward"]).fit(by_hand(X, WORDS), Y, clients=twins)
    assert_array_equal(text.order_, twin.order_)
    np.testing.assert_allclose(text.scores_, twin.scores_, rtol=1e-9)
    assert {name: list(words) for name, words in text.categories_.items()} == WORDS


@pytest.mark.parametrize(
    "turned",
    [
        lambda frame: frame.astype({"sex": "category", "ward": "category"}),
        lambda frame: frame.astype({"sex": object, "smoker": int}),
        pl.from_pandas,
        lambda frame: pl.from_pandas(frame).with_columns(pl.col("sex").cast(pl.Categorical)),
        lambda frame: pl.from_pandas(frame).with_columns(pl.col("sex").cast(pl.Enum(["f", "m"]))),
    ],
)
def test_every_kind_of_frame_gives_the_same(case, turned):
    X, Y, clients = case
    plain = SSFMLFS(2).fit(X, Y, clients=clients)
    other = SSFMLFS(2).fit(turned(X), Y, clients={name: turned(frame) for name, frame in clients.items()})
    assert_array_equal(plain.scores_, other.scores_)


def test_the_original_columns_come_out(case):
    X, Y, clients = case
    selector = Sieve(2, **SMALL).fit(X, Y, clients=clients)
    assert set(selector.get_feature_names_out()) == {"sex", "ward"}
    pd.testing.assert_frame_equal(selector.set_output(transform="pandas").transform(X), X[["sex", "ward"]])


def test_the_original_columns_come_out_of_polars(case):
    X, Y, clients = case
    frames = {}
    for name, frame in {"X": X, **clients}.items():
        frames[name] = pl.from_pandas(frame.assign(seen=pd.date_range("2020-01-31", periods=len(frame))))
    own = frames.pop("X")
    selector = Sieve(4, dates=["seen"], **SMALL).fit(own, Y, clients=frames)
    chosen = list(selector.get_feature_names_out())
    assert {"sex", "ward"} < set(chosen)
    picked = selector.transform(own)
    assert_array_equal(picked, np.array(own[chosen].rows(), dtype=object))
    selector.set_output(transform="polars")
    out = selector.transform(own)
    assert out.equals(own[chosen])
    assert out.schema == own[chosen].schema
    with pytest.raises(DataError, match=r"feature_names_in_\]"):
        selector.transform(own[own.columns[::-1]])
    numbers = {name: frame.select("age", "noise") for name, frame in frames.items()}
    plain = Sieve(1, **SMALL).fit(own.select("age", "noise"), Y, clients=numbers)
    assert plain.transform(own.select("age", "noise")).dtype == np.float64


def test_without_clients_too(case):
    X, Y, _ = case
    Y[30:] = -1
    assert Sieve(2, **SMALL).fit(X, Y).categories_.keys() == {"sex", "ward"}


def test_rare_words_count_as_other_together(case):
    X, Y, clients = case
    clients["a"].loc[:1, "ward"] = ["attic", "cellar"]  # in one row each
    selector = SSFMLFS(2).fit(X, Y, clients=clients)
    assert selector.categories_["ward"] == ("north", "south", "west")
    clients["b"].loc[:3, "ward"] = "attic"  # now in five
    assert SSFMLFS(2).fit(X, Y, clients=clients).categories_["ward"] == ("attic", "north", "south", "west")


def test_a_category_keeps_its_own_words_and_others_are_counted(case):
    X, Y, clients = case
    X["ward"] = pd.Categorical(X["ward"], categories=["west", "south", "north", "never"])
    clients["b"].loc[:2, "ward"] = CANARY
    with pytest.warns(FedSieveWarning) as told:
        selector = SSFMLFS(2).fit(X, Y, clients=clients)
    assert selector.categories_["ward"] == ("west", "south", "north", "never")
    (message,) = [str(one.message) for one in told]
    assert message == "client 'b': words that are none of the agreed categories count as 'other': 3 in 'ward'."


@pytest.mark.parametrize("ward", ["category", pl.Enum], ids=["pandas", "polars"])
def test_words_that_only_clients_have_join_the_categories(case, ward):
    X, Y, clients = case
    X = X[X["ward"] != "west"].reset_index(drop=True)
    Y = np.column_stack([X["sex"] == "f", X["ward"] == "north"])
    plain = SSFMLFS(2).fit(X, Y, clients=clients)

    def turned(frame):
        if ward == "category":
            return frame.astype({"ward": ward})
        return pl.from_pandas(frame).with_columns(pl.col("ward").cast(ward(sorted(set(frame["ward"])))))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = SSFMLFS(2).fit(turned(X), Y, clients={name: turned(frame) for name, frame in clients.items()})
    assert found.categories_["ward"] == ("north", "south", "west")
    assert_array_equal(found.scores_, plain.scores_)


def test_ids_are_left_out_with_a_warning(case):
    X, Y, clients = case
    for frame in (X, *clients.values()):
        frame.insert(0, "patient_id", np.arange(len(frame)) % 7)
        frame["visit"] = [f"{CANARY}{row}" for row in range(len(frame))]
        frame["record"] = np.arange(len(frame)) + 700
    with pytest.warns(FedSieveWarning) as told:
        selector = Sieve(8, **SMALL).fit(X, Y, clients=clients)
    assert str(told[0].message).startswith(
        "Sieve: columns are left out: 'patient_id': named like an id; 'visit', 'record': differs in every row, as an id"
    )
    assert CANARY not in str(told[0].message)
    assert selector.left_out_ == ("patient_id", "visit", "record")
    assert_array_equal(np.sort(selector.order_[-3:]), [0, 6, 7])
    assert list(selector.get_feature_names_out()) == ["sex", "age", "ward", "smoker", "noise"]
    with pytest.warns(FedSieveWarning, match="columns are left out: 'visit', 'record'"):
        kept = Sieve(8, nominal=["patient_id"], **SMALL).fit(X, Y, clients=clients)
    assert kept.support_[0]


def test_a_measurement_that_differs_in_every_row_stays(case):
    X, Y, clients = case
    for frame in (X, *clients.values()):
        frame["reads"] = np.random.default_rng(3).permutation(100_000)[: len(frame)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Sieve(2, **SMALL).fit(X, Y, clients=clients).left_out_ == ()


@pytest.mark.parametrize("as_frame", [pd.DataFrame, lambda frame: pl.from_pandas(frame)], ids=["pandas", "polars"])
def test_dates_are_refused_or_taken_as_days(case, as_frame):
    X, Y, clients = case
    for frame in (X, *clients.values()):
        frame["seen"] = pd.date_range("2020-01-31", periods=len(frame))
    others = {name: as_frame(frame) for name, frame in clients.items()}
    with pytest.raises(DataError) as error:
        SSFMLFS(2).fit(as_frame(X), Y, clients=others)
    assert str(error.value) == (
        "SSFMLFS: the labeled rows: column 'seen' holds dates, first in row 1. Leave it out (--drop), or have it read "
        "as days since 1970-01-01: dates=['seen'] (--dates)."
    )
    days = SSFMLFS(2, dates=["seen"]).fit(as_frame(X), Y, clients=others)
    for frame in (X, *clients.values()):
        frame["seen"] = [(day.date() - date(1970, 1, 1)).days for day in frame["seen"]]
        frame["seen"] = frame["seen"].astype(float)
    assert_array_equal(days.scores_, SSFMLFS(2).fit(X, Y, clients=clients).scores_)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda X, _: X.assign(age=[CANARY, *X["age"][1:]]), "column 'age' holds text among numbers, first in row 1"),
        (lambda X, _: X.assign(age=[f"{a:g},5" for a in X["age"]]), "column 'age' holds numbers with commas, first"),
        (lambda X, _: X.assign(age="31.12.2020"), "column 'age' holds dates, first in row 1, that are not written as"),
        (lambda X, _: X.assign(age=[[CANARY]] * len(X)), "column 'age' holds what is neither text nor number"),
        (lambda X, _: X.assign(sex=1.0), "client 'a': column 'sex' holds text, first in row 1, no numbers"),
        (lambda X, c: c["b"].isetitem(0, 1.0) or X, "column 'sex' holds text, that of client 'b' numbers"),
        (lambda X, c: c["b"].isetitem(1, CANARY) or X, "client 'b': column 'age' holds text, first in row 1"),
    ],
)
def test_what_does_not_go_together_is_named_and_never_shown(case, change, says):
    X, Y, clients = case
    X = change(X, clients)
    with pytest.raises(DataError) as error:
        Sieve(2, **SMALL).fit(X, Y, clients=clients)
    assert str(error.value).startswith("Sieve: ")
    assert says in str(error.value)
    assert CANARY not in str(error.value)


@pytest.mark.parametrize("where", ["labeled", "client"])
def test_text_in_an_array_is_named_by_its_place_and_never_shown(where):
    X, Y = np.random.default_rng(0).random((30, 3)), np.eye(30, 2, dtype=int)
    text = X.astype(object)
    text[4, 1] = CANARY
    labeled, client = (text, X) if where == "labeled" else (X, text)
    with pytest.raises(DataError) as error:
        Sieve(1, **SMALL).fit(labeled, Y, clients=[X, client])
    assert "text in column 1, row 5" in str(error.value)
    assert CANARY not in str(error.value)


def test_a_method_that_knows_no_codes_says_so(case):
    X, Y, clients = case
    pairs = {name: (frame, np.resize(Y, (len(frame), 3))) for name, frame in clients.items()}
    with pytest.raises(DataError, match="FMLFS: the labeled rows: column 'sex' holds text, first in row 1, no numbers"):
        rivals.FMLFS(2).fit(X, Y, clients=pairs)


NOTHING = {
    "None": None,
    "NaN, as a file is read": np.nan,
    "nullable": pd.array([pd.NA], dtype="Float64")[0],
    "no date": pd.NaT,
}


@pytest.mark.parametrize("where", ["labeled", "a"])
@pytest.mark.parametrize("nothing", NOTHING)
@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_a_column_that_only_some_have_filled(case, where, nothing, as_frame):
    X, Y, clients = case
    (X if where == "labeled" else clients["a"])["ward"] = NOTHING[nothing]
    others = {name: as_frame(frame) for name, frame in clients.items()}
    selector = SSFMLFS(2, missing="unrelated").fit(as_frame(X), Y, clients=others)
    assert selector.categories_["ward"] == ("north", "south", "west")


@pytest.mark.parametrize("dtype", [float, "Int64"])
def test_an_id_with_a_gap_is_an_id(case, dtype):
    X, Y, clients = case
    for frame in (X, *clients.values()):
        frame["record"] = pd.Series(np.arange(len(frame)) + 700).where(frame.index != 3).astype(dtype)
    with pytest.warns(FedSieveWarning, match="columns are left out: 'record': differs in every row, as an id does"):
        assert Sieve(2, **SMALL).fit(X, Y, clients=clients).left_out_ == ("record",)


def test_floats_are_no_ids_where_they_say_so(case):
    X, Y, clients = case
    for frame, dtype in ((X, "Float64"), (clients["a"], float), (clients["b"], "Float64")):
        frame["record"] = pd.Series(np.arange(len(frame)) + 700).where(frame.index != 3).astype(dtype)
    assert Sieve(2, **SMALL).fit(X, Y, clients=clients).left_out_ == ()


@pytest.mark.parametrize("missing", ["mean", "indicator"])
@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_empty_cells_of_text_are_codes_with_gaps(case, missing, as_frame):
    X, Y, clients = case
    for frame in (X, *clients.values()):
        frame.loc[3:9, "sex"], frame.loc[5, "ward"] = None, ""
    text = Sieve(2, missing=missing, **SMALL)
    text.fit(as_frame(X), Y, clients={name: as_frame(frame) for name, frame in clients.items()})
    codes = {name: {word: float(code) for code, word in enumerate(words)} for name, words in WORDS.items()}

    def coded(frame):
        return frame.assign(**{name: frame[name].map(known) for name, known in codes.items()}).astype(float)

    twin = Sieve(2, missing=missing, nominal=["sex", "ward"], **SMALL)
    twin.fit(coded(X), Y, clients={name: coded(frame) for name, frame in clients.items()})
    assert_array_equal(text.order_, twin.order_)
    np.testing.assert_allclose(text.scores_, twin.scores_, rtol=1e-9)
    with pytest.raises(DataError, match=r"missing \(NaN\) values in column 'sex'"):
        Sieve(2, missing="error", **SMALL).fit(X, Y, clients=clients)


@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_clients_may_have_more_columns_beside_text(case, as_frame):
    X, Y, clients = case
    plain = SSFMLFS(2).fit(X, Y, clients=clients)
    clients["a"]["note"] = [f"{CANARY}{row}" for row in range(len(clients["a"]))]
    others = {name: as_frame(frame) for name, frame in clients.items()}
    with pytest.warns(FedSieveWarning, match=r"^client 'a': 1 column not among the labeled rows', unused: 'note'\.$"):
        more = SSFMLFS(2).fit(as_frame(X), Y, clients=others)
    assert_array_equal(more.scores_, plain.scores_)


def test_weights_go_with_text(case):
    X, Y, clients = case
    weights = np.resize([1.0, 2.0, 0.0], len(X))
    text = Sieve(2, **SMALL).fit(X, Y, clients=clients, sample_weight=weights)
    twins = {name: by_hand(frame, WORDS) for name, frame in clients.items()}
    twin = Sieve(2, nominal=["sex", "ward"], **SMALL).fit(by_hand(X, WORDS), Y, clients=twins, sample_weight=weights)
    np.testing.assert_allclose(text.scores_, twin.scores_, rtol=1e-9)


STAGES = ["1", "2", "3a", "3b"]


@pytest.mark.parametrize("turned", [lambda one: one.astype(int), lambda one: one.astype(float)], ids=["int", "float"])
@pytest.mark.parametrize("share", [0.2, 0.8])
@pytest.mark.parametrize("where", ["labeled", "a"])
def test_a_nominal_column_of_numbers_and_words_is_all_words(case, turned, share, where):
    X, Y, clients = case
    rng = np.random.default_rng(5)
    for frame in (X, *clients.values()):
        frame["stage"] = rng.choice(STAGES, len(frame), p=[share / 2, share / 2, (1 - share) / 2, (1 - share) / 2])
    plain = X if where == "labeled" else clients["a"]
    plain["stage"] = rng.choice(["1", "2"], len(plain))
    words = {**WORDS, "stage": STAGES}
    twins = {name: by_hand(frame, words) for name, frame in clients.items()}
    twin = SSFMLFS(2, nominal=list(words)).fit(by_hand(X, words), Y, clients=twins)
    plain["stage"] = turned(plain["stage"])
    found = SSFMLFS(2, nominal=["stage"]).fit(X, Y, clients=clients)
    assert found.categories_["stage"] == tuple(STAGES)
    assert_array_equal(found.scores_, twin.scores_)


def test_truth_values_among_the_words_of_a_nominal_column_are_0_and_1(case):
    X, Y, clients = case
    X["stage"], clients["a"]["stage"] = np.resize(["0", "1", "x"], len(X)), clients["a"]["smoker"]
    clients["b"]["stage"] = np.resize([0.0, 1.0], len(clients["b"]))
    assert SSFMLFS(2, nominal=["stage"]).fit(X, Y, clients=clients).categories_["stage"] == ("0", "1", "x")


def test_columns_without_a_common_word_are_left_out(case):
    X, Y, clients = case
    for frame in (X, *clients.values()):
        frame["note"] = [f"note {row // 2}-{len(frame)}" for row in range(len(frame))]
    with pytest.warns(FedSieveWarning, match="'note': no word in it occurs in 5 rows or more"):
        assert SSFMLFS(2).fit(X, Y, clients=clients).left_out_ == ("note",)


def test_declared_ranges_need_none_for_text_and_ids(case):
    X, Y, clients = case
    for frame in (X, *clients.values()):
        frame["uuid"] = "x"
    ranges = {"age": (0.0, 100.0), "smoker": (0.0, 1.0), "noise": (0.0, 1.0)}
    with pytest.warns(FedSieveWarning, match="'uuid': named like an id"):
        assert Sieve(2, ranges=ranges, **SMALL).fit(X, Y, clients=clients).left_out_ == ("uuid",)


@pytest.mark.parametrize("ranges", ["robust", "federated"])
def test_codes_that_are_none_are_told_by_their_owner_and_never_shown(case, ranges):
    X, Y, clients = case
    for frame in (X, *clients.values()):
        frame["nyha"] = np.resize([1, 2, 3, 4], len(frame))
    clients["b"].loc[:8, "nyha"] = np.arange(990_000, 990_009)
    with pytest.raises(FedSieveError, match=r"client 'b'.*'nyha'") as refused:
        Sieve(2, nominal=["nyha"], ranges=ranges, **SMALL).fit(X, Y, clients=clients)
    assert "9900" not in str(refused.value)
    without = Sieve(2, nominal=["nyha"], ranges=ranges, on_bad_client="drop", **SMALL)
    clients["c"] = clients["a"]
    assert set(without.fit(X, Y, clients=clients).dropped_) == {"b"}


@pytest.mark.parametrize("make", [lambda k: Sieve(k, **SMALL), SSFMLFS], ids=["Sieve", "SSFMLFS"])
@pytest.mark.parametrize("share", [0.5, None, np.float64(0.75)])
def test_a_share_is_one_of_the_features_without_ids(case, make, share):
    X, Y, clients = case
    plain = make(share).fit(X, Y, clients=clients)
    for frame in (X, *clients.values()):
        for name in ("patient_id", "visit_id", "mrn"):
            frame[name] = np.arange(len(frame))
    with pytest.warns(FedSieveWarning, match="columns are left out"):
        found = make(share).fit(X, Y, clients=clients)
    assert found.support_.sum() == plain.support_.sum()
    assert found.rerank(0.25).support_.sum() == plain.rerank(0.25).support_.sum()


@pytest.mark.parametrize("values", [[0, 1], [True, False], [0.0, 1.0, np.nan]], ids=str)
def test_a_column_of_0_and_1_is_no_id_whatever_its_name(case, values):
    X, Y, clients = case
    for frame in (X, *clients.values()):
        frame["pid"], frame["id"] = np.resize(values, len(frame)), np.resize([0, 1, 2], len(frame))
    with pytest.warns(FedSieveWarning, match="columns are left out: 'id': named like an id"):
        assert Sieve(2, **SMALL).fit(X, Y, clients=clients).left_out_ == ("id",)


def test_what_is_named_but_cannot_be_is_refused(case):
    X, Y, clients = case
    with pytest.raises(DataError, match=r"^Sieve: the labeled rows: column 'sex' is named in dates .* in row 1\."):
        Sieve(2, dates=["sex"], **SMALL).fit(X, Y, clients=clients)
    for frame in (X, *clients.values()):
        frame["visit"] = [f"{CANARY}{row}" for row in range(len(frame))]
    with pytest.raises(DataError, match="column 'visit' is to be kept, but no word in it occurs in 5 rows") as told:
        Sieve(2, nominal=["visit"], **SMALL).fit(X.assign(visit=[f"{CANARY}{-row}" for row in range(len(X))]), Y)
    assert CANARY not in str(told.value)
