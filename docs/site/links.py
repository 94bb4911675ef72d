"""Follows every link within the built site, and looks for titles; offline, so links that lead out are left alone."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One tag."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")


class Text(Page):
    """A page as Markdown, which has links and no anchors."""

    def feed(self, data: str) -> None:
        """All of it."""
        self.links |= set(LINK.findall(data))


NO_TITLE = "<title>&lt;no title&gt;"
LINK = re.compile(r"(?<=\]\()[^)]+(?=\))")


def as_on_the_site(text: str) -> str:
    """Markdown of the repository whose links lead to the pages that the site has instead."""
    return LINK.sub(lambda link: re.sub(r"\.md(?=$|#)", ".html", link[0]), text)


def broken_links(site: Path) -> list[str]:
    """Links within the site that lead nowhere. Others are not followed: this works offline."""
    pages = {file: Page(file) for file in sorted(site.rglob("*.html")) if "_static" not in file.parts}
    pages |= {file: Text(file) for file in site.glob("*.txt")}
    broken = []
    for file, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            lost = not target.exists() or (
                target in pages and parts.fragment and unquote(parts.fragment) not in pages[target].anchors
            )
            if lost:
                broken.append(f"{file.relative_to(site)}: {link}")
    return broken


def without_title(site: Path) -> list[str]:
    """Pages that menus cannot name: Sphinx writes "<no title>", as of a gallery whose heading it cannot read."""
    files = (file for file in sorted(site.rglob("*.html")) if "_static" not in file.parts)
    return [str(file.relative_to(site)) for file in files if NO_TITLE in file.read_text(encoding="utf-8")]
