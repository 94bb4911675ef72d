"""No value of a row appears in a log, a run's story or a reason, whatever happens; a site loads only its own code."""

import json
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from fedsieve.protocol import Client
from fedsieve.transport.flower.client_app import app as client_app
from fedsieve.transport.flower.local_grid import site_node
from protocol.federation import WIRES
from transport.flower.consortium import forge

UNIT = 123456.789


@pytest.fixture
def marked(consortium):
    """A federation whose values are recognized anywhere."""
    rng = np.random.default_rng(5)
    for table in (*consortium.case.clients.values(), consortium.case.X):
        table[:] = rng.integers(1, 40, table.shape) * UNIT
    consortium.agree()
    return consortium


def leaks(consortium, *texts):
    """The values of rows, and their roundings, that are found in any log or text."""
    said = "\n".join([consortium.logs(), *texts])
    numbers = {number.rstrip("0.") for number in re.findall(r"\d+\.\d+|\d{5,}", said)}
    tables = [*consortium.case.clients.values(), consortium.case.X]
    values = {value for table in tables for value in table.ravel().tolist() if value == value}
    forms = {form for value in values for form in (repr(value), f"{value:.0f}", f"{value:.1f}", f"{value:.6g}")}
    return {form for form in forms if form.rstrip("0.") in numbers}


@pytest.mark.parametrize("level", ["debug", "info"])
@pytest.mark.parametrize("wire", WIRES)
def test_an_undisturbed_run_tells_no_value(marked, wire, level):
    marked.agree(parameters={"wire": wire, "tol": 1e-2})
    places = (marked.folder.server, *(marked.folder.site(name).path for name in marked.case.clients))
    for place in places:
        (place / "log.json").write_text(json.dumps({"file": str(place / "fedsieve.log"), "level": level}))
    run = marked.lead()
    assert run.result() is not None
    assert leaks(marked, (run.path / "selection.json").read_text()) == set()
    assert leaks(marked, f"the largest is {marked.case.X.max()}")  # such a value would be found


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e305])
def test_a_refusal_because_of_a_value_names_the_column_and_no_value(marked, bad):
    marked.case.clients["site-1"][3, 2] = bad
    marked.agree()
    run = marked.lead()
    assert "in column 'f2'" in run.result()["dropped"]["site-1"]
    assert leaks(marked, (run.path / "selection.json").read_text()) == set()
    assert "1e+305" not in marked.logs()


def test_an_unexpected_error_at_a_site_tells_its_kind_only(marked, monkeypatch):
    def broken(*_):
        raise ValueError(f"cannot relate {marked.case.clients['site-1'].tolist()}")

    answer = Client.answer
    ours = marked.folder.site("site-1").path
    node = site_node(client_app, ours, 2)

    def one_broken(message):
        with monkeypatch.context() as patched:
            patched.setattr(Client, "answer", broken)
            return node(message)

    marked.nodes["site-1"] = one_broken
    run = marked.lead()
    assert Client.answer is answer
    assert run.result()["dropped"]["site-1"] == "failed with ValueError; see the site's log."
    assert "failed: ValueError" in (ours / "fedsieve.log").read_text()
    assert leaks(marked, (run.path / "selection.json").read_text()) == set()


def test_an_error_that_ends_a_sites_process_tells_its_kind_only(marked):
    def node(_message):
        raise ValueError(f"cannot read {marked.case.clients['site-1'].tolist()}")

    honest = marked.nodes["site-1"]
    marked.nodes["site-1"] = lambda message: honest(message) if message.metadata.group_id == "0" else node(message)
    run = marked.lead()
    assert "its process failed" in run.result()["dropped"]["site-1"]
    assert leaks(marked, (run.path / "selection.json").read_text()) == set()


def test_a_forged_reply_is_refused_without_telling_its_content(marked):
    forge(marked, "site-1", "AskRangesAndMoments", lambda genuine: genuine, key=marked.key("site-2"))
    run = marked.lead()
    assert list(run.result()["dropped"]) == ["site-1"]
    assert leaks(marked) == set()


def test_an_unexpected_error_at_the_server_tells_no_value(marked, monkeypatch):
    def broken(*_):
        raise ValueError(f"cannot relate {marked.case.X.tolist()}")

    monkeypatch.setattr("fedsieve.transport.flower.server_app.drive", broken)
    with pytest.raises(ValueError, match="cannot relate"):
        marked.lead()
    assert leaks(marked) == set()


def fresh_process(code):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


HEAVY = ["sklearn", "pandas", "polars", "pyarrow", "scipy", "numba", "matplotlib", "ray"]


def test_a_sites_process_loads_the_engine_and_its_own_rooms_only(consortium):
    seen = fresh_process(
        f"""
        import json, sys
        import flwr.clientapp
        engine = set(sys.modules)
        import fedsieve.transport.flower.client_app
        from pathlib import Path
        from fedsieve import messages as m
        from fedsieve.deployment import keys
        from fedsieve.deployment.site_folder import SiteFolder
        from fedsieve.transport.codec import decode, encode
        from fedsieve.transport.envelope import unseal
        from fedsieve.transport.operator import Operator
        from fedsieve.transport.site import JoinedSite
        loaded = set(sys.modules) - engine
        folder = SiteFolder(Path({str(consortium.folder.site("site-0").path)!r}))
        agreement = folder.agreement()
        ask = encode(m.AskRangesAndMoments(m.Columns(agreement.method.features, (), "error")))
        operator = keys.read_private_key(Path({str(consortium.folder.server / "operator.key")!r}))
        letter = Operator("r", agreement.fingerprint, operator, {{}}, 1).seal(1, "site-0", ask, cohort=["site-0"])
        answer = unseal(JoinedSite(folder).answer(letter), {{"site-0": keys.read_public_key(folder.path / "site.pub")}})
        reply = decode(answer.payload)
        heavy = [name for name in {HEAVY!r} if name in sys.modules]
        screens = [name for name in ("typer", "rich") if name in loaded]
        rooms = sorted({{name.split(".")[1] for name in sys.modules if name.startswith("fedsieve.")}})
        print(json.dumps([type(reply).__name__, reply.n_rows, heavy, screens, rooms]))
        """
    )
    kind, n_rows, heavy, screens, rooms = seen
    assert (kind, n_rows) == ("RangesAndMoments", 10)
    assert heavy == []
    assert screens == []
    assert not {"cli", "report", "experiments", "catalog", "rivals", "selectors", "learning", "datasets"} & set(rooms)


def test_a_servers_process_loads_no_tables_no_estimators_and_no_figures_before_it_is_asked():
    code = f"""
        import json, sys
        import fedsieve.transport.flower.server_app
        print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))
        """
    assert fresh_process(code) == []
