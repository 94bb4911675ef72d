"""Secure sums between real apps, keys, envelopes and folders, on a grid in this process: one process per message."""

import json

import pytest
from numpy.testing import assert_allclose

from fedsieve import messages as m
from fedsieve.deployment.told_cohorts import ToldCohorts
from fedsieve.messages.secure_sum import AskKeys, Keys
from fedsieve.protocol import Question
from transport.flower.consortium import is_silent, raises, refusals, sabotage

SECURE = {"min_rows": 10, "secure": True, "min_cell": 0, "rows_per_column": 0}
ALL = tuple(f"site-{i}" for i in range(5))


@pytest.fixture
def n_sites():
    return 5


@pytest.fixture
def secure(consortium):
    """Five sites that agreed on secure sums, with lenient rules of their own."""
    consortium.agree("Sieve", ranges="robust", privacy=SECURE)
    return consortium


def test_the_result_is_that_of_one_process(secure):
    run = secure.lead()
    assert run.failure() is None
    record, expected = run.result(), secure.expected()
    assert record["order"] == expected["order"]
    assert_allclose(list(record["scores"].values()), list(expected["scores"].values()), rtol=0, atol=1e-12)
    assert (record["n_rows"], record["influence"], record["dropped"]) == (None, None, {})


PHASES = ("AskKeys", "AskShares", "AskMasked", "AskSignature", "AskUnmasking")
QUICK = (("AskKeys", raises), ("AskMasked", raises))  # before a site gave secrets, and after


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        pytest.param(kind, how, marks=() if (kind, how) in QUICK else pytest.mark.full)
        for how in (raises, is_silent)
        for kind in PHASES
    ],
)
def test_a_site_lost_in_any_phase_is_left_out(secure, kind, how):
    sabotage(secure, "site-2", kind, how)
    run = secure.lead()
    assert run.failure() is None
    assert list(run.result()["dropped"]) == ["site-2"]
    assert run.result()["order"] == secure.expected(without=("site-2",))["order"]


class DeathError(BaseException):
    """The server's process is gone."""


@pytest.mark.parametrize(
    "n_rounds", [4, *(pytest.param(n_rounds, marks=pytest.mark.full) for n_rounds in (1, 2, 3, 5, 7, 11))]
)
def test_the_server_s_death_changes_nothing(secure, n_rounds):
    """Rounds are kept as they came; one that is not complete is asked again, and answered by the same bytes."""
    run, grid, rounds = secure.start(), secure.grid(), []
    push = grid.push_messages

    def dying(messages):
        numbers = push(messages)  # all sites answered
        rounds.append(numbers)
        if len(rounds) == n_rounds:
            raise DeathError
        return numbers

    grid.push_messages = dying
    with pytest.raises(DeathError):
        secure.lead(run, grid)
    secure.lead(run)
    assert run.failure() is None
    assert run.result()["order"] == secure.expected()["order"]
    assert run.result()["dropped"] == {}


def test_what_left_is_written_down_and_secrets_are_private_and_removed(secure):
    run = secure.lead()
    site = secure.folder.site("site-0")
    lines = [json.loads(line) for line in (site.path / "what-left.jsonl").read_text().splitlines()]
    masked = [line for line in lines if line["reply"] == "Masked"]
    assert [line["request"] for line in masked] == ["AskCells", "AskHistograms", "AskCovariances"]
    assert {line["rows"] for line in masked} == {len(secure.case.clients["site-0"])}
    n_columns = len(secure.plan.columns.features)
    assert {line["columns"]["number"] for line in masked} == {n_columns}
    assert {line["columns"]["number"] for line in lines if line not in masked} == {0}, "keys tell of no column"
    assert not (site.prepared / "sums" / run.id).exists()  # with the result, whatever sums were never asked for
    reason = asked_for_keys(secure, run.id)["site-0"].reply.reason
    assert reason == "was given the result of this run, and answers no more in it. Start a new run."
    assert isinstance(asked_for_keys(secure, "another")["site-0"].reply, Keys)
    vault = site.prepared / "sums" / "another"
    assert vault.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in vault.iterdir()} == {0o600}


def asked_for_keys(secure, run, cohort=ALL):
    return secure.post(run).ask(Question(1, cohort, AskKeys(cohort, 4), cohort))


def test_a_site_that_lost_its_secrets_does_not_begin_the_run_anew(secure):
    sabotage(secure, "site-4", "AskSignature", raises)
    sabotage(secure, "site-3", "AskSignature", raises)
    run = secure.lead()
    assert "a secure sum takes 4" in run.failure()
    for file in (secure.folder.site("site-0").prepared / "sums" / run.id).iterdir():
        file.unlink()
    reason = asked_for_keys(secure, run.id)["site-0"].reply.reason
    assert reason == "has answered in this run already, and its secrets of it are gone. Start a new run."


def test_a_bare_request_is_refused(secure):
    request = m.AskCells(secure.plan.columns)
    reason = secure.post("run-1").ask(Question(1, ALL, request, ALL))["site-1"].reply.reason
    assert reason == "was asked AskCells by itself; agreed: totals only, by secure sums."


@pytest.fixture
def careful(secure):
    """Sites that compare a run's cohort with those of earlier runs."""
    for name in secure.case.clients:
        rules = secure.folder.site(name).path / "policy.toml"
        rules.write_text(rules.read_text().replace("min_difference_sites = 0", "min_difference_sites = 2"))
    return secure


def test_a_cohort_without_one_site_of_before_is_refused_unless_approved(careful):
    """By subtraction the two totals would tell of that site alone."""
    first, rest = careful.lead(), ALL[:-1]
    reason = asked_for_keys(careful, "another", rest)["site-0"].reply.reason
    assert f"totals of earlier runs ('{first.id}'), totals over these sites give the sums of 'site-4' alone" in reason
    assert "approve-cohort FOLDER --sites site-0,site-1,site-2,site-3" in reason
    ToldCohorts(careful.folder.site("site-0").ledger).approve(rest)
    replies = asked_for_keys(careful, "another", rest)
    assert isinstance(replies["site-0"].reply, Keys)
    assert "approve-cohort" in replies["site-1"].reply.reason
    # Two sites fewer are enough of a difference, and so is nothing at all.
    assert isinstance(asked_for_keys(careful, "third", rest[:-1])["site-1"].reply, Keys)
    assert isinstance(asked_for_keys(careful, "fourth")["site-1"].reply, Keys)


def test_a_site_lost_in_the_run_counts_as_well(careful):
    """The server may say that a site was lost: whom a total is of is what the sites sign."""
    careful.lead()
    sabotage(careful, "site-2", "AskMasked", raises)
    run = careful.lead()
    assert "a secure sum takes 4" in run.failure()
    assert any("give the sums of 'site-2' alone" in event["reason"] for event in refusals(run))


def test_the_rules_of_a_site_count_the_total(secure):
    """No site has 50 rows, all together have 80; under the defaults of policy.toml, nobody's rules are lenient."""
    secure.agree("Sieve", ranges="robust", privacy={"min_rows": 50, "secure": True})
    for name in secure.case.clients:
        (secure.folder.site(name).path / "policy.toml").unlink()
    assert max(map(len, secure.case.clients.values())) < 50
    run = secure.lead()
    assert run.failure() is None
    assert len(run.result()["order"]) == len(secure.case.features)
