"""One process: messages are counted as if they traveled, and traveling changes no bit of the result."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fedsieve.methods import SSFMLFSMethod
from fedsieve.protocol import SERVER, Client, bytes_by_kind, federated_selection
from fedsieve.transport import in_process
from fedsieve.transport.codec import decode, encode
from protocol.federation import WIRES, example, labeled, sites
from protocol.supervised import PLANS, supervised_example


def over_the_wire(plan, rows, clients):
    """A runtime in which every request and every reply really becomes bytes and back, answered in reverse order."""
    answering = {name: Client(site) for name, site in clients.items()}
    talk = federated_selection(plan, rows, clients)
    ask, sizes = next(talk), []
    while True:
        replies = {}
        for name in reversed(ask.clients):
            request = encode(ask.request)
            reply = encode(answering[name].answer(decode(request)))
            sizes += [(ask.round, SERVER, name, len(request)), (ask.round, name, SERVER, len(reply))]
            replies[name] = decode(reply)
        try:
            ask = talk.send(replies)
        except StopIteration as finished:
            return finished.value, sizes


def assert_same_bits(plan, rows, clients):
    here = in_process.select(plan, rows, clients)
    there, sizes = over_the_wire(plan, rows, clients)
    for field in dataclasses.fields(here.selection):
        a, b = getattr(here.selection, field.name), getattr(there, field.name)
        assert_array_equal(a, b) if isinstance(a, np.ndarray) else None
        assert isinstance(a, np.ndarray) or a == b
    counted = sorted((e.round, e.sender, e.receiver, e.n_bytes) for e in here.transcript)
    assert counted == sorted(sizes)


@pytest.mark.parametrize("wire", WIRES)
def test_a_runtime_of_bytes_gives_the_same_bits_and_the_transcript_its_sizes(wire):
    case = example()
    assert_same_bits(SSFMLFSMethod(case.features, wire=wire), labeled(case), sites(case))


@pytest.mark.parametrize("name", PLANS)
def test_sites_that_hold_labels_are_no_exception(name):
    case = supervised_example()
    assert_same_bits(case.plan(name), case.rows, case.sites)


def test_the_transcript_says_who_sent_what_and_how_much():
    case = example()
    outcome = in_process.select(SSFMLFSMethod(case.features), labeled(case), sites(case))
    first, second = outcome.transcript[:2]
    assert (first.round, first.sender, first.receiver, first.kind) == (1, "server", "site-0", "AskRangesAndMoments")
    assert (second.sender, second.receiver, second.kind) == ("site-0", "server", "RangesAndMoments")
    assert list(bytes_by_kind(outcome.transcript)) == [
        "AskRangesAndMoments",
        "RangesAndMoments",
        "AskPairSums",
        "PairSums",
    ]


@pytest.mark.parametrize(("wire", "kind", "values"), [("statistics", "PairSums", 21), ("vectors", "Products", 6)])
def test_a_client_sends_as_many_values_as_the_wire_form_says(wire, kind, values):
    case = example()
    outcome = in_process.select(SSFMLFSMethod(case.features, wire=wire), labeled(case), sites(case))
    sizes = [entry.n_bytes for entry in outcome.transcript if entry.kind == kind]
    assert len(sizes) >= len(case.clients)
    assert all(values * 8 < size < values * 8 + 200 for size in sizes)  # the rest is header, names and seal


def test_a_watcher_sees_every_question():
    case = example()
    seen = []
    in_process.select(SSFMLFSMethod(case.features), labeled(case), sites(case), seen.append)
    assert [type(ask.request).__name__ for ask in seen] == ["AskRangesAndMoments", "AskPairSums"]
