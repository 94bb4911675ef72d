"""`federation.toml`: what a consortium agrees on before anything is computed; read, checked, fingerprinted."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from fedsieve.categories import Categories, check_categories, code_range
from fedsieve.checks import check_count, check_known, repeated
from fedsieve.deployment.above import Above, read_above
from fedsieve.deployment.after_run import OFF, check_after
from fedsieve.deployment.members import check_members
from fedsieve.errors import DataError, FedSieveError, ParameterError, listed, shown
from fedsieve.files import read_once
from fedsieve.messages.columns import ROBUST
from fedsieve.methods import Method, method_named
from fedsieve.privacy import SITE
from fedsieve.protocol import SERVER
from fedsieve.reading import parse_toml, toml_text

FORMAT = "fedsieve-federation/2"
FILL_IN = "FILL IN"
UNNAMED_METHOD = "SSFMLFS"  # of a file without the line `method`, as the first ones were
ROUNDS = {
    "min_clients": 2,
    "max_sites_per_client": 1,  # more where a client is an edge server
    "max_rows": 1_000_000,  # that a site may claim, so that none can outweigh all others without bound
    "on_bad_client": "drop",
    "max_message_bytes": 512_000_000,
    "timeout_seconds": 300,
}
PRIVACY = {"min_rows": SITE.min_rows, "secure": False}  # secure: the server sees totals over sites only
SECURE = {"min_cell": SITE.min_cell, "rows_per_column": SITE.rows_per_column}  # of totals, where nothing else is seen
ELSEWHERE = {"features", "labels", "nominal", "ranges", "bounds", "n_labels", "secure", *ROUNDS, *SECURE}
"""What of a method has its own place in the file."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
ADDRESS = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, eq=False)
class Agreement:
    """The method with its parameters, the labels' names, who belongs, and the rules of the rounds."""

    name: str
    address: str  # host:port where sites reach the server
    members: Mapping[str, str]  # name -> public key of the server and the sites; "" for a site without one yet
    labels: tuple[str, ...]
    method: Method
    timeout_seconds: float
    min_rows: int
    fingerprint: str  # of all that decides what is computed and what leaves a site; equal at all parties
    categories: Categories = field(default_factory=dict)  # the words of columns of text, in the order of their codes
    dates: tuple[str, ...] = ()  # columns of dates, read as days
    above: Above | None = None  # where the server is an edge server: to whom it tells totals over these sites
    after: Mapping[str, bool] = field(default_factory=lambda: dict(OFF))  # what may follow a run

    @property
    def words(self) -> str:
        """By which words text is read, as text; empty where none is."""
        return json.dumps(_plain(self.categories), sort_keys=True) if self.categories else ""

    @property
    def sites(self) -> tuple[str, ...]:
        """All sites that belong, also those that cannot take part yet."""
        return tuple(name for name in self.members if name != SERVER)

    @property
    def approved(self) -> tuple[str, ...]:
        """The sites that have a key."""
        return tuple(name for name in self.sites if self.members[name])


def parameters_of(method: type[Method]) -> dict[str, Any]:
    """The parameters of a method that the section [parameters] may hold, with their defaults."""
    fixed = {name for name, allowed in method.choices.items() if len(allowed) == 1}
    elsewhere = {*ELSEWHERE, *method.never_agreed, *fixed}
    return {field.name: field.default for field in fields(method) if field.name not in elsewhere}


def read_agreement(path: Path) -> Agreement:
    """Read and check a `federation.toml`; a template that was not filled in is refused."""
    return read_once(path, _read_agreement)


def _read_agreement(path: Path) -> Agreement:
    try:
        return parse_agreement(toml_text(path))
    except FedSieveError as error:
        raise DataError(f"{path}: {error}") from None


