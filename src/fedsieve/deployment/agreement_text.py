"""`federation.toml` as it is written for a new federation."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from fedsieve.deployment.agreement import (
    DEFAULT_METHOD,
    FILL_IN,
    FORMAT,
    PRIVACY,
    ROUNDS,
    parameters_of,
    takes_ranges,
)
from fedsieve.protocol import Plan
from fedsieve.protocol.methods import method_named


def agreement_text(
    name: str,
    address: str,
    sites: Iterable[str],
    features: list[str] | None,
    labels: list[str] | None,
    *,
    ranges: Mapping[str, tuple[float, float]] | str = "federated",
    nominal: Iterable[str] = (),
    method: str = DEFAULT_METHOD,
    parameters: Mapping[str, Any] | None = None,
    rounds: Mapping[str, Any] | None = None,
    privacy: Mapping[str, Any] | None = None,
) -> str:
    """The file's text; without features or labels a template in which these places are marked."""
    plan = method_named(method, "the federation").plan
    defaults = {key: value for key, value in parameters_of(plan).items() if value is not None}
    whose = "the server's and all sites' tables" if plan.labeled_sites else "the server's labeled table only"
    declared = {} if isinstance(ranges, str) else dict(ranges)
    return "\n".join(
        [
            "# What this federation agrees on. All below but [server] and sites must be the same at all parties:",
            "# after a change, 'fedsieve federation pack' makes new site folders.",
            f"format = {_toml(FORMAT)}",
            f"name = {_toml(name)}",
            f"method = {_toml(plan.method)}",
            f"sites = {_toml(list(sites))}  # a site is its key: server/keys/NAME.pub",
            "",
            "[server]",
            f"address = {_toml(address)}  # where sites reach the server",
            "",
            "[columns]",
            f"features = {_names(features)}",
            f"labels = {_names(labels)}  # in {whose}",
            *_how_to_read(plan, list(nominal), "declared" if declared else str(ranges)),
            "",
            *(
                ["[ranges]", *(f"{_toml(key)} = {_toml(list(pair))}" for key, pair in declared.items()), ""]
                if declared
                else []
            ),
            f"[parameters]  # of {plan.method}; docs/{plan.page} explains each; n_features_to_select may be left out",
            *(f"{key} = {_toml(value)}" for key, value in {**defaults, **(parameters or {})}.items()),
            "",
            "[rounds]",
            *(f"{key} = {_toml(value)}" for key, value in {**ROUNDS, **(rounds or {})}.items()),
            "",
            "[privacy]",
            *(f"{key} = {_toml(value)}" for key, value in {**PRIVACY, **(privacy or {})}.items()),
            "",
        ]
    )


def _how_to_read(plan: type[Plan], nominal: list[str], ranges: str) -> list[str]:
    """The lines that a method has a use for, and those that were given all the same: reading says what is wrong."""
    lines = []
    if nominal or not plan.labeled_sites:
        lines.append(f"nominal = {_toml(nominal)}  # features whose values are codes")
    if ranges != "federated" or takes_ranges(plan):
        lines.append(f"ranges = {_toml(ranges)}  # federated, local, or as in [ranges]")
    return lines


def _names(names: list[str] | None) -> str:
    return _toml([f"{FILL_IN}: the names of the columns"] if names is None else names)


def _toml(value: Any) -> str:
    """JSON's strings, numbers, booleans and lists of them are TOML's too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # which TOML wants escaped
