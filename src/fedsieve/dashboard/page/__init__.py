"""The page of a live view: a frame of headings, filled by its script from the states that the stream brings.

It looks like a report, with whose style it begins. The script writes what others said as text, never as markup.
"""

from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from fedsieve.report.page import script_hashes
from fedsieve.report.page import text as report_text

SECTIONS = {
    "server": (
        ("sites", "Sites", "Who is there, and where each one is in the latest run."),
        ("events", "Events", "The latest run, the newest line first."),
        ("runs", "Runs", "Selections, checks, and what followed them, with their reports."),
        ("refusals", "Refusals", "Answers that a site refused to give, or that the server did not take, and why."),
        ("about", "Agreement", "What all sites agreed on."),
    ),
    "site": (
        ("consent", "Consent", ""),
        ("messages", "What left", "From this site's own record, the newest message first; values are never recorded."),
        ("runs", "Runs and results", "What left in each run, and the results that came back."),
        ("may_leave", "What may leave", "Each message of the agreement, and what it tells."),
        ("policy", "This site's own rules", "From policy.toml; no agreement and no server can lower them."),
        ("about", "Agreement", "With whom, and by which method."),
    ),
}
"""By kind: the anchor of each section, its heading, and what it shows."""


@dataclass(frozen=True)
class LivePage:
    """The text of a page, and the policy that a browser must follow with it."""

    text: str
    policy: str

    @classmethod
    def of(cls, kind: str) -> "LivePage":
        """The page of a server, or of a site."""
        environment = Environment(
            loader=PackageLoader("fedsieve.dashboard.page", "."), autoescape=True, undefined=StrictUndefined
        )
        style, script = report_text("style.css") + _own("live.css"), _own("live.js")
        page = environment.get_template("live.html").render(
            kind=kind, sections=SECTIONS[kind], style=style, script=script
        )
        policy = (
            f"default-src 'none'; script-src {script_hashes([script])}; style-src 'unsafe-inline'; connect-src 'self'; "
            "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return cls(page, policy)


def _own(name: str) -> str:
    return (files("fedsieve.dashboard.page") / name).read_text(encoding="utf-8")
