"""A run is one story: order, number, what stays the same, who takes part; the same request gets the same bytes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.messages.columns import Bins
from fedsieve.methods import FedCMFSMethod, FMLFSMethod, SieveMethod, SSFMLFSMethod
from fedsieve.privacy import SITE, SiteRules, Story
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.endpoint import Bare, Endpoint
from fedsieve.transport.site_state import TransientState
from policies import LENIENT
from protocol.federation import example, labeled, sites

NAMES = ("a", "b", "c")
COHORT = ("north", "south", "west")
X = np.random.default_rng(0).normal(size=(80, 3))
TABLE = ArrayTable(NAMES, X)
BINS = Bins.of([np.linspace(-3, 3, 9)] * 3)


class Site:
    """An endpoint that is asked in runs of a given name and cohort, and what it said."""

    def __init__(self, method, policy=LENIENT, table=TABLE):
        self.wrapping, self.state = Bare(), TransientState()
        self.endpoint = Endpoint.of_table(table, method, policy, self.wrapping, self.state)

    def ask(self, request, run="run", cohort=COHORT):
        return decode(self.bytes(request, run, cohort))

    def bytes(self, request, run="run", cohort=COHORT):
        self.wrapping.run, self.wrapping.cohort = run, cohort
        return self.endpoint.answer(encode(request))

    def refused(self, request, run="run", cohort=COHORT):
        reply = self.ask(request, run, cohort)
        assert isinstance(reply, m.Refusal), reply
        return reply.reason


def honest(method, table=TABLE, bins=BINS):
    """What an honest server asks of this site alone under robust ranges, in order, without the graph's rounds."""
    columns = method.columns
    first = m.AskHistograms(columns, bins)
    scaling = m.Scaling.robust(bins, first.answer(table).counts)
    if isinstance(method, SieveMethod):
        return [first, m.AskCovariances(columns, scaling)]
    second = m.AskMoments(columns, scaling)
    moments = second.answer(table)
    relation = m.Relation(columns, scaling.told(), moments.deviation / method.lam, method.relation, moments)
    third = m.AskPairSums if method.wire_form == "statistics" else lambda one: m.AskProducts(one, np.ones(3))
    return [first, second, third(relation)]


SIEVE = SieveMethod(NAMES, ranges="robust")
GRAPH = SSFMLFSMethod(NAMES, ranges="robust", wire="statistics")
VECTORS = SSFMLFSMethod(NAMES, ranges="robust", wire="vectors", max_iter=2)
ORDER = "the method asks 'AskHistograms', 'AskMoments', 'AskPairSums' in this order."


@pytest.mark.parametrize("policy", [LENIENT, SITE], ids=["lenient", "site"])
@pytest.mark.parametrize("method", [SIEVE, GRAPH, VECTORS], ids=["Sieve", "statistics", "vectors"])
def test_an_honest_run_is_answered(method, policy):
    site = Site(method, policy)
    for request in honest(method):
        assert type(site.ask(request)) is request.reply


def test_requests_come_in_the_order_of_the_method():
    first, second, third = honest(GRAPH)
    site = Site(GRAPH)
    assert site.refused(second) == f"was asked AskMoments before AskHistograms; {ORDER}"
    assert site.refused(third) == f"was asked AskPairSums before AskHistograms; {ORDER}"
    site.ask(first)
    assert site.refused(third) == f"was asked AskPairSums before AskMoments; {ORDER}"
    site.ask(second)
    site.ask(third)
    again = m.AskMoments(second.columns, second.scaling.told())  # the same ranges in other words
    assert site.refused(again) == f"was asked AskMoments after AskPairSums; {ORDER}"


def test_a_refused_request_is_no_part_of_the_story():
    """Else a slip would end the run, and a dishonest server could pin what was never answered."""
    first, second, third = honest(GRAPH)
    site = Site(GRAPH)
    site.refused(third)
    assert site.state.story("run") == Story()
    for request in (first, second, third):
        assert type(site.ask(request)) is request.reply


def test_no_kind_is_asked_more_often_than_a_run_does():
    first, second = honest(SIEVE)
    site = Site(SIEVE)
    site.ask(first)
    site.ask(second)
    some = m.AskCovariances(second.columns.only("a"), second.scaling.told().only(np.array([0])))
    assert site.refused(some) == "was asked AskCovariances more often than a run of the method does."


def test_the_same_request_gets_the_same_bytes_and_leaves_the_story_as_it_is(monkeypatch):
    site = Site(GRAPH)
    requests = honest(GRAPH)
    before = [site.bytes(request) for request in requests]
    story = site.state.story("run")
    assert [kind for kind, _ in story.asked] == [type(request).__name__ for request in requests]
    monkeypatch.setattr("fedsieve.transport.endpoint.Client", None)  # nothing is computed again
    assert [site.bytes(request) for request in reversed(requests)] == before[::-1]
    assert site.state.story("run") == story


