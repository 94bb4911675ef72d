"""A site answers what it agreed to and nothing else, whoever asks."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.methods import SSFMLFSMethod
from fedsieve.privacy import SiteRules, what_leaves
from fedsieve.protocol import SERVER, Client
from fedsieve.tables import ArrayTable
from fedsieve.transport import in_process
from policies import LENIENT
from protocol.federation import WIRES, drive, example, labeled, sites
from strategies import federations

FEATURES = ("f0", "f1", "f2")
SETTINGS = {"federated": "federated", "local": "local", "declared": dict.fromkeys(FEATURES, (-9.0, 9.0))}
GRAPH = {"matrices": m.AskRelations, "statistics": m.AskPairSums, "vectors": m.AskProducts}


class Rules(SiteRules):
    """The rules of a site that has none of its own but one."""

    def __init__(self, plan, min_rows=2):
        super().__init__(plan, dataclasses.replace(LENIENT, min_rows=min_rows))
        self.plan = plan
        self.kinds = tuple(terms.request for terms in plan.terms())

    def check(self, request):
        self.check_request(request)


def requests(plan: SSFMLFSMethod, **changes) -> dict[type, m.Request]:
    """One request of every kind under the plan; `changes` are of its columns or its relation."""
    kind, scaling = changes.pop("kind", plan.relation), changes.pop("scaling", None)
    columns = dataclasses.replace(m.Columns(plan.features, plan.nominal, plan.missing), **changes)
    d = len(columns.features)
    ends = {"federated": (np.zeros(d), np.ones(d)), "local": (None, None)}
    scaling = scaling or plan.declared_scaling or m.Scaling(*ends[str(plan.ranges)], str(plan.ranges))
    relation = m.Relation(columns, scaling, np.full(d, 0.1), kind)
    found = [m.AskRanges(columns), m.AskRangesAndMoments(columns), m.AskMoments(columns, scaling)]
    graph = [m.AskRelations(relation), m.AskPairSums(relation), m.AskProducts(relation, np.ones(d))]
    return {type(request): request for request in [*found, *graph]}


def agreed(plan: SSFMLFSMethod) -> set[type]:
    return {m.AskRangesAndMoments if plan.ranges == "federated" else m.AskMoments, GRAPH[plan.wire_form]}


@pytest.mark.parametrize("ranges", SETTINGS)
@pytest.mark.parametrize("wire", [*WIRES, "auto"])
def test_exactly_the_kinds_of_request_that_were_agreed_on_are_answered(wire, ranges):
    policy = Rules(SSFMLFSMethod(FEATURES, wire=wire, ranges=SETTINGS[ranges]))
    assert set(policy.kinds) == agreed(policy.plan)
    for kind, request in requests(policy.plan).items():
        if kind in policy.kinds:
            policy.check(request)
        else:
            with pytest.raises(ProtocolError, match=f"was asked {kind.__name__}, which was not agreed on; agreed: "):
                policy.check(request)


def test_a_product_with_the_relation_of_before_is_part_of_vectors_only():
    again = m.AskProducts(None, np.ones(3))
    Rules(SSFMLFSMethod(FEATURES, wire="vectors")).check(again)
    with pytest.raises(ProtocolError, match="AskProducts, which was not agreed on"):
        Rules(SSFMLFSMethod(FEATURES, wire="statistics")).check(again)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"features": ("f0", "diagnosis")}, "columns that were not agreed on: 'diagnosis'"),
        ({"missing": "unrelated"}, r"in another way than agreed \(nominal, missing\)"),
        ({"nominal": ("f0",)}, r"in another way than agreed \(nominal, missing\)"),
        ({"nominal": ("f1", "f2")}, r"in another way than agreed \(nominal, missing\)"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_other_columns_or_another_way_to_read_them_are_refused_in_every_kind(wire, change, said):
    policy = Rules(SSFMLFSMethod(FEATURES, wire=wire, nominal=("f1",)))
    for kind in policy.kinds:
        policy.check(requests(policy.plan)[kind])
        with pytest.raises(ProtocolError, match=said):
            policy.check(requests(policy.plan, **change)[kind])


def test_codes_may_not_be_read_as_amounts():
    policy = Rules(SSFMLFSMethod(FEATURES, nominal=("f1",)))
    with pytest.raises(ProtocolError, match="in another way than agreed"):
        policy.check(requests(policy.plan, nominal=())[m.AskRangesAndMoments])


OTHER_SCALINGS = {
    "narrower": m.Scaling(np.full(3, -9.0), np.full(3, 1.0), "declared"),
    "none": m.Scaling(None, None, "declared"),
    "half": m.Scaling(None, np.full(3, 9.0), "declared"),
    "of fewer features": m.Scaling(np.full(2, -9.0), np.full(2, 9.0), "declared"),
    "not called declared": m.Scaling(np.full(3, -9.0), np.full(3, 9.0)),
}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("scaling", OTHER_SCALINGS.values(), ids=OTHER_SCALINGS)
def test_another_scaling_than_the_declared_one_is_refused(wire, scaling):
    """With a range of its choice, and the count of clipped values, a server can ask how many rows lie beyond it."""
    policy = Rules(SSFMLFSMethod(FEATURES, wire=wire, ranges=SETTINGS["declared"]))
    for kind in policy.kinds:
        with pytest.raises(ProtocolError, match="to scale its columns by other ranges than agreed"):
            policy.check(requests(policy.plan, scaling=scaling)[kind])


@pytest.mark.parametrize("low", [np.zeros(3), None])
def test_a_scaling_where_each_site_should_use_its_own_is_refused(low):
    policy = Rules(SSFMLFSMethod(FEATURES, ranges="local"))
    for kind in policy.kinds:
        with pytest.raises(ProtocolError, match="to scale its columns by other ranges than agreed"):
            policy.check(requests(policy.plan, scaling=m.Scaling(low, np.ones(3), "local"))[kind])


@pytest.mark.parametrize("wire", WIRES)
def test_federated_ranges_that_clip_a_sites_values_are_the_servers_invention(wire):
    """Exact ranges hold the values of all; declared ones clip, and how often is told."""
    X = np.linspace(0, 1, 30).reshape(10, 3)
    table, ends = ArrayTable(FEATURES, X), (X.min(axis=0), X.max(axis=0))
    inside = X.max(axis=0) - np.array([0, 1e-9, 0])
    for kind in (m.AskMoments, GRAPH[wire]):
        plan = SSFMLFSMethod(FEATURES, wire=wire)
        assert Client(table).answer(requests(plan, scaling=m.Scaling(*ends))[kind]).n_rows == 10
        reply = Client(table).answer(requests(plan, scaling=m.Scaling(ends[0], inside))[kind])
        assert "was sent ranges that do not hold its own values" in reply.reason
        reply = Client(table).answer(requests(plan, scaling=m.Scaling(ends[0], inside, "declared"))[kind])
        assert type(reply) is kind.reply
    declared = m.AskMoments(plan.columns, m.Scaling(ends[0], inside, "declared"))
    assert declared.answer(table).n_clipped == 1


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", ["similarity", "distance"])
def test_another_relation_is_refused(wire, kind):
    other = {"similarity": "distance", "distance": "similarity"}[kind]
    policy = Rules(SSFMLFSMethod(FEATURES, wire=wire, relation=kind))
    policy.check(requests(policy.plan)[GRAPH[wire]])
    with pytest.raises(ProtocolError, match=f"asked for the relation '{other}'; agreed: '{kind}'"):
        policy.check(requests(policy.plan, kind=other)[GRAPH[wire]])


@pytest.mark.parametrize("wire", WIRES)
def test_a_site_of_too_few_rows_answers_nothing(wire):
    policy, case = Rules(SSFMLFSMethod(FEATURES, wire=wire), min_rows=10), example(n_features=3)
    (X,) = (X for X in case.clients.values() if len(X) == 10)
    for kind in policy.kinds:
        request = requests(policy.plan, scaling=m.Scaling(X.min(axis=0), X.max(axis=0)))[kind]
        policy.check_reply(request, Client(ArrayTable(FEATURES, X)).answer(request))
        with pytest.raises(ProtocolError, match=r"^has 9 rows; its rules ask for 10 \(min_rows\): "):
            policy.check_reply(request, Client(ArrayTable(FEATURES, X[:9])).answer(request))


@settings(max_examples=20)
@given(federations(), st.sampled_from(WIRES), st.sampled_from(["federated", "local", "declared"]), st.data())
def test_all_that_an_honest_server_asks_is_within_the_agreement(case, wire, ranges, data):
    nominal = data.draw(st.sets(st.sampled_from(case.features)))
    plan = SSFMLFSMethod(
        case.features,
        wire=wire,
        ranges=dict.fromkeys(case.features, (0.0, 1.0)) if ranges == "declared" else ranges,
        nominal=tuple(nominal),
        relation=data.draw(st.sampled_from(["distance", "similarity"])),
        constant=data.draw(st.sampled_from(["last", "keep"])),
        missing=data.draw(st.sampled_from(["error", "unrelated"])),
    )
    policy = Rules(plan, min_rows=2)
    in_process.select(plan, labeled(case), sites(case), watch=lambda ask: policy.check(ask.request), policy=LENIENT)


def test_constant_features_are_left_out_of_the_graph_and_that_is_within_the_agreement():
    case = example()
    for table in (*case.clients.values(), case.X):
        table[:, 3] = 5.0
        table[:, 1] = 1.0
    plan = SSFMLFSMethod(case.features, nominal=("f1", "f2"), wire="vectors")
    _, asked = drive(plan, labeled(case), sites(case))
    assert any(len(getattr(ask.request, "vector", case.features)) == 4 for ask in asked)
    for ask in asked:
        Rules(plan).check(ask.request)


@pytest.mark.parametrize("ranges", SETTINGS)
@pytest.mark.parametrize("wire", WIRES)
def test_what_is_said_to_leave_a_site_is_what_leaves_it(wire, ranges):
    case = example(n_features=3)
    plan = SSFMLFSMethod(FEATURES, wire=wire, ranges=SETTINGS[ranges])
    transcript = in_process.select(plan, labeled(case), sites(case)).transcript
    left = list(dict.fromkeys(entry.kind for entry in transcript if entry.sender != SERVER))
    assert [kind for kind, _ in what_leaves(plan)] == left
    n_products = len({entry.round for entry in transcript if entry.kind == "Products"})
    assert n_products <= plan.max_iter + 1


def test_the_number_of_rounds_that_a_site_is_told_is_kept_when_the_iteration_is_slow():
    case = example()
    plan = SSFMLFSMethod(case.features, wire="vectors", max_iter=500, tol=1e-15, damping=0.9)
    transcript = in_process.select(plan, labeled(case), sites(case)).transcript
    n_products = len({entry.round for entry in transcript if entry.kind == "Products"})
    assert f"at most {plan.max_iter + 1} rounds" in what_leaves(plan)[-1][1]
    assert 20 < n_products <= plan.max_iter + 1
