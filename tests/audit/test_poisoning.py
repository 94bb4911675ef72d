"""One liar: how much of the selection it replaces, beside honest rows in its place."""

import numpy as np

from audit_settings import parties, setting
from fedsieve.audit.trials.poisoning import poisoning

RNG = np.random.default_rng(6)
ROWS = parties(np.round(3 * RNG.normal(size=(300, 14))), RNG, n_sites=3)


def test_a_liar_replaces_more_than_honest_rows_in_its_place():
    found = poisoning(setting("SSFMLFS", ROWS, "none", wire="statistics", n_features_to_select=5))
    assert found.unit == "of the top 5"
    assert found.read.value > found.control
    assert found.verdict.startswith("replaces ")
    assert "the worst: " in found.note


def test_sites_that_refuse_end_the_run_before_anybody_can_lie():
    found = poisoning(setting("Sieve", ROWS, "site", ranges="federated"))
    assert found.read is None
    assert found.verdict == "refused: allow_exact_ranges"
