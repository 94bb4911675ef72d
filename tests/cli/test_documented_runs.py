"""The commands that README and docs show are run, page by page, in the order of the page, as they are written.

Its limits: commands of ELSEWHERE are not typed here as the page has them. They wait for other machines, take long, or
ask a network; the test that is named there runs the same command with other words. `datasets info` is run where the
datasets are (FEDSIEVE_DATA). What is no `fedsieve` (make, pip, docker, ...) is held against Makefile, pyproject.toml
and the files of deployment by tests/test_documented_commands.py, and not run.
"""

import os
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from documented_commands import PAGES, ROOT, Command, files_of, shown
from fedsieve.cli import federation

ELSEWHERE = {
    # Servers and sites that wait for each other: real processes, with make test-federation.
    "fedsieve federation serve": "tests/federation/consortium.py",
    "fedsieve federation join": "tests/federation/consortium.py",
    "fedsieve federation run": "tests/federation/consortium.py",
    "fedsieve federation check": "tests/federation/slow/test_real_processes.py",
    "fedsieve federation edge": "tests/federation/slow/test_edge.py",
    "fedsieve federation try": "tests/federation/slow/test_try.py",
    "fedsieve federation collect": "tests/federation/slow/test_after_the_run.py",
    "fedsieve federation label": "tests/federation/slow/test_after_the_run.py",
    "fedsieve federation approve-rows": "tests/federation/slow/test_after_the_run.py",
    "fedsieve federation simulate": "tests/federation/slow/test_simulation.py",
    # Of a federation that has had runs.
    "fedsieve federation approve-cohort": "tests/cli/test_secure.py",
    "fedsieve federation purge": "tests/cli/test_purge.py",
    "fedsieve federation log": "tests/cli/test_log.py",
    "fedsieve rerank fed/": "tests/cli/test_rerank.py",
    "fedsieve rerank result/ -k auto --federation": "tests/cli/test_rerank.py",
    # Long, or by a network.
    "fedsieve audit": "tests/cli/test_audit.py",
    "fedsieve benchmark": "tests/cli/test_benchmark.py",
    "fedsieve datasets fetch": "tests/cli/test_datasets.py",
    "fedsieve demo": "tests/cli/test_demo.py",
    # Members that the page speaks of and does not make.
    "fedsieve federation site fed/ --renew": "tests/cli/test_federation_members.py",
    "fedsieve federation site fed/ --remove": "tests/cli/test_federation_members.py",
    "fedsieve federation site fed/ --approve siteD": "tests/cli/test_federation_members.py",
    "fedsieve federation init --above": "tests/cli/test_edge.py",
    "fedsieve federation unpack edgeA.tar": "tests/attacks/test_planted_files.py",
}
HERE = ("--dry-run", "--init-policy")  # of join: these need no server
MAY_FIND = ("fedsieve check", "fedsieve federation diff")  # exit code 1: something to look at


def elsewhere(command: Command) -> str | None:
    if any(word in command.words for word in HERE):
        return None
    found = [place for start, place in ELSEWHERE.items() if command.line.startswith(start)]
    return found[0] if found else None


def runnable(page: Path) -> list[Command]:
    here = [c for c in shown(page) if c.words[0] == "fedsieve" and not elsewhere(c)]
    return [c for c in here if c.words[1:3] != ["datasets", "info"] or os.environ.get("FEDSIEVE_DATA")]


def test_what_is_not_run_here_is_run_where_it_is_said():
    every = [command for page in PAGES for command in shown(page)]
    for start, place in ELSEWHERE.items():
        assert any(command.line.startswith(start) for command in every), f"nothing shows {start}"
        name = start.split()[2] if start.startswith("fedsieve federation") else start.split()[1]
        text = (ROOT / place).read_text(encoding="utf-8")
        assert f'"{name}"' in text or name.replace("-", "_") in text, (start, place)


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    """Tables of forty columns."""
    folder = tmp_path_factory.mktemp("world")
    rng = np.random.default_rng(0)

    def rows(n: int) -> pd.DataFrame:
        numbers = {f"lab_{i}": rng.normal(size=n).round(3) for i in range(36)}
        codes = {"ward": rng.integers(0, 3, n), "diagnosis": rng.integers(0, 4, n)}
        return pd.DataFrame({"age": rng.integers(20, 90, n), "crp": rng.gamma(2, 5, n).round(1), **codes, **numbers})

    server = rows(80)
    server["label_infection"], server["label_frail"] = (server["crp"] > 10) * 1, (server["age"] > 60) * 1
    for name, table in {"server": server, "new": server, "rows": rows(200)}.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    for name in ("siteA", "siteB", "siteC"):
        table = rows(200)
        table.to_csv(folder / f"{name}.csv", index=False)
        table.to_parquet(folder / f"{name}.parquet")
    shutil.copytree(folder, folder / "trial")
    return folder


def hand_over(folder: Path) -> None:
    """What people send each other: requests to the operator, tars to the sites."""
    for file in [*folder.glob("*/*.request"), *folder.glob("*/sites/*.tar")]:
        shutil.copy(file, folder)


@pytest.mark.full
@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)], ids=lambda page: page.name)
def test_the_commands_of_a_page_run(page, world, fedsieve, tmp_path, monkeypatch):
    shutil.copytree(world, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))  # where completion of the shell is installed
    for code in files_of(page).values():
        exec(code, {})
    for command in before(page):
        call(fedsieve, Command("before", command))
        hand_over(tmp_path)
    for command in runnable(page):
        call(fedsieve, command)
        hand_over(tmp_path)


def call(fedsieve, command: Command) -> None:
    words = command.words
    for word, value in pairwise(words):
        if word == "--out" and words[2] in ("init", "request"):
            shutil.rmtree(value, ignore_errors=True)  # a page may show the same step twice
    if words[1] in ("select", "evaluate", "apply", "rerank"):
        words.append("--force")
    if "--approve" in words:
        words.append("--yes")  # nobody is there to be asked
    found = fedsieve(*words[1:])
    allowed = (0, 1) if command.line.startswith(MAY_FIND) else (0,)
    assert found.code in allowed, f"{command}\n{found.out}{found.err}"


def before(page: Path) -> list[str]:
    """What a page takes for granted: a result, a federation, unless it shows how to make them."""
    lines = [command.line for command in shown(page)]
    select = "fedsieve select --labeled server.csv --labels prefix:label_ --client siteA.csv --client siteB.csv --alone"
    needed = []
    if any("result/" in line for line in lines) and not any("fedsieve select" in line for line in lines):
        needed.append(f"{select} -k 30 --out result/")
    if any(" other/" in line for line in lines):
        needed.append(f"{select} -k 20 --out other/")
    text = " ".join(line for line in lines if line.startswith("fedsieve"))
    if ("fed/" in text and "init" not in text) or "siteA/" in text:
        needed += [
            "fedsieve federation init --out fed/ --sites siteA,siteB,siteC --schema server.csv --labels prefix:label_",
            *(f"fedsieve federation request --name {name} --out {name}/" for name in ("siteA", "siteB", "siteC")),
            "fedsieve federation site fed/ --approve siteA.request --approve siteB.request --approve siteC.request",
            "fedsieve federation unpack siteA.tar siteA/",
        ]
    if " new/" in text:
        needed.append("fedsieve federation unpack siteA.tar new/")
    return needed


def test_all_commands_of_federations_are_shown_somewhere():
    every = " ".join(command.line for page in PAGES for command in shown(page))
    for name in federation.FederationCommands.summaries:
        assert f"fedsieve federation {name}" in every, name
