"""Rows leave by `collect` only as they were selected, allowed and consented to; whatever else is asked for stays.

Through the site's own endpoint, by the operator's signed requests.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from after_a_run import OPEN, AfterARun
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.consent import ConsentRecord, Limits
from fedsieve.deployment.policy_file import read_policy
from fedsieve.deployment.what_left import WhatLeft
from fedsieve.errors import CodecError, DataError, ParameterError
from fedsieve.messages.columns import Columns
from fedsieve.messages.rows_chunk import AskRowsChunk, RowsChunk
from fedsieve.messages.rows_offer import AskRowsOffer, RowsOffer
from fedsieve.methods.collecting import Collecting
from fedsieve.privacy import SITE
from fedsieve.tables import ArrayTable
from fedsieve.transport.codec import encode
from fedsieve.transport.envelope import AFTER
from fedsieve.transport.operator import Operator
from fedsieve.transport.site import JoinedSite
from policies import write_rules

RUN = "20261117-100000-first"


@pytest.fixture(scope="module")
def founded(tmp_path_factory):
    made = AfterARun(tmp_path_factory.mktemp("after"))
    return made, made.run(RUN)["selected"]


@pytest.fixture
def asked(founded, tmp_path):
    return founded[0].copy(tmp_path)


@pytest.fixture
def selected(founded):
    return founded[1]


def collecting(asked, columns):
    return Collecting.after(asked.method, columns)


def offer(asked, columns):
    return AskRowsOffer(collecting(asked, columns).columns)


def chunk(asked, columns, start=0):
    method = collecting(asked, columns)
    return AskRowsChunk(method.columns, (), start, method.chunk_rows)


def test_whoever_consented_sends_all_rows_of_the_selected_columns_as_they_are(asked, selected):
    asked.approve("siteA", RUN)
    announced = asked.after(RUN, "siteA", offer(asked, selected))
    assert isinstance(announced, RowsOffer)
    assert announced.n_rows == 80
    sent = asked.after(RUN, "siteA", chunk(asked, selected))
    assert isinstance(sent, RowsChunk)
    assert_array_equal(sent.values, asked.rows["siteA"][:, ["abcdef".index(name) for name in selected]])
    lines = list(WhatLeft(asked.site("siteA").path).chain.entries())[-2:]
    assert [(line["reply"], line["rows"], line["columns"]["names"]) for line in lines] == [
        ("RowsOffer", 80, selected),
        ("RowsChunk", 80, selected),
    ]
    assert {line["rule"] for line in lines} == {"agreed on ([after] collect), within policy.toml, consented to apart"}


def test_without_a_second_consent_nothing_leaves_though_all_consented_to_the_run(asked, selected):
    asked.approve("siteB", RUN)  # which is another site's
    said = asked.after(RUN, "siteA", offer(asked, selected))
    way_out = f"At the site: fedsieve federation approve-rows FOLDER --run {RUN}"  # which may not be the latest
    assert said == f"nobody consented that rows of run {RUN} leave. {way_out}"
    assert said == asked.after(RUN, "siteA", chunk(asked, selected))


def test_a_consent_that_was_withdrawn_is_none(asked, selected):
    asked.approve("siteA", RUN)
    assert isinstance(asked.after(RUN, "siteA", offer(asked, selected)), RowsOffer)
    ConsentRecord(asked.site("siteA").path).keep_rows(RUN)
    assert "nobody consented" in asked.after(RUN, "siteA", chunk(asked, selected))
    assert "nobody consented" in asked.after(RUN, "siteA", offer(asked, selected))  # nor what was answered before


def test_columns_that_were_not_selected_stay(asked, selected):
    asked.approve("siteA", RUN)
    others = [name for name in "abcdef" if name not in selected]
    for request in (offer, chunk):
        assert asked.after(RUN, "siteA", request(asked, others[:2])) == (
            f"was asked for columns that were not agreed on: {others[0]!r}, {others[1]!r}."
        )
        more = [*selected, others[0]]
        assert "not agreed on" in asked.after(RUN, "siteA", request(asked, more))
        assert "other features than agreed" in asked.after(RUN, "siteA", request(asked, selected[:1]))
        assert "other features than agreed" in asked.after(RUN, "siteA", request(asked, selected[::-1]))


def test_the_columns_of_another_run_are_not_those_of_this_one(asked, selected):
    """A second run selects others; its name and the first one's consent do not go together."""
    other = asked.run("20261117-110000-other")
    others = [name for name in "abcdef" if name not in selected][:2]
    forged = {**other, "selected": others, "order": [*others, *(n for n in other["order"] if n not in others)]}
    assert asked.deliver("20261117-110000-other", "siteA", forged) is None
    asked.approve("siteA", RUN)
    assert "not agreed on" in asked.after(RUN, "siteA", offer(asked, others))
    assert "nobody consented" in asked.after("20261117-110000-other", "siteA", offer(asked, others))


