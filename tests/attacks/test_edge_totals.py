"""A server above that subtracts: totals of an edge server over three sites and over two give the third one's counts."""

from dataclasses import replace

from numpy.testing import assert_array_equal

from fedsieve import messages as m
from fedsieve.deployment.runs import labeled_for_runs
from fedsieve.deployment.told_cohorts import ToldCohorts
from fedsieve.privacy import SITE
from fedsieve.transport.checkpoint import _Round
from fedsieve.transport.flower.local_grid import LocalGrid
from policies import LENIENT
from protocol.federation import example, sites
from transport.edges import two_levels


def counts(made):
    """The histograms that the server above is told of the sites below edge-0, in a run; or why it is told none."""
    run = made.start_run()
    run.keep_replies()
    made.run(run)
    reply = _Round.read(run.kept_file(1))._answer("edge-0").reply
    return getattr(reply, "counts", None), getattr(reply, "reason", ""), run.id


def attacked(tmp_path, least):
    """A run with all sites, and one for which the last site below edge-0 is not there."""
    made = two_levels(
        tmp_path,
        example(n_clients=6),
        ranges="robust",
        policy=replace(LENIENT, min_difference_sites=least),
        rounds={"on_bad_client": "drop"},
    )
    whole = counts(made)
    nodes = made.grids["edge-0"]._nodes
    made.start("edge-0", LocalGrid({number: nodes[number] for number in (1, 2)}))
    return made, whole, counts(made)


def test_without_the_rule_the_difference_of_two_totals_is_one_site(tmp_path):
    made, (whole, _, _), (fewer, _, _) = attacked(tmp_path, least=0)
    agreement = made.top.agreement()
    bins = labeled_for_runs(made.top, agreement.method, agreement.fingerprint).bins
    request = m.AskHistograms(agreement.method.columns, bins)
    assert_array_equal(whole - fewer, request.answer(sites(made.case)["site-4"]).counts)


def test_by_default_the_edge_server_refuses_the_second_total_until_somebody_approves(tmp_path):
    made, (_, _, first), (fewer, reason, _) = attacked(tmp_path, SITE.min_difference_sites)
    assert fewer is None
    assert reason == (
        f"an edge server: with the totals of earlier runs ({first!r}), totals over these sites give the sums of "
        "'site-4' alone, by subtraction; its policy asks for 2 sites or none (min_difference_sites). Wait for all "
        "sites of then, or approve it at the edge server: fedsieve federation approve-cohort FOLDER --sites "
        "site-0,site-2 --below FED"
    )
    ToldCohorts(made.top.site("edge-0").ledger).approve(["site-0", "site-2"])
    assert counts(made)[0] is not None
