"""The page of all messages, from the registry: who asks for each, whether it adds up, what it reveals, what is limited.

`python -m fedsieve.report.message_table > docs/messages.md` writes it again.
"""

import inspect
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from fedsieve.messages import REQUESTS, Request, Terms
from fedsieve.messages.columns import DECLARED
from fedsieve.methods import METHODS, Method
from fedsieve.methods.follow_ups import FOLLOW_UPS
from fedsieve.report.markdown_table import markdown_table
from fedsieve.report.sections.privacy import revealed

WIDE = 5000
AND = " and "
OF_ALL = (Terms.check, Terms.check_reply)  # checks that every message has
HEAD = f"""\
# Every message

Made from the code by `python -m fedsieve.report.message_table > docs/messages.md`; a test fails where it differs.
A message is one file of `fedsieve/messages`. [Who says what](protocol.md) tells the rounds of each method and how
replies are checked; [architecture](architecture.md) tells how to add a message.

- **Asked by**: the method, and the parameters that decide it. Each was looked at with its defaults, with every other
  value of a parameter, with several at once where they ask for something else together, with nominal columns and with
  {WIDE:,} columns; options that ask for more (`selected_distance`) are on.
- **Adds up**: whether the sum of two replies is the reply of both sites' rows together, so that the server needs the
  sum only, and an edge server can make it. (`Covariances` in each site's own ranges, which FedCMFS asks for with
  `combine="p-values"` and `"votes"`, are compared one by one and never added.)
- **Agreed**: what a site's own copy of the agreement holds a request to, besides its kind. Columns are always agreed:
  only those, each once, read as agreed.
- **Under `site`**: what the policy of a site that joined adds. All requests of a run must make one story there: kinds
  in the method's order and number, ranges, radius and cohort the same throughout ([privacy](privacy.md)).

A site that cannot or will not answer sends a `Refusal` with its reason instead.
"""
TITLES = (
    "request",
    "reply",
    "asked by",
    "adds up",
    "a reply reveals",
    "the request reveals",
    "agreed",
    "under `site`",
)


def page() -> str:
    """The whole page."""
    asked = {name: [(setting, method.terms()) for setting, method in variants(METHODS[name])] for name in METHODS}
    some = next(iter(METHODS.values()))(("a", "b"))
    asked |= {
        f"`{name}`, after a run": [("", kind.after(some, ("a",), ("y",)).terms())] for name, kind in FOLLOW_UPS.items()
    }
    kinds = [kind for kind in REQUESTS.values() if kind.__module__.startswith("fedsieve.")]
    return "\n".join([HEAD, *markdown_table(TITLES, (_row(kind, asked) for kind in kinds)), ""])


def variants(of_method: type[Method]) -> Iterator[tuple[str, Method]]:
    """A method in each of its settings, in words; the first has the defaults."""
    some: dict[str, Any] = {"labels": ("y",)} if of_method.sites_hold_labels else {}
    some |= {field.name: True for field in fields(of_method) if field.type is bool and field.name != "secure"}
    names = ("a", "b")
    settings: list[tuple[str, dict[str, Any]]] = [("", {})]
    for parameter, values in of_method.choices.items():
        settings += [(f'`{parameter}="{value}"`', {parameter: value}) for value in values]
    for ranges in of_method.range_choices[1:]:
        value = dict.fromkeys(names, (0.0, 1.0)) if ranges == DECLARED else ranges
        settings.append((f"{ranges} ranges", {"ranges": value}))
    if "epsilon" in {field.name for field in fields(of_method)}:
        settings.append(("`epsilon`", {"epsilon": 1.0}))
    if of_method.takes_nominal:
        settings.append(("nominal columns", {"nominal": names[:1]}))
    for given in of_method.together:
        parts = (f"{value} ranges" if name == "ranges" else f'`{name}="{value}"`' for name, value in given.items())
        settings.append((AND.join(parts), dict(given)))
    for words, given in settings:
        yield words, of_method(names, **some, **given)
    yield f"{WIDE:,} columns", of_method(tuple(f"x{i}" for i in range(WIDE)), **some)


def _row(kind: type[Request], asked: dict[str, list[tuple[str, tuple[Terms, ...]]]]) -> tuple[str, ...]:
    askers = [words for name, settings in asked.items() if (words := _asker(kind, name, settings))]
    askers += ["secure sums of any method"] * kind.machinery
    why_not = kind.reply.why_no_sum
    agreed = (one for settings in asked.values() for _, all_ in settings for one in all_ if one.request is kind)
    terms = type(next(agreed, None))
    return (
        f"`{kind.__name__}`",
        f"`{kind.reply.__name__}`",
        "; ".join(askers) or "nobody",
        f"no: {why_not.rstrip('.')}" if why_not else "yes" if not kind.reply.why_not_masked else "yes, but not masked",
        revealed(kind.reply),
        revealed(kind),
        _agreed(terms),
        _guarded(terms),
    )


def _asker(kind: type[Request], name: str, settings: list[tuple[str, tuple[Terms, ...]]]) -> str:
    """In which settings a method asks; empty where it never does."""
    asks = {words: any(terms.request is kind for terms in all_) for words, all_ in settings}
    if not any(asks.values()):
        return ""
    by_default = asks.pop("")
    differing = [words for words, does in asks.items() if does != by_default]
    # Of several parameters at once nothing need be said where one of them is enough.
    differing = [words for words in differing if AND not in words or not set(words.split(AND)) & set(differing)]
    if not differing:
        return name
    return f"{name}{', not with' if by_default else ' with'} {', '.join(differing)}"


def _agreed(terms: type) -> str:
    """The docstrings of the checks that a message's terms add to those of all."""
    if not issubclass(terms, Terms):
        return "-"
    parts = [inspect.getdoc(check) for check in (terms.check, terms.check_reply) if check not in OF_ALL]
    return " ".join(part for part in parts if part) or "-"


def _guarded(terms: type) -> str:
    """What a site's own rules add under the policy `site`."""
    if not issubclass(terms, Terms):
        return "-"
    parts = [f"Needs `{terms.permission}`." if terms.permission else ""]
    parts += ["Needs `rows_may_leave`, and a second consent."] * terms.sends_rows
    if terms.check_site is not Terms.check_site:
        parts.append(inspect.getdoc(terms.check_site) or "")
    if terms.lasting:
        parts.append("The same in all runs under one agreement.")
    return " ".join(part for part in parts if part) or "-"


if __name__ == "__main__":
    print(page(), end="")
