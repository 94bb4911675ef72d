"""The TOML file of an experiment, and what is wrong with it."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

from fedsieve.catalog import registry
from fedsieve.checks import check_choice, is_number, is_whole
from fedsieve.datasets import available
from fedsieve.errors import ParameterError, listed, shown
from fedsieve.experiments.config import BUNDLED, CHOICES, KINDS, LABELS, Contender, Experiment
from fedsieve.experiments.evaluation import MEASURES, SCALINGS, Evaluation
from fedsieve.experiments.sensitivity import check_factors, with_variants
from fedsieve.reading import read_toml


def read_experiment(path: Path) -> Experiment:
    """Read a TOML file; an unknown key is refused, with the nearest known one.

    What it does not say itself it takes from the file that `like` names, beside it.
    """
    content = _content(path)
    _check_content(path, content)
    contenders = tuple(_contender(path, entry) for entry in content["method"])
    called = [(row.title, row.labels_seen if content["kind"] == "quality" else "") for row in contenders]
    for title, labels in called:
        if called.count((title, labels)) > 1:
            raise ParameterError(f"{path}: two rows are called {title!r}; give one of them another title.")
    experiment = Experiment(
        name=path.stem,
        title=content["title"],
        kind=content["kind"],
        datasets=tuple(content["datasets"]),
        contenders=contenders,
        seeds=tuple(content["seeds"]),
        labeled=tuple(content.get("labeled", (0.2,))),
        k=content.get("k", {}),
        k_levels=tuple(content.get("k_levels", (1.0,))),
        evaluations=tuple(
            Evaluation(classifier, scaling, content.get("classifier_labels", "all"), float(share))
            for classifier, scaling, share in product(
                content.get("classifiers", ["ML-kNN"]), content.get("scaling", SCALINGS), content.get("best", [1.0])
            )
        ),
        metrics=tuple(content.get("metrics", MEASURES)),
        distances=tuple(content.get("distances", ())),
        page=path.parent / content["page"] if "page" in content else None,
        settings=tuple((name, content[name]) for name in SETTINGS if name in content),
        factors=tuple((name, tuple(values)) for name, values in content.get("factors", {}).items()),
        crossed=tuple(map(tuple, content.get("crossed", ()))),
    )
    return with_variants(experiment)


def _content(path: Path, *before: Path) -> dict[str, Any]:
    """What a file says, and where it says nothing, what the one says that it is like."""
    content = read_toml(path)
    if "like" not in content:
        return content
    like = content.pop("like")
    other = path.parent / like if _text(like) else path
    if other in (path, *before):
        raise ParameterError(f"{path}: like must name another file, one that is not like this one; got {shown(like)}.")
    return {**_content(other, path, *before), **content}


def _contender(path: Path, entry: dict[str, Any]) -> Contender:
    _check_keys(path, "[[method]] ", entry, {"name", "title", "parameters", "labels"})
    if "name" not in entry:
        raise ParameterError(f"{path}: a [[method]] has no name.")
    for key, kind in (("name", str), ("title", str), ("labels", str), ("parameters", dict)):
        if not isinstance(entry.get(key, kind()), kind):
            word = "text" if kind is str else "a table"
            raise ParameterError(f"{path}: [[method]] {key} must be {word}; got {shown(entry[key])}.")
    name, method = entry["name"], registry().get(entry["name"])
    allowed = LABELS[method.supervision] if method else CHOICES["labels"]
    check_choice(str(path), f"labels of {name}", entry.get("labels", allowed[0]), allowed)
    parameters = tuple(sorted(entry.get("parameters", {}).items()))
    return Contender(name, entry.get("title", name), parameters, entry.get("labels"))


def _check_content(path: Path, content: dict[str, Any]) -> None:
    """Refuse keys and datasets nobody knows, values of the wrong kind, and what the kind of experiment cannot show."""
    _check_keys(path, "", content, set(RULES))
    for needed in ("title", "kind", "datasets", "method", "seeds"):
        if needed not in content:
            raise ParameterError(f"{path}: the key {needed!r} is missing.")
    kind = content["kind"]
    check_choice(str(path), "kind", kind, KINDS)
    for key, value in content.items():
        fits, rule = RULES[key]
        if not fits(value):
            raise ParameterError(f"{path}: {key} must be {rule}; got {shown(value)}.")
    known = (*available(), BUNDLED)
    for key in ("datasets", "k"):
        unknown = [name for name in content.get(key, ()) if name not in known and "/" not in name]
        if unknown:
            raise ParameterError(f"{path}: {key} names no dataset {listed(unknown)}; there are {listed(known)}.")
    several = [key for key in ("labeled", "k_levels") if len(content.get(key, [1])) != 1]
    if kind != "curves" and several:
        word = {"labeled": "labeled share", "k_levels": "k level"}[several[0]]
        raise ParameterError(f"{path}: kind {kind!r} takes one {word}; got {content[several[0]]}.")
    if len(several) > 1:
        raise ParameterError(f"{path}: a curve varies labeled or k_levels, not both.")
    without_k = [name for name in content["datasets"] if name not in content.get("k", {})]
    if "k_levels" in content and without_k:
        raise ParameterError(f"{path}: k_levels are shares of k; give k of {listed(without_k)}.")
    if (kind == "sensitivity") != ("factors" in content) or ("crossed" in content and kind != "sensitivity"):
        raise ParameterError(f"{path}: kind 'sensitivity' needs the table [factors], and no other kind takes it.")
    if kind == "sensitivity":
        check_factors(path, str(content["method"][0].get("name")), content["factors"], content.get("crossed", []))
    if "metrics" in content and kind != "curves":
        raise ParameterError(f"{path}: only kind 'curves' takes the key 'metrics'; the others show all of them.")
    if kind == "quality" and len(content.get("scaling", SCALINGS)) != 1:
        raise ParameterError(f"{path}: kind 'quality' takes one scaling; give 'scaling'.")
    if (kind == "quality") != ("page" in content):
        raise ParameterError(f"{path}: kind 'quality' needs the key 'page', and no other kind takes it.")


def _check_keys(path: Path, where: str, content: Mapping[str, Any], known: set[str]) -> None:
    for key in content:
        if key not in known:
            nearest = get_close_matches(key, sorted(known), n=1, cutoff=0.0)
            raise ParameterError(f"{path}: {where}unknown key {shown(key)}. Did you mean {nearest[0]!r}?")


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and bool(value) and all(fits(item) for item in value)


SETTINGS = ("n_clients", "partition", "alpha", "split", "shift")
RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "title": (_text, "text"),
    "kind": (_text, "text"),
    "datasets": (_list_of(_text), "a list of names"),
    "seeds": (_list_of(is_whole), "a list of whole numbers"),
    "labeled": (_list_of(lambda share: is_number(share) and 0 < share < 1), "a list of shares between 0 and 1"),
    "k": (
        lambda k: isinstance(k, dict) and all(is_whole(n) and n > 0 for n in k.values()),
        "a table of dataset = number of features",
    ),
    "k_levels": (_list_of(lambda level: is_number(level) and 0 < level <= 1), "a list of shares of k, above 0 up to 1"),
    "n_clients": (lambda n: is_whole(n) and n >= 2, "a whole number of at least 2"),
    "partition": (_text, "text"),
    "alpha": (lambda alpha: is_number(alpha) and 0 < alpha < inf, "a positive number"),
    "split": (_text, "text"),
    "shift": (lambda shift: is_number(shift) and 0 <= shift < inf, "a number of deviations, at least 0"),
    "best": (_list_of(lambda share: is_number(share) and 0 < share <= 1), "a list of shares, above 0 up to 1"),
    "classifiers": (_list_of(_text), "a list of names"),
    "scaling": (_list_of(_text), 'a list of "scaled" and "raw"'),
    "classifier_labels": (_text, "text"),
    "metrics": (_list_of(lambda metric: metric in MEASURES), f"a list of {listed(tuple(MEASURES))}"),
    "distances": (_list_of(lambda d: is_number(d) and 0 < d < inf), "a list of positive numbers, one per client"),
    "page": (_text, "the path of a Markdown file"),
    "factors": (lambda factors: isinstance(factors, dict) and bool(factors), "a table of factor = list of values"),
    "crossed": (_list_of(_list_of(_text)), "a list of lists of factors"),
    "method": (_list_of(lambda method: isinstance(method, dict)), "tables [[method]]"),
}