def test_a_run_that_was_interrupted_goes_on():
    """The story was kept, the answer was not: the site died in between."""
    first, second, _ = honest(GRAPH)
    site = Site(GRAPH)
    site.ask(first)
    answer = site.bytes(second)
    site.state._answers.clear()
    assert site.bytes(second) == answer


def assert_goes_on_unless_a_total_was_false(site, request, said):
    """Whether a total holds a site's part is a question about that part: it is answered once per run."""
    if "does not hold" in said:
        assert (
            site.refused(request) == "was told a false total in this run, and answers no more in it. Start a new run."
        )
    else:
        assert type(site.ask(request)) is request.reply


def test_ranges_must_follow_from_the_total_shown():
    first, second, _ = honest(GRAPH)
    scaling = second.scaling
    wrong = {
        "was sent ranges that do not follow from the total of the histograms.": replace(
            scaling, low=scaling.low - 1e-9
        ),
        "was sent counts that do not fit their bins.": replace(scaling, counts=scaling.counts[:-1]),
        "was sent a total of histograms that does not hold its own values.": m.Scaling.robust(
            BINS, np.maximum(scaling.counts - 1, 0)
        ),
        "was not shown where the range of 'a' comes from.": scaling.told(),
        "was told another story than before: bins of 'a' changed.": m.Scaling.robust(
            Bins.of([np.linspace(-3, 3, 9) + 1e-9, *[np.linspace(-3, 3, 9)] * 2]), scaling.counts
        ),
    }
    for said, other in wrong.items():
        site = Site(GRAPH)
        site.ask(first)
        assert site.refused(replace(second, scaling=other)) == said
        assert_goes_on_unless_a_total_was_false(site, second, said)


def test_ranges_stay_those_that_were_shown():
    first, second, third = honest(GRAPH)
    site = Site(GRAPH)
    site.ask(first)
    site.ask(second)
    told = third.relation.scaling
    other = replace(third.relation, scaling=replace(told, high=told.high + np.array([0, 1e-9, 0])))
    assert site.refused(m.AskPairSums(other)) == "was told another story than before: the range of 'b' changed."
    assert type(site.ask(third)) is m.PairSums


def test_the_radius_must_follow_from_the_moments_of_all():
    first, second, third = honest(GRAPH)
    moments, relation = third.relation.moments, third.relation
    less = replace(moments, n_rows=moments.n_rows - 5, count=moments.count - 5)
    wrong = {
        "was sent a radius that does not follow from the total of the moments.": replace(
            relation, radius=relation.radius * (1 + 1e-6)
        ),
        "was not shown where the radius of 'a' comes from.": replace(relation, moments=None),
        "was sent a total of moments that does not hold its own values.": replace(
            relation, moments=less, radius=less.deviation / GRAPH.lam
        ),
        "was sent moments of other columns than those that it is asked about.": replace(
            relation, moments=moments.only(np.array([1, 0, 2]))
        ),
    }
    for said, other in wrong.items():
        site = Site(GRAPH)
        site.ask(first)
        site.ask(second)
        assert site.refused(m.AskPairSums(other)) == said
        assert_goes_on_unless_a_total_was_false(site, third, said)


def test_vectors_are_those_of_pagerank_and_not_more_than_agreed():
    """Unit vectors would give the whole matrix of distances, one line a round."""
    requests = honest(VECTORS)
    site = Site(VECTORS)
    *_, degrees = [site.ask(request) for request in requests]
    weights = np.array([0.2, 0.5, 0.9])
    inflow = degrees.values / 80.0**2
    vector = weights / inflow
    unit, shown = np.array([1.0, 0, 0]), (weights, degrees)
    no_pagerank = "was sent a vector that PageRank does not make of the weights and the last total."
    assert site.refused(m.AskProducts(None, unit, *shown)) == no_pagerank
    assert "without the weights and the last total" in site.refused(m.AskProducts(None, vector))
    assert site.refused(m.AskProducts(None, vector, weights * 2, degrees)) == "was sent weights outside [0, 1]."
    less = replace(degrees, values=degrees.values * 0.9)
    assert "does not hold its own" in site.refused(m.AskProducts(None, weights / (inflow * 0.9), weights, less))


def test_what_was_refused_changes_nothing_of_what_pagerank_goes_on_from():
    requests = honest(VECTORS)
    straight, crooked = Site(VECTORS), Site(VECTORS)
    for site in (straight, crooked):
        for request in requests:
            reply = site.ask(request)
    weights = np.array([0.2, 0.5, 0.9])
    inflated = replace(reply, values=reply.values * 3)
    crooked.refused(m.AskProducts(None, np.array([1.0, 0, 0]), weights, inflated))
    honest_next = m.AskProducts(None, weights / (reply.values / 80.0**2), weights, reply)
    assert type(straight.ask(honest_next)) is m.Products
    assert type(crooked.ask(honest_next)) is m.Products