def parse_agreement(text: str) -> Agreement:
    """The agreement in a file's text."""
    content = parse_toml(text)
    if content.get("format") != FORMAT:
        raise DataError(f"is no agreement of format {FORMAT!r}; got {shown(content.get('format'))}.")
    _check_keys(
        "the file",
        content,
        {"format", "name", "server", "columns", "parameters", "rounds", "privacy", "members"},
        {"method", "ranges", "bounds", "categories", "above", "after"},
    )
    of_method = method_named(content.get("method", UNNAMED_METHOD), "the file")
    columns = content["columns"]
    _check_keys("[server]", content["server"], {"address"})
    _check_keys("[columns]", columns, {"features", "labels", "ranges"}, {"nominal", "dates"})
    if "epsilon" in content["parameters"] and "epsilon" not in parameters_of(of_method):
        raise ParameterError(f"[parameters] epsilon: {of_method.name} knows no noise; Sieve does. Leave it out.")
    if "fdr" in content["parameters"] and "fdr" not in parameters_of(of_method):
        raise ParameterError(f"[parameters] fdr: {of_method.name} knows no error rate; Sieve does. Leave it out.")
    _check_keys("[parameters]", content["parameters"], set(), set(parameters_of(of_method)))
    _check_keys("[rounds]", content["rounds"], set(), set(ROUNDS))
    secure = SECURE if isinstance(content["privacy"], dict) and content["privacy"].get("secure") is True else {}
    _check_keys("[privacy]", content["privacy"], set(), {*PRIVACY, *secure})
    if not isinstance(content["name"], str):
        raise ParameterError(f"name must be text; got {shown(content['name'])}.")
    for key in ("nominal", "dates"):
        _check_names(f"[columns] {key}", columns.get(key, []))
    for key in ("features", "labels"):
        _check_filled(key, columns[key])
    rounds, privacy = {**ROUNDS, **content["rounds"]}, {**PRIVACY, **secure, **content["privacy"]}
    timeout, min_rows = rounds.pop("timeout_seconds"), privacy.pop("min_rows")
    check_count("", "[rounds] timeout_seconds", timeout, 1)
    check_count("", "[privacy] min_rows", min_rows, 2)
    check_count("", "[rounds] min_clients", rounds["min_clients"], 2)
    members = check_members(content["members"])
    check_site_names(name for name in members if name != SERVER)
    check_address(content["server"]["address"])
    both = sorted(set(columns["features"]).intersection(columns["labels"]))
    if both:
        raise ParameterError(f"{listed(both)} cannot be feature and label at once.")
    labels = tuple(columns["labels"])
    own: dict[str, Any] = {"labels": labels} if of_method.sites_hold_labels else {}
    categories, dates = _categories(content.get("categories", {}), columns["features"]), tuple(columns.get("dates", ()))
    check_known("[columns]", "dates names", dates, columns["features"])
    of_words = {name: code_range(words) for name, words in categories.items()} if of_method.encodes_codes else {}
    ranges = _ranges(columns["ranges"], content.get("ranges"), columns["features"])
    bounds = _pairs("[bounds]", content.get("bounds", {}), columns["features"])
    method = of_method(
        tuple(columns["features"]),
        nominal=tuple(dict.fromkeys([*columns.get("nominal", ()), *categories])),
        ranges=ranges if isinstance(ranges, str) else {**of_words, **ranges},
        bounds={**of_words, **bounds} if ranges == ROBUST else bounds,
        n_labels=max(2, len(labels)),  # one label is told as two classes
        **own,
        **content["parameters"],
        **rounds,
        **privacy,
    )
    if method.secure and method.max_sites_per_client > 1:
        raise ParameterError("[privacy] secure = true takes sites themselves: [rounds] max_sites_per_client must be 1.")
    check_count("", "[rounds] max_rows", method.max_rows, min_rows)  # else no site could take part
    above = read_above(content["above"]) if "above" in content else None
    if above is not None and method.secure:
        raise ParameterError("[privacy] secure = true takes sites themselves: an agreement with [above] must be plain.")
    after = check_after(content.get("after", {}), method)
    if above is not None and any(after.values()):
        raise ParameterError("[after] of an agreement with [above] must be false: an edge server passes on sums only.")
    besides = {
        "categories": categories,
        "dates": dates,
        "above": {} if above is None else above.plain(),
        "after": [what for what, is_allowed in after.items() if is_allowed],
    }
    besides = {key: value for key, value in besides.items() if value}
    fingerprint = _fingerprint(content["name"], labels, method, timeout, min_rows, members, besides)
    return Agreement(
        content["name"],
        content["server"]["address"],
        members,
        labels,
        method,
        timeout,
        min_rows,
        fingerprint,
        categories,
        dates,
        above,
        after,
    )


