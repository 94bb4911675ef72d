"""Every declared message is whole: reply, terms, words for people, bytes and back, a sum or why there is none.

The examples are what the methods say when they run, so that a message that no method uses has none.
"""

import ast
import dataclasses
from dataclasses import replace
from functools import cache, reduce
from itertools import permutations, product
from operator import add
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fedsieve
from fedsieve import messages as m
from fedsieve.errors import ProtocolError
from fedsieve.learning.label_models import label_model
from fedsieve.methods import METHODS, SieveMethod, SSFMLFSMethod
from fedsieve.methods.collecting import Collecting
from fedsieve.methods.follow_ups import FOLLOW_UPS
from fedsieve.methods.labeling import Labeling
from fedsieve.protocol import Method, PlainCohort
from fedsieve.transport.codec import decode, encode, encoded_size
from protocol.federation import WIRES, drive, example, labeled, sites
from protocol.supervised import PLANS, supervised_example
from strategies import with_gaps

OURS = [kind for kind in m.REQUESTS.values() if kind.__module__.startswith("fedsieve.")]
REQUESTS = [kind for kind in OURS if not kind.machinery]  # what methods ask; the protocol's own steps are elsewhere
REPLIES = [kind.reply for kind in REQUESTS]
ADDED = [kind for kind in REPLIES if not kind.why_no_sum]
NOT_ADDED = [kind for kind in (*REPLIES, m.Refusal) if kind.why_no_sum]
SOURCES = Path(fedsieve.__file__).parent
RANGES = ("federated", "robust")
WIDE = dict.fromkeys(example().features, (-15.0, 15.0))


@cache
def runs() -> list[tuple[Method, list[tuple[m.Request, dict[str, m.Reply]]]]]:
    """Every method in every wire form, with exact and robust ranges: each request with the replies by client."""
    case, supervised = example(), supervised_example()
    gaps = replace(case, clients={name: with_gaps(rows, seed=1) for name, rows in case.clients.items()})
    narrow = {"screen": 2, "n_features_to_select": 1, "n_trees": 3, "n_bootstraps": 1}
    graphs, with_labels = product(WIRES, RANGES), product(PLANS, RANGES)
    made = [
        *((SSFMLFSMethod(case.features, wire=wire, ranges=how), labeled(case), sites(case)) for wire, how in graphs),
        *((SSFMLFSMethod(case.features, **how), labeled(case), sites(case)) for how in SSFMLFSMethod.together),
        *((SieveMethod(case.features, ranges=how, **narrow), labeled(case), sites(case)) for how in RANGES),
        (SieveMethod(case.features, missing="indicator", **narrow), labeled(gaps), sites(gaps)),
        *((SieveMethod(case.features, ranges=WIDE, n_trees=3), labeled(case), sites(some)) for some in (case, gaps)),
        (SieveMethod(case.features, epsilon=1.0, **narrow), labeled(case), sites(case)),
        *((supervised.plan(name, ranges=how), supervised.rows, supervised.sites) for name, how in with_labels),
    ]
    said = [(method, _said(method, *parties)) for method, *parties in made]
    return [*said, *_followed(supervised)]


def _followed(case):
    """What can follow a run: a model of the labels for all sites, and rows of each by itself."""
    rows, chosen = case.rows, case.features[:2]
    model = label_model("logistic", rows.X[:, :2], rows.Y, np.zeros(2, dtype=bool))
    labeling = Labeling.after(case.plan("FMLFS"), chosen, case.labels, model=model)
    asked = (labeling.scoring(), labeling.counting())
    scored = [(request, {name: request.answer(site) for name, site in case.sites.items()}) for request in asked]
    collecting, sent = Collecting.after(case.plan("FMLFS"), chosen, case.labels), []
    for name, site in case.sites.items():
        steps, replies = collecting.run(rows, PlainCohort((name,))), None
        while True:
            try:
                request = steps.send(replies).request
            except StopIteration:
                break
            replies = {name: request.answer(site)}
            sent.append((request, replies))
    return [(labeling, scored), (collecting, sent)]


def _said(method, rows, clients):
    said = []

    def listen(question, name, reply):
        if not said or said[-1][0] is not question.request:
            said.append((question.request, {}))
        said[-1][1][name] = reply
        return reply

    drive(method, rows, clients, listen)
    return said


def exchanges():
    return [exchange for _, said in runs() for exchange in said]


def examples_of(kind):
    """All messages of this kind that were sent."""
    sent = [message for request, replies in exchanges() for message in (request, *replies.values())]
    return [message for message in sent if type(message) is kind]


def assert_same(first, second, same_array=assert_array_equal):
    assert type(first) is type(second)
    for field in dataclasses.fields(first):
        one, other = getattr(first, field.name), getattr(second, field.name)
        if dataclasses.is_dataclass(one):
            assert_same(one, other, same_array)
        elif isinstance(one, np.ndarray):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            same_array(one, other)
        else:
            assert one == other, field.name


def test_every_method_speaks_here():
    assert {type(method) for method, _ in runs()} == {*METHODS.values(), *FOLLOW_UPS.values()}


