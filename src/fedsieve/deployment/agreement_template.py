"""The text of a new `federation.toml`: what was chosen, all defaults, and marked places for what is missing."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fedsieve.categories import Categories
from fedsieve.deployment.above import Above
from fedsieve.deployment.agreement import FILL_IN, FORMAT, PRIVACY, ROUNDS, SECURE, parameters_of
from fedsieve.deployment.members import members_text
from fedsieve.messages.columns import DECLARED, ROBUST
from fedsieve.methods import DEFAULT_METHOD, Method, method_named
from fedsieve.methods.follow_ups import FOLLOW_UPS
from fedsieve.protocol import SERVER


def agreement_text(
    name: str,
    address: str,
    sites: Iterable[str],
    features: list[str] | None,
    labels: list[str] | None,
    *,
    ranges: Mapping[str, tuple[float, float]] | str = ROBUST,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    nominal: Iterable[str] = (),
    dates: Iterable[str] = (),
    categories: Categories | None = None,
    method: str = DEFAULT_METHOD,
    parameters: Mapping[str, Any] | None = None,
    rounds: Mapping[str, Any] | None = None,
    privacy: Mapping[str, Any] | None = None,
    after: Iterable[str] = (),
    keys: Mapping[str, str] | None = None,
    above: Above | None = None,
) -> str:
    """The file's text; without features or labels a template in which these places are marked.

    `keys` are those of the server and of sites that have one already; `above` is for an edge server's own sites.
    """
    chosen = method_named(method, "the federation")
    defaults = {key: value for key, value in parameters_of(chosen).items() if value is not None}
    whose = "the server's and all sites' tables" if chosen.sites_hold_labels else "the server's labeled table only"
    declared = {} if isinstance(ranges, str) else dict(ranges)
    return "\n".join(
        [
            "# What this federation agrees on. All below but [server] must be the same at all parties: after a change,",
            "# 'fedsieve federation pack' makes new tars for the sites; 'fedsieve federation diff' shows what changed.",
            f"format = {_toml(FORMAT)}",
            f"name = {_toml(name)}",
            f"method = {_toml(chosen.name)}",
            "",
            "[server]",
            f"address = {_toml(address)}  # where sites reach the server",
            "",
            "[columns]",
            f"features = {_names(features)}",
            f"labels = {_names(labels)}  # in {whose}",
            *_how_to_read(chosen, list(nominal), "declared" if declared else str(ranges)),
            *([f"dates = {_toml(list(dates))}  # read as days since 1970-01-01"] if dates else []),
            "",
            *_section("categories", categories or {}, "the words of text, by their codes; any other word is 'other'"),
            *_section("ranges", declared),
            *_section("bounds", bounds or {}),
            f"[parameters]  # of {chosen.name}; docs/{chosen.page} explains each; n_features_to_select may be left out",
            *(f"{key} = {_toml(value)}" for key, value in {**defaults, **(parameters or {})}.items()),
            "",
            "[rounds]",
            *(f"{key} = {_toml(value)}" for key, value in {**ROUNDS, **(rounds or {})}.items()),
            "",
            "[privacy]",
            *_privacy(privacy or {}),
            "",
            *_above(above),
            "[after]  # what may follow a run, on the columns that it selected",
            *_after(set(after)),
            "",
            members_text({SERVER: "", **dict.fromkeys(sites, ""), **(keys or {})}),
        ]
    )


def _how_to_read(method: type[Method], nominal: list[str], ranges: str) -> list[str]:
    """The lines that a method has a use for, and those that were given all the same: reading says what is wrong."""
    lines = []
    if nominal or method.takes_nominal:
        lines.append(f"nominal = {_toml(nominal)}  # features whose values are codes")
    choices = ", ".join(choice for choice in method.range_choices if choice != DECLARED)
    return [*lines, f"ranges = {_toml(ranges)}  # {choices}, or declared as in [ranges]"]


def _privacy(given: Mapping[str, Any]) -> list[str]:
    values = {**PRIVACY, **(SECURE if given.get("secure") else {}), **given}
    words = {"secure": "  # true: the server sees totals over sites only, never a single site's reply"}
    return [f"{key} = {_toml(value)}{words.get(key, '')}" for key, value in values.items()]


def _above(above: Above | None) -> list[str]:
    if above is None:
        return []
    header = "[above]  # this server is an edge server: totals over its sites go on to this federation"
    return [header, *(f"{key} = {_toml(value)}" for key, value in above.plain().items()), ""]


def _after(allowed: set[str]) -> list[str]:
    return [f"{what} = {_toml(what in allowed)}  # true: {kind.allows}" for what, kind in FOLLOW_UPS.items()]


def _section(name: str, lists: Mapping[str, Sequence[Any]], words: str = "") -> list[str]:
    lines = [f"{_toml(key)} = {_toml(list(values))}" for key, values in lists.items()]
    return [f"[{name}]" + (f"  # {words}" if words else ""), *lines, ""] if lines else []


def _names(names: list[str] | None) -> str:
    return _toml([f"{FILL_IN}: the names of the columns"] if names is None else names)


def _toml(value: Any) -> str:
    """JSON's strings, numbers, booleans and lists of them are TOML's too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # which TOML wants escaped
