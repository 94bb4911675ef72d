"""Two edge servers with two sites each, and one server above them, as real processes: the order of four sites on one.

Each edge server has a SuperLink and keys of its own. One test, since every process counts: what is looked at is what
they left behind.
"""

import json

import pytest

from federation.consortium import RUN_SECONDS, START_SECONDS, Consortium
from federation.processes import wait_until
from fedsieve.deployment.consent import ConsentRecord
from fedsieve.deployment.runs import RunFolder
from fedsieve.deployment.unpacking import unpack
from fedsieve.deployment.what_left import WhatLeft
from fedsieve.transport.flower.engine import free_port
from policies import write_rules

pytestmark = pytest.mark.federation

GROUPS = {"edgeA": ("siteA", "siteB"), "edgeB": ("siteC", "siteD")}
SITES = tuple(name for names in GROUPS.values() for name in names)


class EdgeConsortium(Consortium):
    """The server above, whose members are edge servers, and the folders of all below them."""

    def __init__(self, folder):
        super().__init__(folder, ",".join(SITES))
        self.names = tuple(GROUPS)  # members of the federation above; the tables are those of the sites

    def below(self, edge):
        return self.folder / f"{edge}-sites"

    def make_below(self):
        """Each edge server makes a federation of its own from the agreement that it was handed."""
        for edge, sites in GROUPS.items():
            self.call("init", "--above", self.site(edge), "--out", self.below(edge), "--sites", ",".join(sites),
                      "--address", f"127.0.0.1:{free_port()}", "--min-clients", 2, "--min-rows", 10,
                      "--with-keys")  # fmt: skip
            for site in sites:
                place = self.site(site)
                unpack(self.below(edge) / "sites" / f"{site}.tar", place)
                write_rules(place)

    @staticmethod
    def wait_for(file):
        """A result is passed on after the edge server has taken it."""
        wait_until(file.is_file, START_SECONDS, str(file))

    def start_edges(self):
        edges = {name: self.start_edge(name) for name in GROUPS}
        for command in edges.values():
            command.says("is connected to", START_SECONDS)
        return edges

    def start_edge(self, name):
        return self.fedsieve("edge", self.site(name), "--below", self.below(name), "--yes", party=name)

    def join_below(self):
        joins = {name: self.join(name, ready=False) for name in SITES}
        for command in joins.values():
            command.says("is connected to", START_SECONDS)
        return joins


def test_two_edge_servers_with_two_sites_each_give_the_order_of_four_sites_on_one_server(tmp_path):
    made = EdgeConsortium(tmp_path).init("--max-sites-per-client", 2)
    with made as consortium:
        consortium.make_below()
        server, edges = consortium.serve(), consortium.start_edges()
        joins = consortium.join_below()
        run = consortium.run()
        record, expected = run.result(RUN_SECONDS), consortium.expected()
        assert record["order"] == expected["order"]
        for key in ("scores", "relevance"):
            assert record[key] == pytest.approx(expected[key], abs=1e-9, rel=0), key
        assert record["dropped"] == {}
        assert record["n_rows"] == {"edgeA": 24, "edgeB": 24}
        name = run.folder.id
        the_result_reaches_every_site(consortium, name, record["order"])
        above_nobody_hears_of_a_site(consortium, name)
        a_site_was_told_where_totals_go(joins["siteA"].text)
        status = consortium.call("status", consortium.below("edgeA")).text
        assert "has its result, round 2" in status
        refused = consortium.call("run", consortium.below("edgeA"), code=2)
        assert "is an edge server's, and 'run' is for the server of 'fed' above it" in refused.message

        killed = edges["edgeB"]
        killed.kill_all()  # with its SuperLink; its sites stay, and come back by themselves
        again = consortium.start_edge("edgeB")
        again.says("is connected to", 2 * START_SECONDS)
        second = consortium.run("--wait", 120, out="again").result(2 * RUN_SECONDS)
        assert second["order"] == expected["order"]
        assert second["n_rows"] == record["n_rows"]

        ended = [command.end() for command in (*joins.values(), edges["edgeA"], again, server)]
        assert ended == [0] * len(ended)
        assert consortium.pids() == []
        for edge in GROUPS:
            assert not (consortium.site(edge) / "prepared").exists()


def the_result_reaches_every_site(consortium, name, order):
    for site in (*GROUPS, *SITES):
        file = consortium.site(site) / "results" / name / "selection.json"
        consortium.wait_for(file)
        assert json.loads(file.read_text())["order"] == order


def above_nobody_hears_of_a_site(consortium, name):
    """What left an edge server is of the rows of both its sites; what each site told stays there, until the result."""
    for edge in GROUPS:
        left = WhatLeft(consortium.site(edge)).chain.entries()
        assert [entry["rows"] for entry in left] == [24, 24]
        (consent,) = ConsentRecord(consortium.site(edge)).chain.entries()
        assert (consent["what"], consent["table"]["file"]) == ("joined", f"2 sites of {edge}-sites")
        below = RunFolder(consortium.below(edge) / "server" / "runs" / name)
        consortium.wait_for(below.path / "selection.json")
        assert below.settings()["sites"] == list(GROUPS[edge])
    events = (consortium.fed / "server" / "runs" / name / "events.jsonl").read_text()
    assert not [site for site in SITES if site in events]


def a_site_was_told_where_totals_go(text):
    words = " ".join(text.split())
    assert "'edgeA-sites' is an edge server: it sees this site's own answers" in words
    assert "go on to federation 'fed' (agreement" in words