def test_the_cohort_stays_the_same_and_is_large_enough():
    first, second, _ = honest(GRAPH)
    site = Site(GRAPH)
    site.ask(first)
    for other in (COHORT[:2], (*COHORT, "new"), ()):
        assert site.refused(second, cohort=other) == "was asked for another cohort than at the beginning of the run."
    assert type(site.ask(second)) is m.Moments
    strict = Site(GRAPH, replace(LENIENT, min_cohort=3))
    assert "in a run of 2 sites; its policy asks for 3 (min_cohort)" in strict.refused(first, cohort=COHORT[:2])
    assert type(strict.ask(first)) is m.Histograms


def test_bins_stay_the_same_in_all_runs_under_one_agreement():
    """Ever new bins would find a value step by step, a run for each."""
    first, second, _ = honest(GRAPH)
    other = Bins.of([np.linspace(-3, 3, 9)] * 2 + [np.linspace(-3, 3.5, 9)])
    site = Site(GRAPH)
    site.ask(first, run="one")
    assert site.refused(replace(first, bins=other), run="two") == (
        "was told another story than before: bins of 'c' changed. Under one agreement all runs have the same."
    )
    assert type(site.ask(first, run="two")) is m.Histograms
    assert type(site.ask(second, run="two")) is m.Moments
    assert Site(GRAPH).ask(replace(first, bins=other), run="two").n_rows == 80  # had they been the first ones


def test_ranges_and_radius_may_differ_from_run_to_run():
    """They follow from totals, which change with who takes part."""
    site = Site(GRAPH)
    for run, doubled in (("one", 1), ("two", 2)):
        first, second, _ = honest(GRAPH)
        site.ask(first, run=run)
        counts = second.scaling.counts.copy()
        counts[[0, -1]] += 40 * (doubled - 1)
        assert type(site.ask(replace(second, scaling=m.Scaling.robust(BINS, counts)), run=run)) is m.Moments


@pytest.mark.parametrize(
    ("bins", "said"),
    [
        (Bins.of([np.array([0.0, 1.0])] * 2), "was sent bins that do not fit its 3 columns."),
        (Bins(np.zeros(3), np.ones(3, dtype=np.int64)), "was sent bins that do not fit its 3 columns."),
        (Bins.of([np.array([1.0, 0.0])] * 3), "was sent edges of bins that do not rise, or are no finite numbers."),
        (Bins.of([np.array([0.0, np.inf])] * 3), "was sent edges of bins that do not rise, or are no finite numbers."),
        (Bins.of([np.array([0.0, np.nan])] * 3), "was sent edges of bins that do not rise, or are no finite numbers."),
        (Bins.of([np.arange(2049.0)] * 3), "was sent more than 2048 edges of bins for one column."),
    ],
    ids=["of two columns", "one edge", "falling", "infinite", "not a number", "too many"],
)
def test_what_are_no_bins_is_refused(bins, said):
    assert Site(GRAPH).refused(m.AskHistograms(GRAPH.columns, bins)) == said


def test_a_story_survives_as_plain_values():
    story = Story(COHORT, (("AskRanges", "1"), ("AskMoments", "2")), {"the range of 'a'": "3"})
    assert Story.of(story.plain()) == story
    assert story.holds("2")
    assert not story.holds("3")


@settings(max_examples=10)
@given(
    st.integers(0, 99), st.sampled_from(["statistics", "vectors"]), st.sampled_from(["federated", "robust", "local"])
)
def test_every_honest_run_of_ssfmlfs_is_one_story(seed, wire, ranges):
    case = example(seed)
    method = SSFMLFSMethod(case.features, wire=wire, ranges=ranges, nominal=("f2",), selected_distance=True)
    strict = in_process.select(method, labeled(case), sites(case), policy=LENIENT)
    assert strict.selection.dropped == {}


def test_a_library_keeps_no_story():
    first, second, third = honest(GRAPH)
    policy = replace(LENIENT, keeps_story=False)
    site = Site(GRAPH, policy)
    for request in (third, second, first, second):
        assert type(site.ask(request)) is request.reply


def test_tests_of_fedcmfs_may_be_many_and_information_is_asked_once():
    tests = FedCMFSMethod(NAMES, labels=("y",), wire="tests")
    information = FMLFSMethod(NAMES, labels=("y",))
    assert [terms.most > 1 for terms in tests.terms()] == [True]
    assert [terms.most for terms in information.terms()] == [1, 1]


def test_a_cohort_below_the_least_is_refused_by_the_rules_themselves():
    with pytest.raises(ProtocolError, match="in a run of 1 site; its policy asks for 3"):
        SiteRules(SIEVE, SITE).check_story(honest(SIEVE)[0], "1", ("a",), Story(), {})


def test_a_run_s_name_under_another_method_is_refused():
    site = Site(GRAPH)
    site.ask(honest(GRAPH)[0])
    site.ask(honest(GRAPH)[1])
    other = Endpoint.of_table(TABLE, SIEVE, LENIENT, site.wrapping, site.state)
    reason = decode(other.answer(encode(honest(SIEVE)[1]))).reason
    assert reason == (
        "was asked AskMoments in this run before, under another agreement: the present method asks 'AskHistograms', "
        "'AskMeans', 'AskCovariances'. Start a new run."
    )