def test_a_result_that_changes_after_the_consent_brings_no_other_columns(asked):
    """The operator sends another result of the same run, and then asks for what that one selected."""
    run = "20261117-120000-again"
    record = asked.run(run)
    asked.approve("siteA", run)
    order = record["order"][::-1]
    assert asked.deliver(run, "siteA", {**record, "selected": order[:2], "order": order}) is None
    said = asked.after(run, "siteA", offer(asked, order[:2]))
    assert said.startswith(f"other rows or columns of run {run} were consented to")


def test_a_result_that_selects_more_than_was_agreed_on_is_no_result(asked):
    """Before anybody consents, the operator says that all columns were selected."""
    run = "20261117-125000-all"
    record = asked.run(run)
    said = asked.deliver(run, "siteA", {**record, "selected": record["order"]})
    assert "it selected 6 features, and at most 2 were agreed on (n_features_to_select)" in said.reason
    asked.approve("siteA", run)
    assert "not agreed on" in asked.after(run, "siteA", offer(asked, record["order"]))
    assert isinstance(asked.after(run, "siteA", offer(asked, record["selected"])), RowsOffer)


def test_a_result_of_a_run_that_never_was_brings_nothing(asked):
    """A run in which the site answered nothing selects what the operator likes."""
    record = asked.run("20261117-130000-real")
    made_up = {**record, "federation": {**record["federation"], "run": "20261117-140000-made-up"}}
    assert asked.deliver("20261117-140000-made-up", "siteA", made_up) is None
    said = asked.after("20261117-140000-made-up", "siteA", offer(asked, record["selected"]))
    assert said.startswith("has answered nothing in a run '20261117-140000-made-up'")


def test_asked_twice_with_other_columns_the_second_is_refused_and_the_same_again_is_the_same_bytes(asked, selected):
    asked.approve("siteA", RUN)
    first = asked.after(RUN, "siteA", chunk_after_offer(asked, selected))
    again = asked.after(RUN, "siteA", chunk(asked, selected))
    assert encode(first) == encode(again)
    other = [name for name in "abcdef" if name not in selected]
    assert "not agreed on" in asked.after(RUN, "siteA", chunk(asked, other[:2]))


def chunk_after_offer(asked, selected):
    assert isinstance(asked.after(RUN, "siteA", offer(asked, selected)), RowsOffer)
    return chunk(asked, selected)


def test_rows_come_after_their_announcement_in_chunks_of_one_size(asked, selected):
    asked.approve("siteA", RUN)
    assert "before AskRowsOffer" in asked.after(RUN, "siteA", chunk(asked, selected))
    assert isinstance(asked.after(RUN, "siteA", offer(asked, selected)), RowsOffer)
    one = chunk(asked, selected)
    for wrong in (replace(one, n_asked=1), replace(one, n_asked=10**9), replace(one, start=3), replace(one, start=-1)):
        assert f"chunks have {one.n_asked} rows" in asked.after(RUN, "siteA", wrong)
    beyond = replace(one, start=one.n_asked)
    assert asked.after(RUN, "siteA", beyond) == f"was asked for rows from number {one.n_asked} on; it has 80."


def test_rows_are_no_part_of_a_run_and_what_a_run_asks_no_part_of_this(asked, selected):
    asked.approve("siteA", RUN)
    data = encode(offer(asked, selected))
    assert "AskRowsOffer, which was not agreed on" in asked.send("20261117-150000-run", "siteA", data).reason
    assert "AskRowsOffer, which was not agreed on" in asked.send(f"{RUN}.collect", "siteA", data).reason
    for name in (RUN, f"{RUN}.everything", f"{RUN}.2", "x.collect"):
        reply = asked.send(name, "siteA", data, kind=AFTER)
        assert "names nothing that follows a run" in reply.reason or "has no result of a run 'x'" in reply.reason


def test_other_rows_than_those_consented_to_stay(asked, selected):
    """The site joins with another table: it is not the one that was shown when somebody consented."""
    asked.approve("siteA", RUN)
    ConsentRecord(asked.site("siteA").path).leave("done")
    asked.join("siteA", np.random.default_rng(9).uniform(0, 1, (90, 6)))
    assert asked.after(RUN, "siteA", offer(asked, selected)).startswith("other rows or columns of run")


