"""What changed between two agreements, in words: members, columns, method and parameters, rules."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.members import fingerprint
from fedsieve.errors import listed
from fedsieve.methods import Method
from fedsieve.protocol import SERVER

MANY = 20  # names in one line
TOLD_APART = {"members", "labels", "features", "method", "address", "fingerprint", "above"}  # in words of their own


def differences(old: Agreement, new: Agreement) -> list[str]:
    """One line per change of what must be equal at all parties; none where the fingerprints are equal."""
    if old.fingerprint == new.fingerprint:
        return []
    lines = _members(old.members, new.members)
    lines += _columns("features", old.method.features, new.method.features)
    lines += _columns("labels", old.labels, new.labels)
    if old.method.name != new.method.name:
        lines.append(f"method: {old.method.name}, now {new.method.name}")
    lines += _values(_fields(old.method), _fields(new.method))
    lines += _values(_fields(old), _fields(new))
    if old.above != new.above:
        before, after = (one.above.words if one.above else "nobody" for one in (old, new))
        lines.append(f"totals over these sites go on to: {before}, now {after}")
    return lines


def _members(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    lines = []
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name, ""), new.get(name, "")
        who = "the operator" if name == SERVER else f"member {name!r}"
        if name not in new:
            lines.append(f"{who} removed" + (f", who had the key {fingerprint(before)}" if before else ""))
        elif name not in old:
            lines.append(f"{who} added, " + (f"with the key {fingerprint(after)}" if after else "without a key yet"))
        elif before != after and before and after:
            lines.append(f"{who} renewed: the key {fingerprint(before)} is now {fingerprint(after)}")
        elif before != after:
            lines.append(f"{who} has the key {fingerprint(after)}" if after else f"{who} has no key any more")
    return lines


def _columns(what: str, old: Sequence[str], new: Sequence[str]) -> list[str]:
    before, after = set(old), set(new)
    removed, added = [name for name in old if name not in after], [name for name in new if name not in before]
    lines = [
        f"{what} {word}: {listed(names, MANY)}" for word, names in (("added", added), ("removed", removed)) if names
    ]
    if not lines and tuple(old) != tuple(new):
        lines.append(f"{what} are in another order")
    return lines


def _fields(owner: Agreement | Method) -> dict[str, Any]:
    """What has no words of its own: a method's parameters, an agreement's rules."""
    return {field.name: getattr(owner, field.name) for field in fields(owner) if field.name not in TOLD_APART}


def _values(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    lines = []
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if before == after and (name in old) == (name in new):
            continue
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            quoted = ({repr(column): value for column, value in one.items()} for one in (before, after))
            lines += [f"{name} of {line}" for line in _values(*quoted)]
        elif name not in new:
            lines.append(f"{name}: {_shown(before)}, no longer used")
        else:
            lines.append(f"{name}: " + (f"{_shown(before)}, now " if name in old else "") + _shown(after))
    return lines


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"declared for {len(value)} columns"
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return listed(value, MANY)
    return repr(value)