def _fingerprint(
    name: str,
    labels: tuple[str, ...],
    method: Method,
    timeout: float,
    min_rows: int,
    members: Mapping[str, str],
    besides: Mapping[str, Any],
) -> str:
    """Of what is meant, not of how it is written: defaults count as if they were spelled out."""
    values = {field.name: _plain(getattr(method, field.name)) for field in fields(method)}
    agreed = [name, method.name, labels, values, timeout, min_rows, members, *([_plain(besides)] if besides else [])]
    return hashlib.sha256(json.dumps(agreed, sort_keys=True).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """As JSON writes it, 1.0 like 1."""
    if isinstance(value, Mapping):
        return {key: _plain(pair) for key, pair in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def check_site_names(names: Iterable[str]) -> None:
    """Site names become file names and are compared by case-blind file systems too."""
    names = list(names)
    bad = [name for name in names if not isinstance(name, str) or not NAME.fullmatch(name) or name == SERVER]
    if bad:
        raise ParameterError(
            f"site names are letters, digits, '.', '_' and '-', at most 64, and not {SERVER!r}; got {listed(bad)}."
        )
    if len({name.lower() for name in names}) < len(names):
        raise ParameterError(f"site names must differ, not only in case; got {listed(names)}.")


def check_address(address: str) -> tuple[str, int]:
    """Host and port of `host:port`."""
    parts = ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if parts is None or not 1 <= int(parts["port"]) <= 65535:
        raise ParameterError(f"the server's address must be host:port; got {str(address)[:80]!r}.")
    return parts["host"].strip("[]"), int(parts["port"])


def _ranges(choice: str, declared: Any, features: list[str]) -> Any:
    if (choice == "declared") != (declared is not None):
        raise ParameterError("[columns] ranges is 'declared' where there is a section [ranges], and only there.")
    if declared is None:
        return choice
    return _pairs("[ranges]", declared, features)


def _pairs(owner: str, declared: Any, features: list[str]) -> dict[str, Any]:
    _check_keys(owner, declared, set(), set(features))
    return {name: tuple(pair) if isinstance(pair, list) else pair for name, pair in declared.items()}


def _categories(declared: Any, features: list[str]) -> dict[str, tuple[str, ...]]:
    _check_keys("[categories]", declared, set(), set(features))
    return check_categories("[categories]", declared)


def _check_names(owner: str, names: Any) -> None:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"{owner} must be a list of names; got {shown(names)}.")
    if len(set(names)) < len(names):
        raise ParameterError(f"{owner} names {listed(sorted(repeated(names)))} twice.")


def _check_filled(key: str, names: Any) -> None:
    _check_names(f"[columns] {key}", names)
    if not names:
        raise ParameterError(f"[columns] {key} must name at least one column.")
    if any(name.startswith(FILL_IN) for name in names):
        raise ParameterError(
            f"[columns] {key} is still marked {FILL_IN!r}. List the names there, then run 'fedsieve federation pack'."
        )


def _check_keys(owner: str, content: Any, needed: Set[str], optional: Set[str] = frozenset()) -> None:
    if not isinstance(content, dict):
        raise ParameterError(f"{owner} must be a section; got {shown(content)}.")
    missing, unknown = sorted(needed - set(content)), sorted(set(content) - needed - optional)
    if missing or unknown:
        parts = [f"{word} {listed(names)}" for word, names in (("lacks", missing), ("has unknown", unknown)) if names]
        raise ParameterError(f"{owner} {' and '.join(parts)}.")
