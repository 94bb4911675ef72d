"""The live view as people meet it: in a browser, beside a real server and three real sites that run a selection."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.conftest import PATIENCE
from federation.consortium import RUN_SECONDS, Consortium
from federation.processes import Command, wait_until

pytestmark = pytest.mark.browser
WIDTHS = {"phone": 390, "tablet": 820, "desktop": 1400}
NEVER = "min_rows = 1000\n"


class Federation:
    """A server and three sites with their views, all of them real processes; at the third, a rule that refuses."""

    def __init__(self, folder: Path) -> None:
        self.consortium = Consortium(folder)

    def start(self) -> None:
        self.consortium.init()
        self.server = self.consortium.serve("--dashboard")
        self.joins = self.consortium.join_all("--dashboard")

    def address(self, place: Path) -> str:
        return (place / "dashboard.url").read_text(encoding="utf-8").strip()

    @property
    def of_server(self) -> str:
        return self.address(self.consortium.fed / "server")

    def of_site(self, name: str) -> str:
        return self.address(self.consortium.site(name))


@pytest.fixture(scope="module")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Federation]:
    made = Federation(tmp_path_factory.mktemp("live"))
    with made.consortium:
        made.start()
        yield made


def cells(page: Any, section: str, column: int) -> list[str]:
    return page.locator(f"#{section} tbody tr > :nth-child({column})").all_text_contents()


def says(page: Any, selector: str, words: str) -> None:
    """Wait until a part of the page says so, without its being loaded again."""
    page.locator(selector, has_text=words).first.wait_for()


def end_run(run: Any) -> None:
    code = run.command.wait(RUN_SECONDS)
    assert code == 0, run.command.text


def test_a_federation_is_watched_while_it_runs(federation, visit, axe, tmp_path_factory):
    consortium, shots = federation.consortium, tmp_path_factory.mktemp("shots")
    page = visit(federation.of_server)
    says(page, "#answer", "3 of 3 sites are online. No run yet.")
    assert cells(page, "sites", 1) == ["siteA", "siteB", "siteC"]
    first = consortium.run()
    says(page, "#answer", "A run is in round")
    says(page, "#events", "round 1:")
    says(page, "#sites", "was asked round")
    says(page, "#runs", "running")
    end_run(first)
    says(page, "#answer", "has ended well and chose")
    assert all(cell != "0 B" for cell in cells(page, "sites", 5))
    assert cells(page, "sites", 3) == ["has the result"] * 3

    own = visit(federation.of_site("siteC"))
    says(own, "#answer", "siteC takes part")
    says(own, "#consent", "consented on")
    n_left = len(cells(own, "messages", 1))
    assert n_left >= 2
    (consortium.site("siteC") / "policy.toml").write_text(NEVER, encoding="utf-8")
    says(own, "#policy", "1000")
    second = consortium.run(out="second")
    end_run(second)
    says(page, "#refusals", "siteC")
    says(page, "#refusals", "min_rows")
    says(own, "#messages", "min_rows")
    assert len(cells(own, "messages", 1)) > n_left

    for name, one in (("server", federation.of_server), ("site", federation.of_site("siteC"))):
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                seen = visit(one, width=WIDTHS[width], scheme=scheme)
                assert seen.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width], (name, width)
                for mark in seen.locator(".state").all():
                    assert mark.bounding_box()["height"] < 30, "a dot stands apart from its word"
                seen.screenshot(path=shots / f"{name}-{width}-{scheme}.png", full_page=True)
                seen.evaluate(axe)
                found = seen.evaluate("axe.run()")["violations"]
                assert not [(one["id"], [node["html"] for node in one["nodes"]]) for one in found], (
                    name,
                    width,
                    scheme,
                )


def test_reports_open_from_both_views(federation, visit):
    for address in (federation.of_server, federation.of_site("siteA")):
        page = visit(address)
        says(page, "#runs", "report")
        page.locator("#runs a").last.click()
        page.wait_for_selector("html[data-ready]", state="attached")
        assert "chose" in page.locator("#answer").text_content()
        assert page.locator("#score-curve .drawing svg").count() == 1
        assert page.evaluate("document.referrer") == ""
        assert page.evaluate("self.origin") == "null"  # kept from the address of the view


def test_the_secret_is_in_no_log_and_dies_with_the_server(federation, chromium):
    consortium = federation.consortium
    secrets = [
        federation.of_server.split("/")[3],
        *(federation.of_site(name).split("/")[3] for name in consortium.names),
    ]
    assert len(set(secrets)) == 4
    for file in consortium.log_files():
        text = file.read_text(encoding="utf-8", errors="replace")
        assert not [secret for secret in secrets if secret in text], file
    processes = [Path(f"/proc/{pid}/{part}") for pid in consortium.pids() for part in ("cmdline", "environ")]
    for file in processes:
        try:
            content = file.read_bytes()
        except OSError:
            continue
        assert not [secret for secret in secrets if secret.encode() in content], file
    context = chromium.new_context()  # one that may complain: the server goes away
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(federation.of_server)
    says(page, "#link", "live")
    server: Command = federation.server
    assert server.end() == 0, server.text
    says(page, "#link", "lost")
    context.close()
    assert not (consortium.fed / "server" / "dashboard.url").exists()
    wait_until(lambda: not consortium.pids("server"), 30, "the end of the server's processes")
