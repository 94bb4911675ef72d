"""An operator of secure sums with two agreements, with many cohorts, and after a site left: sites that joined refuse.

Each attack was first carried out: the first two gave the second moments of one small site exactly.
"""

from dataclasses import replace

import numpy as np
import pytest

from attacks.joined_sums import FEATURES, JoinedSums
from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.ledger import Ledger
from fedsieve.deployment.told_cohorts import ToldCohort, ToldCohorts
from fedsieve.errors import ProtocolError
from fedsieve.messages import AskCovariances, Columns, Refusal, Scaling
from fedsieve.messages.columns import DECLARED, square
from fedsieve.messages.secure_sum import AskKeys, Keys
from fedsieve.privacy import SITE
from fedsieve.privacy.secure_sum.cohort import n_sums

COLUMNS = Columns(FEATURES, (), "mean")
MOMENTS = AskCovariances(COLUMNS, Scaling(np.zeros(len(FEATURES)), np.ones(len(FEATURES)), DECLARED))


def rows_of(names, small, n_small=10):
    rng = np.random.default_rng(1)
    sizes = {name: n_small if name == small else 60 for name in names}
    return {name: (rng.random((n, len(FEATURES))) < 0.4).astype(float) for name, n in sizes.items()}


def second_moments(total):
    return square(total.upper, len(FEATURES))


def own_moments(rows):
    return (rows - 0.5).T @ (rows - 0.5)


def ask_keys(sums, run, name, cohort):
    return sums.ask(run, name, AskKeys(tuple(cohort), n_sums(sums.server.agreement().method)), cohort)


# Two agreements with the same members.

FIVE = tuple(f"site{letter}" for letter in "ABCDE")


def victim_among_constants(sums):
    """The victim's second moments: of the others' columns, constant 0, each row counts a quarter."""
    _, total = sums.totals("run-1", FIVE, MOMENTS)
    return second_moments(total) - (total.n_rows - len(sums.rows["siteC"])) / 4


def test_sites_that_hold_another_agreement_are_in_no_sum_with_this_one(tmp_path):
    """With a `min_cell` beyond all rows the others would answer constants."""
    sums = JoinedSums(tmp_path, rows_of(FIVE, "siteC"))
    sums.another_agreement([name for name in FIVE if name != "siteC"], min_cell=400)
    refusal = "siteC was sent keys that 'siteA' did not sign for this run, cohort and agreement"
    with pytest.raises(ProtocolError, match=f"^AskShares: .*{refusal}"):
        assert not np.allclose(victim_among_constants(sums), own_moments(sums.rows["siteC"]))


def test_a_run_goes_on_under_the_agreement_that_it_began_with(tmp_path):
    sums = JoinedSums(tmp_path, rows_of(FIVE, "siteC"))
    assert isinstance(ask_keys(sums, "run-1", "siteA", FIVE), Keys)
    sums.another_agreement(["siteA"], min_cell=400)
    said = ask_keys(sums, "run-1", "siteA", FIVE).reason
    assert said == "the run began under another agreement than it holds now. Start a new run."


# Cohorts that tell of one site only all together.

SEVEN = tuple(f"site{letter}" for letter in "ABCDEFG")
A, B, C = SEVEN[:3]


def without(*gone):
    return tuple(name for name in SEVEN if name not in gone)


PAIRS = (SEVEN, without(A, B), without(B, C), without(A, C))


def one_of_three_pairs(sums):
    """(AB + AC - BC) / 2 is A's, though each two cohorts differ by two sites and more."""
    everyone, *fewer = (second_moments(sums.totals(f"run-{i}", cohort, MOMENTS)[1]) for i, cohort in enumerate(PAIRS))
    ab, bc, ac = (everyone - total for total in fewer)
    return (ab + ac - bc) / 2


@pytest.mark.full
def test_cohorts_that_differ_by_two_sites_tell_of_one_site_together(tmp_path):
    sums = JoinedSums(tmp_path, rows_of(SEVEN, A))
    with pytest.raises(ProtocolError, match=r"^AskKeys: .*siteD with the totals of earlier runs"):
        assert not np.allclose(one_of_three_pairs(sums), own_moments(sums.rows[A]))


def test_a_site_asks_what_all_its_runs_tell_together(tmp_path):
    sums = JoinedSums(tmp_path, rows_of(SEVEN, A))
    site = sums.server.site("siteD")
    cohorts, rows = ToldCohorts(site.ledger), Ledger(site.ledger).digest(site.rows())
    for i, cohort in enumerate(PAIRS[:3]):
        assert isinstance(ask_keys(sums, f"run-{i}", "siteD", cohort), Keys)
        cohorts.keep(ToldCohort(f"run-{i}", cohort, rows, "second moments"))
    reason = ask_keys(sums, "run-3", "siteD", PAIRS[3]).reason
    assert "with the totals of earlier runs ('run-0', 'run-1', 'run-2'), totals over these sites give" in reason
    assert f"the sums of {A!r} alone" in reason
    assert "approve-cohort FOLDER --sites siteB,siteD,siteE,siteF,siteG" in reason
    cohorts.approve(PAIRS[3])
    assert isinstance(ask_keys(sums, "run-3", "siteD", PAIRS[3]), Keys)
    assert len(Ledger(site.ledger).runs()) == 4  # a run that is refused does not count


# What a site answers before it counts a run, and after it left.


def test_keys_are_counted_as_a_run_and_need_consent(tmp_path):
    sums = JoinedSums(tmp_path, rows_of(FIVE, "siteC"), policy=replace(SITE, max_runs_per_day=3))
    replies = [ask_keys(sums, f"run-{i}", "siteA", FIVE) for i in range(5)]
    assert [isinstance(reply, Keys) for reply in replies] == [True, True, True, False, False]
    assert "its policy allows 3 (max_runs_per_day)" in replies[-1].reason
    ConsentRecord(sums.server.site("siteB").path).leave("gone")
    assert ask_keys(sums, "run-1", "siteB", FIVE).reason == "nobody consents at present. It must join again."
    assert not (sums.server.site("siteB").prepared / "sums").exists()


def test_a_site_that_left_answers_no_step_of_a_run_that_it_began(tmp_path):
    sums, refused = JoinedSums(tmp_path, rows_of(FIVE, "siteC")), {}

    def leaves_and_comes_back(name, request):
        if name == "siteC":
            record = ConsentRecord(sums.server.site(name).path)
            record.leave("gone")
            refused[type(request).__name__] = sums.ask("run-1", name, request, FIVE)
            sums.join(name)
        return False

    sums.lost = leaves_and_comes_back
    sums.totals("run-1", FIVE)
    assert list(refused) == ["AskKeys", "AskShares", "AskMasked", "AskSignature", "AskUnmasking"]
    assert {reply.reason for reply in refused.values()} == {"nobody consents at present. It must join again."}


def test_secrets_of_a_run_that_nobody_goes_on_with_are_removed_when_the_next_begins(tmp_path):
    sums = JoinedSums(tmp_path, rows_of(FIVE, "siteC"))
    for run in ("run-1", "run-2"):
        assert isinstance(ask_keys(sums, run, "siteA", FIVE), Keys)
    assert [vault.name for vault in (sums.server.site("siteA").prepared / "sums").iterdir()] == ["run-2"]
    said = ask_keys(sums, "run-1", "siteA", FIVE)
    assert isinstance(said, Refusal)
    assert said.reason.startswith("has begun a later run of secure sums since this one, and answers no more in it.")
