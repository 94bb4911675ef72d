"""A real browser, and pages of made-up results in it. Whatever a page logs or asks for fails its test."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fedsieve.report.page import render_page

ROOT = Path(__file__).parents[2]
PATIENCE = 240_000  # milliseconds: the machine may be busy


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The system's browser, not one that a package would download."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    assert path is not None, "there is no chromium; 'make test-browser' installs it"
    with sync_playwright() as playwright:
        # Tests run as root, where the sandbox cannot; the pages are our own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Open an address; at the end its page must have logged nothing, and asked for nothing but what begins with it."""
    contexts, troubles = [], []

    def opened(address: str, *, width: int = 1280, scheme: str = "light") -> Any:
        own = ("data:", "blob:", address)
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("request", lambda asked: None if asked.url.startswith(own) else troubles.append(asked.url))
        page.goto(address)
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not troubles


@pytest.fixture
def show(visit: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Open the page of a summary."""

    def shown(summary: dict[str, Any], **how: Any) -> Any:
        file = tmp_path / f"page-{len(list(tmp_path.glob('page-*')))}.html"
        file.write_text(render_page(summary), encoding="utf-8")
        return visit(file.as_uri(), **how)

    return shown


@pytest.fixture(scope="session")
def axe() -> str:
    """The script that finds what keeps people from using a page; 'make test-browser' fetches it."""
    return (ROOT / ".browser" / "axe.min.js").read_text(encoding="utf-8")
