"""Each attack on answers without rules, where it must succeed, and under the rules of a site, where it must not."""

import numpy as np
import pytest

from audit_settings import grey, ink, parties, setting
from fedsieve.audit import ATTACKS

RNG = np.random.default_rng(3)
GREY, INK = parties(grey(RNG, 420), RNG), parties(ink(RNG, 400), RNG)
LARGE_SITES = parties(ink(RNG, 1000), RNG)  # of 150 rows: enough for three rows to each of 28 columns
LARGE_SITES.members.X[:, -1] = np.arange(len(LARGE_SITES.members)) == 5


def tried(attack, name, rows, guard, **parameters):
    return ATTACKS[attack](setting(name, rows, guard, **parameters))


READ_WITHOUT_RULES = {
    "matrices give values": ("relations", "SSFMLFS", GREY, {"wire": "matrices"}, 0.6, "allow_matrices"),
    "lone columns": ("lone columns", "Sieve", INK, {}, 0.02, "rows_per_column"),
    "lone labels and columns": ("lone columns", "FedCMFS", INK, {"combine": "pooled"}, 0.02, "rows_per_column"),
    "small sites: covariances": ("small sites", "Sieve", INK, {}, 0.9, "min_rows"),
    "small sites: pair sums": ("small sites", "SSFMLFS", INK, {"wire": "statistics"}, 0.9, "min_rows"),
    "small sites: information": ("small sites", "FMLFS", INK, {}, 0.9, "min_rows"),
    "small sites: own ranges": ("small sites", "FedCMFS", INK, {}, 0.9, "min_rows"),
    "two runs: sums": ("differencing", "Sieve", GREY, {}, 0.9, "min_difference_rows"),
    "two runs: moments": ("differencing", "SSFMLFS", GREY, {"wire": "vectors"}, 0.9, "min_difference_rows"),
    "two runs: bins": ("differencing", "FMLFS", INK, {}, 0.8, "rows_per_column"),
    "two runs: totals": ("differencing", "Sieve", GREY, {"secure": True}, 0.9, "min_difference_rows"),
    "moved ranges": ("chosen requests", "Sieve", GREY, {}, 0.99, ""),
    "moved ranges, labels": ("chosen requests", "FedCMFS", GREY, {"combine": "pooled"}, 0.99, ""),
    "unit vectors": ("chosen requests", "SSFMLFS", GREY, {"wire": "vectors"}, 0.99, "one story"),
    "all correlations": ("chosen requests", "FedCMFS", GREY, {"wire": "tests"}, 0.99, "allow_tests"),
}


@pytest.mark.parametrize("what", READ_WITHOUT_RULES)
def test_without_rules_it_reads_more_than_chance_and_the_servers_own_rows(what):
    attack, name, rows, parameters, least, _ = READ_WITHOUT_RULES[what]
    found = tried(attack, name, rows, "none", **parameters)
    assert found.read is not None, found.verdict
    assert found.read.value >= least, found.verdict
    assert found.beyond_control, found.verdict
    assert found.read.low <= found.read.value <= found.read.high
    assert "reads" in found.verdict


@pytest.mark.parametrize("what", READ_WITHOUT_RULES)
def test_under_the_rules_of_a_site_it_is_refused_by_name_or_reads_nothing_more(what):
    attack, name, rows, parameters, _, rule = READ_WITHOUT_RULES[what]
    found = tried(attack, name, rows, "site", **parameters)
    if rule and found.refused:
        assert found.rule == rule, found.refused
        assert f"refused: {found.rule}" in found.verdict
    assert not found.beyond_control, found.verdict


def test_where_sites_are_large_enough_to_answer_lone_columns_are_held_back():
    free = tried("lone columns", "Sieve", LARGE_SITES, "none")
    assert free.read.value > max(free.control, free.server_alone)
    found = tried("lone columns", "Sieve", LARGE_SITES, "site")
    assert not found.refused
    assert found.read.value == 0.0


def test_a_secure_site_answers_nothing_by_itself():
    for guard in ("none", "site"):
        found = tried("chosen requests", "Sieve", GREY, guard, secure=True)
        assert found.read is None
        assert found.verdict == "refused: totals only"


def test_in_secure_sums_a_small_site_is_lost_among_the_others():
    assert tried("small sites", "Sieve", INK, "none").read.value > 0.9
    assert tried("small sites", "Sieve", INK, "none", secure=True).read.value == 0.0


def test_what_a_method_does_not_send_is_said():
    assert tried("relations", "Sieve", GREY, "none").verdict == "the method sends no relation matrices"
    found = tried("lone columns", "SSFMLFS", GREY, "none", wire="statistics")
    assert found.verdict == "pair sums give rows of 0/1 columns only, and there are none"