def test_the_consent_to_take_part_is_needed_too(asked, selected):
    asked.approve("siteA", RUN)
    ConsentRecord(asked.site("siteA").path).leave("done")
    assert asked.after(RUN, "siteA", offer(asked, selected)) == "nobody consents at present. It must join again."


def test_it_counts_as_a_run_in_every_limit(asked, selected):
    asked.approve("siteA", RUN)
    write_rules(asked.site("siteA").path, replace(OPEN, max_runs=1))
    assert "its policy allows 1 in all (max_runs)" in asked.after(RUN, "siteA", offer(asked, selected))
    write_rules(asked.site("siteA").path, OPEN)
    record, site = ConsentRecord(asked.site("siteA").path), asked.site("siteA")
    record.leave("done")
    record.join(site.agreement(), read_policy(site), {"file": "x"}, limits=Limits(runs=1), asked=False)
    assert isinstance(asked.after(RUN, "siteA", offer(asked, selected)), RowsOffer)
    second = asked.send("20261117-160000-run", "siteA", encode(offer(asked, selected)))
    assert "used up (--for-runs 1)" in second.reason


def test_the_sites_own_policy_decides_first(asked, selected):
    asked.approve("siteA", RUN)
    write_rules(asked.site("siteA").path, SITE)
    said = asked.after(RUN, "siteA", offer(asked, selected))
    assert "'collect' sends rows as they are" in said
    assert "another form of the method" not in said  # there is none
    assert "(rows_may_leave = false)" in said


def test_an_agreement_that_does_not_allow_it_is_the_end_of_it(tmp_path):
    asked = AfterARun(tmp_path, after=[])
    selected = asked.run(RUN)["selected"]
    said = asked.after(RUN, "siteA", offer(asked, selected))
    assert said.startswith("the agreement does not allow 'collect' after a run.")


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({"parameters": {"epsilon": 1.0, "delta": 1e-6}}, r"does not go with noise \(epsilon\): rows have no noise"),
        (
            {"privacy": {"secure": True}},
            r"with secure sums \(secure = true\): rows of some sites, subtracted",
        ),
        ({"rounds": {"max_sites_per_client": 5}}, "max_sites_per_client must be 1"),
    ],
    ids=["noise", "secure", "edge servers"],
)
def test_no_agreement_has_it_beside_noise_secure_sums_or_edge_servers(sections, said):
    text = agreement_text("fed", "h:1", ["a", "b", "c"], ["x"], ["y"], after=["collect"], keys={}, **sections)
    with pytest.raises(ParameterError, match=said):
        parse_agreement(text)


def test_a_letter_of_yesterday_or_to_another_site_is_not_answered(asked, selected):
    asked.approve("siteA", RUN)
    operator = Operator.of(asked.server, f"{RUN}.collect")
    data = encode(offer(asked, selected))
    for_another = operator.seal(1, "siteB", data, kind=AFTER, cohort=asked.names)
    reply = operator.open(JoinedSite(asked.site("siteA")).follow_up(for_another), "siteA", 1, for_another, kind=AFTER)
    assert "addressed to 'siteB'" in operator.read(reply).reason
    alone = operator.seal(1, "siteA", data, kind=AFTER, cohort=["siteA"])
    reply = operator.open(JoinedSite(asked.site("siteA")).follow_up(alone), "siteA", 1, alone, kind=AFTER)
    assert "min_cohort" in operator.read(reply).reason
    with pytest.raises(CodecError, match="content does not match what was signed"):
        JoinedSite(asked.site("siteA")).follow_up(alone[:-1] + b"?")


def test_missing_values_leave_as_gaps_where_they_are_agreed_on_and_are_an_error_elsewhere():
    table_with_gap = np.array([[1.0, np.nan], [2.0, 3.0], [4.0, 5.0]])
    table = ArrayTable(("a", "b"), table_with_gap)
    may, must = (Columns(("a", "b"), (), missing) for missing in ("mean", "error"))
    assert_array_equal(AskRowsChunk(may, (), 0, 9).answer(table).values, table_with_gap)
    for ask in (AskRowsChunk(must, (), 0, 9), AskRowsOffer(must)):
        with pytest.raises(DataError, match=r"1 missing \(NaN\) value in column 'b'"):
            ask.answer(table)
