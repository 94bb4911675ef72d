"""A rehearsal says what the site's own endpoint says, under its own policy, refusals included."""

from dataclasses import replace

from numpy.testing import assert_array_equal

from fedsieve.methods import SieveMethod
from fedsieve.privacy import SITE
from fedsieve.protocol import Client
from fedsieve.transport.rehearsal import rehearse
from protocol.federation import example, labeled, sites

CASE = example()
TABLE = sites(CASE)["site-2"]
METHOD = SieveMethod(CASE.features, ranges="federated")
OPEN = replace(SITE, min_rows=2, min_cell=0, rows_per_column=0, allow_exact_ranges=True)


def test_what_is_rehearsed_is_what_the_site_answers():
    rehearsal = rehearse(METHOD, labeled(CASE), TABLE, OPEN)
    assert rehearsal.ended == ""
    assert len(rehearsal.said) == 2  # each request once, however many sites it stands for
    for said in rehearsal.said:
        honest = Client(TABLE).answer(said.request)
        assert type(honest) is type(said.reply)
        assert honest.n_rows == said.reply.n_rows == TABLE.n_rows
    assert [said.depends for said in rehearsal.said] == [False, True]


def test_numbers_are_read_by_the_names_of_their_columns():
    ranges, covariances = rehearse(METHOD, labeled(CASE), TABLE, OPEN).said
    names = CASE.features
    assert ranges.readable()["low"] == dict(zip(names, CASE.clients["site-2"].min(axis=0), strict=True))
    upper = covariances.readable()["upper"]
    flat = [upper[a][b] for i, a in enumerate(names) for b in names[i:]]
    assert_array_equal(flat, covariances.reply.upper)


def test_a_refusal_is_shown_and_ends_the_rehearsal():
    rehearsal = rehearse(METHOD, labeled(CASE), TABLE, replace(OPEN, min_rows=TABLE.n_rows + 1))
    assert [type(said.reply).__name__ for said in rehearsal.said] == ["Refusal"]
    assert f"has {TABLE.n_rows} rows" in rehearsal.ended
