"""Noise on the command line: agreed on by `init`, shown by `join` and `log`, tried by `select`."""

import json

import pytest

from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.deployment.spent_noise import SpentNoise
from fedsieve.privacy import SITE
from fedsieve.privacy.noise import noise_multiplier

RULES = "min_rows = 10\nmin_cohort = 2\n"


@pytest.fixture
def init(fedsieve, tables):
    def call(*more: object):
        named = ("--out", tables["fed"], "--sites", "siteA,siteB", "--min-clients", 2, "--schema", tables["server.csv"])
        rows = ("--labels", "prefix:label_", "--with-keys", "--min-rows", 10)
        return fedsieve("federation", "init", *named, *rows, *more)

    return call


@pytest.fixture
def site(init, tables):
    assert init("--epsilon", 2, "--delta", 1e-7).code == 0
    site = SiteFolder(tables["fed"] / "sites" / "siteA")
    (site.path / "policy.toml").write_text(RULES)
    return site


def words(result) -> str:
    return " ".join(result.out.replace("│", " ").split())


def test_the_agreement_holds_the_promise(site):
    method = site.agreement().method
    assert (method.epsilon, method.delta, method.private) == (2, 1e-7, True)


def test_without_it_nothing_is_private(init, tables):
    assert init().code == 0
    assert not SiteFolder(tables["fed"] / "sites" / "siteA").agreement().method.private


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--epsilon", 0), "Sieve: epsilon must be in [0.01, 100], or None; got 0"),
        (("--epsilon", 1, "--delta", 1), "Sieve: delta must be above 0 and at most 0.01; got 1"),
        (("--epsilon", 1, "--method", "ssfmlfs"), "epsilon: SSFMLFS knows no noise; Sieve does. Leave it out."),
        (("--epsilon", 1, "--method", "fmlfs"), "epsilon: FMLFS knows no noise; Sieve does. Leave it out."),
    ],
)
def test_other_promises_are_refused(init, options, said):
    result = init(*options)
    assert result.code == 2
    assert said in result.message


def test_join_says_what_leaves_and_what_is_left_of_the_budget(fedsieve, site, tables):
    def join():
        return words(fedsieve("federation", "join", site.path, "--data", tables["siteA.csv"]))

    said = join()
    assert "(epsilon 2, delta 1e-07)" in said
    assert "No noisy answer was given yet: all of epsilon 10 is left (max_epsilon)." in said
    SpentNoise(site.ledger).spend("run", "agreement", "digest", noise_multiplier(2.0, 1e-7), SITE)
    assert "1 noisy answer cost epsilon 1.6" in join()


def test_log_says_what_was_spent(fedsieve, site):
    SpentNoise(site.ledger).spend("run", "agreement", "digest", noise_multiplier(2.0, 1e-7), SITE)
    assert "1 noisy answer cost epsilon" in words(fedsieve("federation", "log", site.path))


def test_a_dry_run_shows_noisy_numbers_and_spends_nothing(fedsieve, site, tables):
    result = fedsieve("federation", "join", site.path, "--data", tables["siteA.csv"], "--dry-run")
    assert result.code == 0
    assert (site.path / "dry-run" / "01-ClippedMoments.json").is_file()
    assert not SpentNoise(site.ledger).answers()


def test_select_tries_what_noise_costs_and_shows_nothing_without_noise_beside_it(fedsieve, tables):
    asked = [part for part in tables.select("--epsilon", 5, method="sieve") if part != "--alone"]
    result = fedsieve(*asked)
    assert result.code == 0
    record = json.loads((tables["result"] / "selection.json").read_text())
    assert record["privacy"]["epsilon"] == 5
    assert record["parameters"]["ranges"] == "labeled rows"
    assert "of the say beside the labeled rows" in words(result)
    assert "SSFMLFS" not in result.out


def test_select_has_no_noise_for_the_other_method(fedsieve, tables):
    result = fedsieve(*tables.select("--epsilon", 5))
    assert result.code == 2
    assert "--epsilon: SSFMLFS knows no noise; Sieve does." in result.message
