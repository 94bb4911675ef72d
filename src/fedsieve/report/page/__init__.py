"""A summary as one HTML file that needs nothing else: no network, no further file, and no script but its own.

The summary travels in the page, packed; the template writes words and small tables, the script draws the rest of it.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from fedsieve.errors import extra_needed
from fedsieve.report.page.image import as_data, picture
from fedsieve.text import cut_name, cut_words, plural, size

SCRIPTS = ("vendored/d3.min.js", "vendored/plot.umd.min.js", "script.js")
MOST_WITHOUT_SCRIPT = 100  # chosen features that are listed where scripts are off


def render_page(summary: Mapping[str, Any], owner: str = "the report", beside: str = "") -> str:
    """The page of a summary; `owner` needs Jinja where it is missing, `beside` is the file with the summary, if any."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise extra_needed(owner, "jinja2", "report") from None
    scripts = [text(name) for name in SCRIPTS]
    alike = summary.get("alike")
    page = (
        _environment()
        .get_template(f"{summary['kind']}.html")
        .render(
            summary=summary,
            beside=beside,
            policy=_policy(scripts),
            style=text("style.css"),
            scripts=scripts,
            data=_packed(summary),
            map_image=as_data(picture(alike["map"]["values"], alike["most"], alike["near_is_high"])) if alike else "",
            most_listed=MOST_WITHOUT_SCRIPT,
        )
    )
    return str(page)


@cache
def _environment() -> Any:
    """Where templates are found; kept, as reading them takes longer than writing a page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("fedsieve.report.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "size": size,
        "thousands": lambda number: f"{number:,}",
        "counted": lambda number, noun: f"{number:,} {plural(number, noun)}",
        "cut_name": cut_name,
        "cut_words": cut_words,
        "breakable": _breakable,
    }
    return environment


def _breakable(name: str) -> Any:
    """A name that may break after `_`, and so does not break within a word."""
    from markupsafe import Markup, escape

    return Markup("_<wbr>").join(escape(part) for part in name.split("_"))


def text(name: str) -> str:
    """A file of the page."""
    return (files("fedsieve.report.page") / name).read_text(encoding="utf-8")


def _policy(scripts: list[str]) -> str:
    """What a browser may do with the page: run these very scripts, style it, show pictures that it holds."""
    return (
        f"default-src 'none'; script-src {script_hashes(scripts)}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def script_hashes(scripts: list[str]) -> str:
    """By which a policy allows these very scripts."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    return " ".join(f"'sha256-{digest}'" for digest in hashes)


def _packed(summary: Mapping[str, Any]) -> str:
    """As letters that mean nothing to a parser of HTML, whatever names hold."""
    text = json.dumps(summary, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), mtime=0)).decode()