@pytest.mark.parametrize("kind", [*REQUESTS, *REPLIES], ids=lambda kind: kind.__name__)
def test_every_message_is_sent_by_some_method_and_survives_as_bytes(kind):
    sent = examples_of(kind)
    assert sent
    for message in sent:
        data = encode(message)
        assert encoded_size(message) == len(data)
        assert_same(decode(data), message)


def test_a_refusal_survives_as_bytes():
    assert_same(decode(encode(m.Refusal("no rows today"))), m.Refusal("no rows today"))


def test_a_message_is_one_file_with_a_request_and_its_reply():
    files = [kind.__module__ for kind in REQUESTS]
    assert len(set(files)) == len(files)
    replies = [kind for kind in m.REPLIES.values() if kind.__module__.startswith("fedsieve.") and kind is not m.Refusal]
    assert [kind.reply for kind in OURS] == replies  # declared together, each for one request
    assert [kind.reply.__module__ for kind in OURS] == [kind.__module__ for kind in OURS]


def test_what_the_protocol_itself_asks_is_in_two_files_of_its_own():
    own = {kind.__module__ for kind in OURS if kind.machinery}
    assert own == {"fedsieve.messages.cells", "fedsieve.messages.secure_sum"}


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
def test_every_request_has_a_reply_and_terms_that_say_what_it_reveals(kind):
    answered = [replies for request, replies in exchanges() if type(request) is kind]
    assert {type(reply) for replies in answered for reply in replies.values()} == {kind.reply}
    agreed = [(terms, said) for method, said in runs() for terms in method.terms() if terms.request is kind]
    assert agreed
    for terms, said in agreed:
        assert isinstance(terms, m.Terms)
        assert len(terms.reveals().split()) > 5  # words, not a name
        for request, replies in said:
            if type(request) is kind:
                terms.check(request)
                for reply in replies.values():
                    terms.check_reply(reply)


def test_the_names_of_messages_are_those_of_the_module():
    for kind in (*REQUESTS, *REPLIES):
        assert getattr(m, kind.__name__) is kind
    with pytest.raises(AttributeError, match="'AskEverything'"):
        m.AskEverything  # noqa: B018


def assert_near(first, second):
    scale = np.abs(first).max(initial=1.0)
    assert_allclose(first, second, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("kind", ADDED, ids=lambda kind: kind.__name__)
def test_replies_add_up_in_any_order_and_grouping(kind):
    several = [
        list(replies.values()) for request, replies in exchanges() if request.reply is kind and len(replies) == 3
    ]
    assert several
    for a, b, c in several:
        total = a + b + c
        assert type(total) is kind
        assert total.n_rows == a.n_rows + b.n_rows + c.n_rows
        assert_same(a + (b + c), total, assert_near)
        for order in permutations((a, b, c)):
            assert_same(reduce(add, order), total, assert_near)


@pytest.mark.parametrize("kind", NOT_ADDED, ids=lambda kind: kind.__name__)
def test_replies_that_do_not_add_up_say_why(kind):
    reply = m.Refusal("no rows today") if kind is m.Refusal else examples_of(kind)[0]
    assert kind.__add__ is m.Reply.__add__
    with pytest.raises(ProtocolError) as refused:
        reply + reply
    assert str(refused.value) == f"{kind.__name__} of several sites cannot be added up: {kind.why_no_sum}"
    assert kind.why_no_sum.endswith(".")


ROOMS = ("transport", "privacy", "protocol", "deployment")
NAMES = {name for kind in (*REQUESTS, *REPLIES) for name in (kind.__name__, kind.__module__)}
FILES = [path for room in ROOMS for path in sorted((SOURCES / room).rglob("*.py"))]


def words_of(source: str) -> set[str]:
    """All that a source names: variables, attributes, imports with their full path, and whole strings."""
    words = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Constant(value=str(word)):
                words.add(word)
            case ast.ImportFrom(module=module, names=names):
                words |= {module, *(name for alias in names for name in (alias.name, f"{module}.{alias.name}"))}
            case ast.Import(names=names):
                words |= {alias.name for alias in names}
    return words


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_nobody_between_a_method_and_a_message_names_one(path):
    """Codec, client, checks, policy and agreement read the registry: a new message is one new file."""
    assert not words_of(path.read_text()) & NAMES


def test_the_rooms_are_there_and_a_named_message_would_be_seen():
    assert {path.relative_to(SOURCES).parts[0] for path in FILES} == set(ROOMS)
    for source in (
        "from fedsieve.messages.ranges import AskRanges",
        "reply = m.AskRanges(columns)",
        "kind == 'AskRanges'",
        "x: m.AskRanges",
        "from fedsieve.messages import ranges",
        "import fedsieve.messages.ranges as r",
    ):
        assert words_of(source) & NAMES
    assert not words_of("from fedsieve.messages import Refusal, Request\nranges = {}") & NAMES


def test_a_second_message_of_one_name_is_refused():
    """On the wire a message is known by its name."""
    with pytest.raises(TypeError, match=r"Ranges is declared already, in fedsieve\.messages\.ranges\."):
        type("Ranges", (m.Reply,), {})
    assert m.REPLIES["Ranges"] is m.Ranges
