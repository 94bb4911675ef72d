"""`policy.toml`: a site's own rules, beside the agreement and above it; written with comments, read, checked.

Without the file the defaults hold. No agreement and no server can lower a rule; the agreement's `min_rows` can raise
one.
"""

import hashlib
import json
from dataclasses import asdict, fields, replace
from os.path import lexists
from pathlib import Path
from textwrap import wrap
from typing import Any

from fedsieve.checks import is_number, is_whole
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.keys import PRIVATE
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import DataError, ProtocolError, listed
from fedsieve.files import read_once, write_atomically
from fedsieve.methods import METHODS
from fedsieve.privacy import SITE, Policy, why_forbidden
from fedsieve.reading import read_toml

FILE = "policy.toml"
MOST = 10**9  # of any number here; more is a slip of the finger
RULES = {
    "min_rows": "Answers are about at least so many rows. Sums of few rows hide little: of a few dozen, rows have "
    "been computed back from honest answers. The agreement's own min_rows holds too: the larger of the two.",
    "min_cell": "So many rows must differ from a column's most frequent value, or the column is answered as if it were "
    "constant; so many must miss a value, or it is filled in. With less, a rare value gives away the rows that hold "
    "it.",
    "rows_per_column": "So many rows for each column that all answers compare, in all runs together, or this site's "
    "own second moments stay here. With less, sums of products can be solved for the rows. So many rows must also have "
    "changed since any earlier answer, or none.",
    "min_cohort": "So many sites take part in a run at least. With less, what is told of all is told of this one.",
    "max_runs_per_day": "Runs that are answered within a day. Every run tells a little more; many tell much.",
    "max_runs": "Runs that are answered in all.",
    "min_difference_rows": "A table differs from each one answered for by so many rows, or not at all. With less, "
    "two answers give the added rows by subtraction.",
    "min_difference_sites": "In secure sums, and of an edge server's own sites: from the totals of all runs on the "
    "same rows sums of no fewer sites than this follow by adding and subtracting. With less, they give one site's "
    "part. One site that tells the operator its own part makes 2 into 1.",
    "max_epsilon": "What all answers with noise may cost together, since the ledger began, in all runs and agreements: "
    "the epsilon of differential privacy. Every answer makes it easier to tell whether a given row is here.",
    "max_delta": "At which delta that is counted: roughly the chance that the promise does not hold for a row. Keep it "
    "well below one in the number of rows.",
    "allow_exact_ranges": "Whether smallest and largest values may leave: true shows two values of each column, those "
    "of extreme rows, to all members.",
    "allow_matrices": 'Whether SSFMLFS may run in the wire form "matrices": true is as good as sending the rows.',
    "allow_tests": 'Whether FedCMFS may run in the wire form "tests": true lets the server ask for all correlations, '
    "one by one.",
    "methods": f"Methods that may be run ({', '.join(METHODS)}); an empty list allows all.",
    "columns_never_used": "Columns of which nothing leaves, whatever is agreed on: joining is refused if one is "
    "asked for.",
    "rows_may_leave": "Whether rows themselves may leave, as 'fedsieve federation collect' asks after a run, each time "
    "with a consent of its own: true gives up, for the selected columns, what this software is for.",
}
"""Each rule of the file: why it is there, and what changing it gives up."""


def policy_text(policy: Policy = SITE) -> str:
    """The file's text."""
    lines = [
        "# This site's own rules. No agreement and no server can lower them; what they refuse, stays here.",
        "# A rule that is left out has its default, as written by --init-policy; 0 means no limit.",
        "# 'fedsieve federation join' shows the rules in force.",
    ]
    for name, why in RULES.items():
        lines += ["", *(f"# {line}" for line in wrap(why, 110)), f"{name} = {json.dumps(getattr(policy, name))}"]
    return "\n".join([*lines, ""])


def write_policy(site: SiteFolder) -> Path:
    """Write the defaults, for the site to change; a file that is there stays as it is."""
    file = site.path / FILE
    if lexists(file):
        raise DataError(f"{file}: is there already and stays as it is. To start anew, move it away first.")
    write_atomically(file, lambda path: path.write_text(policy_text(), encoding="utf-8"), mode=PRIVATE)
    return file


def read_policy(site: SiteFolder) -> Policy:
    """The rules in force at a site: its own, and the agreement's `min_rows` where that is more."""
    file = site.path / FILE
    own = read_once(file, _read_policy) if lexists(file) else SITE  # a broken link is no reason for defaults
    return replace(own, min_rows=max(own.min_rows, site.agreement().min_rows))


def value_words(value: object) -> str:
    """A rule's value for people.

    >>> value_words(True), value_words(()), value_words(50)
    ('yes', '-', '50')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(value) or "-"
    return str(value)


def policy_digest(policy: Policy) -> str:
    """By which a record names the rules that were in force."""
    return hashlib.sha256(json.dumps(asdict(policy), sort_keys=True).encode()).hexdigest()


def check_agreement(policy: Policy, agreement: Agreement, owner: str) -> None:
    """Refuse an agreement that asks for what the policy never allows: better at once than in the middle of a run."""
    reason = why_forbidden(agreement.method, policy)
    if reason:
        raise ProtocolError(f"{owner}: {reason} Nothing was sent.")


def _read_policy(path: Path) -> Policy:
    if path.exists() and path.stat().st_mode & 0o022:
        raise DataError(f"{path}: can be changed by others. Make it yours alone: chmod 600 {path}")
    try:
        content = read_toml(path)
    except DataError as error:
        raise DataError(f"{error} Rules are lines like: min_rows = 50") from None
    if unknown := [name for name in content if name not in RULES]:
        raise DataError(f"{path}: has no rule {listed([_short(name) for name in unknown])}. Rules: {', '.join(RULES)}.")
    defaults = {field.name: field.default for field in fields(Policy)}
    for name, value in content.items():
        if wrong := _why_wrong(name, value, defaults[name]):
            raise DataError(f"{path}: {name} must be {wrong}; got {_short(repr(value))}. Default: {_toml(name)}")
    rules: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in content.items()
    }
    return Policy(**rules)


def _why_wrong(name: str, value: Any, default: Any) -> str:
    """What a rule's value must be; empty where it is."""
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else "true or false"
    if isinstance(default, float):
        if name == "max_delta":
            return "" if is_number(value) and 0 < value <= 0.01 else "a number above 0 and at most 0.01"
        return "" if is_number(value) and 0 <= value <= MOST else f"a number in [0, {MOST}]"
    if isinstance(default, int):
        return "" if is_whole(value) and 0 <= value <= MOST else f"a whole number in [0, {MOST}]"
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return "a list of names"
    if name == "methods" and not set(value) <= set(METHODS):
        return f"a list of methods ({', '.join(METHODS)})"
    return ""


def _toml(name: str) -> str:
    return f"{name} = {json.dumps(getattr(SITE, name))}"


def _short(text: str, most: int = 80) -> str:
    return text if len(text) <= most else f"{text[:most]}..."
