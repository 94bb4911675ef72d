"""Sites that joined under an agreement with noise: nothing exact leaves, and ledgers count over runs and restarts."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from fedsieve import messages as m
from fedsieve.deployment.spent_noise import SpentNoise
from fedsieve.deployment.told_cohorts import ToldCohorts
from fedsieve.deployment.what_left import WhatLeft
from fedsieve.privacy import Policy
from fedsieve.privacy.noise import epsilon_spent, noise_multiplier
from fedsieve.protocol import Question
from fedsieve.transport.codec import decode
from policies import LENIENT, write_rules

QUICK = {"n_trees": 3, "n_bootstraps": 1, "n_features_to_select": 2}
ONE = noise_multiplier(1.0, 1e-6)


@pytest.fixture
def private(consortium):
    consortium.agree("Sieve", parameters={**QUICK, "epsilon": 1.0}, ranges="robust")
    return consortium


def limit(consortium, max_epsilon: float) -> Policy:
    policy = replace(LENIENT, max_epsilon=max_epsilon)
    for name in consortium.case.clients:
        write_rules(consortium.folder.site(name).path, policy)
    return policy


def spent(consortium, name="site-0") -> SpentNoise:
    return SpentNoise(consortium.folder.site(name).ledger)


def test_a_run_has_one_noisy_round_and_every_site_counts_it(private):
    run = private.lead()
    record = run.result()
    assert record["privacy"]["epsilon"] == 1.0
    assert {entry["kind"] for entry in record["transcript"]} == {"AskClippedMoments", "ClippedMoments"}
    for name in private.case.clients:
        (entry,) = spent(private, name).answers()
        assert entry["noise_multiplier"] == ONE
        assert entry["run"] == run.id
        left = list(WhatLeft(private.folder.site(name).path).chain.entries())
        assert [line["reply"] for line in left] == ["ClippedMoments"]


def test_the_same_question_in_another_run_costs_nothing_while_the_site_stays(private):
    private.lead()
    private.lead()
    assert len(spent(private).answers()) == 1


def test_noise_that_is_drawn_again_after_leaving_is_counted_again(private):
    private.lead()
    for name in private.case.clients:
        site = private.folder.site(name)
        shutil.rmtree(site.prepared / "answers")  # as leaving does
    private.lead()
    assert [entry["noise_multiplier"] for entry in spent(private).answers()] == [ONE, ONE]


def test_the_budget_ends_under_another_agreement_too(private):
    policy = limit(private, 1.0)
    private.lead()
    private.agree("Sieve", parameters={**QUICK, "epsilon": 0.9}, ranges="robust")
    limit(private, 1.0)
    run = private.start()
    private.lead(run)
    assert "of 1 (max_epsilon, at delta 1e-05); with this answer it would be 1.23." in str(run.failure())
    assert len(spent(private).answers()) == 1
    assert spent(private).epsilon(policy) == epsilon_spent([ONE], policy.max_delta)


def test_exact_sums_are_refused_though_the_operator_signed_the_request(private):
    columns = m.Columns(private.case.features, (), "error")
    ends = m.Scaling(np.zeros(len(columns.features)), np.ones(len(columns.features)))
    asked = private.post("20260101-000000-abcdef").ask(
        Question(1, tuple(private.case.clients), m.AskCovariances(columns, ends))
    )
    for answer in asked.values():
        assert "agreed: AskClippedMoments." in answer.reply.reason
    assert not spent(private).answers()


def test_tables_that_differ_in_a_row_are_answered_for_since_the_budget_covers_both(private):
    policy = replace(LENIENT, min_difference_rows=5)
    for name, rows in private.case.clients.items():
        site = private.folder.site(name)
        write_rules(site.path, policy)
        site.write_rows(private.case.features, rows)
    private.lead()
    for name, rows in private.case.clients.items():
        site = private.folder.site(name)
        shutil.rmtree(site.prepared / "answers")
        site.write_rows(private.case.features, rows[:-1])
    assert private.lead().result() is not None
    assert len(spent(private, "site-2").answers()) == 2  # site-0 has too few rows now


def test_what_a_site_keeps_for_asking_again_is_what_left(private):
    private.lead()
    site = private.folder.site("site-0")
    (file,) = (site.prepared / "answers").glob(".noisy-1.0-1e-06/*")
    kept = decode(file.read_bytes())
    assert type(kept).__name__ == "ClippedMoments"
    assert np.any(kept.values % kept.values[0] != 0)


@pytest.fixture
def shared(private):
    """The same under secure sums."""
    rules = {"min_rows": 10, "secure": True, "min_cell": 0, "rows_per_column": 0}
    private.agree("Sieve", parameters={**QUICK, "epsilon": 1.0}, ranges="robust", privacy=rules)
    return private


def test_in_secure_sums_every_run_draws_new_noise_and_is_counted(shared):
    first = shared.lead().result()
    assert first["privacy"]["noise_shares"] == 1  # of three sites, two may be the operator's friends
    shared.lead()
    for name in shared.case.clients:
        assert [entry["noise_multiplier"] for entry in spent(shared, name).answers()] == [ONE, ONE]


def test_in_secure_sums_nothing_leaves_where_the_budget_does_not_allow_it(shared):
    limit(shared, 0.5)
    run = shared.start()
    shared.lead(run)
    assert "has spent epsilon 0.00 of 0.5 (max_epsilon" in str(run.failure())
    assert not spent(shared).answers()


def test_in_secure_sums_noise_is_a_way_out_of_cohorts_that_are_too_alike(shared):
    for name in shared.case.clients:
        write_rules(shared.folder.site(name).path, replace(LENIENT, min_difference_sites=2))
    shared.lead()
    assert ToldCohorts(shared.folder.site("site-0").ledger).told() == []
