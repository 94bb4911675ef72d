"""Sieve over grids with real folders, keys and envelopes: what one process finds, and what a site does not answer."""

import dataclasses
from itertools import count

import numpy as np
import pytest

from fedsieve import messages as m
from fedsieve.protocol import Question
from transport.flower.consortium import changed, lie, sabotage

QUICK = {"n_trees": 10, "n_bootstraps": 2}
WAYS = {
    "numbers": {"parameters": QUICK},
    "codes and groups": {"nominal": ["f1", "f2"], "parameters": {**QUICK, "groups": [["f0", "f2"], ["f5"]]}},
    "wide": {"nominal": ["f2"], "parameters": {**QUICK, "screen": 2, "n_features_to_select": 1}},
    "a number of features by the labels": {"parameters": {**QUICK, "n_features_to_select": "auto"}},
}
RUN = "20260101-000000-abcdef"
NUMBERS = count(1)  # of runs
ways = pytest.mark.parametrize("sections", WAYS.values(), ids=WAYS)


def plain(record):
    return {name: value for name, value in record.items() if name != "federation"}


@ways
def test_a_federations_record_is_that_of_one_process(consortium, sections):
    consortium.agree(method="Sieve", **sections)
    run = consortium.lead()
    assert run.failure() is None
    record = run.result()
    assert plain(record) == plain(consortium.expected())
    assert record["method"] == "Sieve"
    assert ("Projections" in record["bytes"]) == (sections is WAYS["wide"])
    for name in consortium.case.clients:
        told = consortium.folder.site(name).results / run.id / "selection.json"
        assert told.read_bytes() == (run.path / "selection.json").read_bytes()


@pytest.mark.parametrize(
    ("way", "kind", "fields", "said"),
    [
        ("numbers", "Covariances", {"sums": lambda r: r.sums + r.n_rows}, "sent a mean outside [0, 1]"),
        ("codes and groups", "Covariances", {"upper": lambda r: r.upper * 0.5}, "sent negative spreads."),
        ("wide", "Projections", {"products": lambda r: -r.products}, "sent products that give a weighted sum a negat"),
        ("wide", "Projections", {"features": lambda r: r.features[::-1]}, "answered for 10 columns, the plan has 10 ("),
    ],
)
def test_a_site_that_lies_is_dropped_and_the_result_is_that_of_the_others(consortium, way, kind, fields, said):
    consortium.agree(method="Sieve", **WAYS[way])
    lie(consortium, "site-1", f"Ask{kind}", changed(**fields))
    record, expected = consortium.lead().result(), consortium.expected(without=("site-1",))
    assert record["dropped"]["site-1"].startswith(said)
    assert (record["scores"], record["order"]) == (expected["scores"], expected["order"])


def test_a_run_whose_server_died_goes_on_to_the_same_bits(consortium):
    consortium.agree(method="Sieve", **WAYS["wide"])
    honest = consortium.nodes["site-1"]

    def death(_message, _honest):
        raise KeyboardInterrupt

    sabotage(consortium, "site-1", "AskCovariances", death)
    run = consortium.start()
    with pytest.raises(KeyboardInterrupt):
        consortium.lead(run)
    consortium.nodes["site-1"] = honest
    consortium.lead(run)
    assert plain(run.result()) == plain(consortium.expected())
    assert run.result()["federation"]["rounds_from_checkpoint"] == 2


def answers(consortium, *requests):
    """What sites say to the last of these, asked in turn in a run of their own; of a refusal the reason."""
    post = consortium.post(f"{RUN}.{next(NUMBERS)}")
    for number, request in enumerate(requests, 1):
        asked = post.ask(Question(number, tuple(consortium.case.clients), request))
    return {answer.reply.reason if isinstance(answer.reply, m.Refusal) else "" for answer in asked.values()}


@pytest.fixture
def asked(consortium):
    """What an honest server asks of a table that codes may make wide."""
    consortium.agree(method="Sieve", nominal=["f2"])
    columns = m.Columns(consortium.case.features, ("f2",), "mean")
    low, high = np.full(6, -99.0), np.full(6, 99.0)
    low[2], high[2] = 0, 4
    return m.AskProjections(columns, m.Scaling(low, high), np.ones((10, 2)))


def test_what_was_agreed_on_is_answered(consortium, asked):
    first, last = m.AskRanges(asked.columns), m.AskCovariances(asked.columns, asked.scaling)
    assert answers(consortium, first, asked) == {""}
    assert answers(consortium, first, asked, last) == {""}
    assert answers(consortium, first, last) == {""}  # of a table that codes do not make wide
    order = "the method asks 'AskRanges', 'AskMeans', 'AskProjections', 'AskCovariances' in this order."
    assert answers(consortium, asked) == {f"was asked AskProjections before AskRanges; {order}"}
    assert answers(consortium, first, last, asked) == {f"was asked AskProjections after AskCovariances; {order}"}


def test_of_few_rows_not_even_another_refusal_tells(consortium, asked):
    """Whether ranges hold a small site's values would tell a server its extremes, one refusal at a time."""
    consortium.agree(method="Sieve", nominal=["f2"], privacy={"min_rows": 11})
    for low in (asked.scaling.low, np.where(asked.scaling.low < 0, 0.5, 0)):
        request = m.AskCovariances(asked.columns, m.Scaling(low, asked.scaling.high))
        few = consortium.post(RUN).ask(Question(1, ("site-0",), request))["site-0"].reply
        assert few.reason == (
            "has 10 rows; its rules ask for 11 (min_rows): sums of few rows hide little. "
            "Wait for more rows, or lower min_rows in the agreement and in policy.toml."
        )


def test_what_was_not_agreed_on_is_refused_though_the_operator_signed_it(consortium, asked):
    columns, scaling = asked.columns, asked.scaling
    first = m.AskRanges(columns)
    agreed = "which was not agreed on; agreed: AskRanges, AskMeans, AskProjections, AskCovariances."
    assert answers(consortium, m.AskMoments(columns, scaling)) == {f"was asked AskMoments, {agreed}"}
    as_numbers = dataclasses.replace(asked, columns=m.Columns(columns.features, (), "mean"), weights=np.ones((6, 2)))
    assert answers(consortium, as_numbers) == {
        "was asked to read its columns in another way than agreed (nominal, missing)."
    }
    clipped = dataclasses.replace(asked, scaling=m.Scaling(np.where(scaling.low < 0, 0.5, 0), scaling.high))
    assert answers(consortium, first, clipped) == {
        "was sent ranges that do not hold its own values; federated ranges hold those of all."
    }
    nonsense = dataclasses.replace(asked, scaling=m.Scaling(np.full(6, np.nan), scaling.high))
    assert answers(consortium, first, nonsense) == {"was sent ranges that are no finite numbers."}
    other = dataclasses.replace(asked, weights=np.ones((6, 2)))
    assert answers(consortium, first, other) == {"was sent weights that do not fit its 10 columns."}
