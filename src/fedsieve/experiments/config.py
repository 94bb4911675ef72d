"""What an experiment is: a TOML file that expands to frozen trials, each with a hash by which its record is known."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from fedsieve.catalog import registry
from fedsieve.checks import check_choice, is_number, is_whole
from fedsieve.datasets import available
from fedsieve.datasets.registry import known_dataset
from fedsieve.errors import ParameterError, listed, shown
from fedsieve.experiments.evaluation import SCALINGS, Evaluation
from fedsieve.experiments.sensitivity import Factors, check_factors, with_variants
from fedsieve.reading import read_toml

BUNDLED, BUNDLED_FEATURES = "digits", 64
KINDS = ("metrics", "curves", "communication", "quality", "sensitivity")
LABELS = {"none": ("none",), "semi-supervised": ("server",), "supervised": ("all", "server")}
"""Whose labels a method may see, by its supervision; the first is the usual."""
CHOICES = {
    "split": ("random", "official"),
    "partition": ("dirichlet", "iid", "quantity_skew"),
    "labels": ("none", "server", "all"),
}
GENERATION = 1
"""Raise this when a change of the code changes results: older records then no longer count."""


@dataclass(frozen=True)
class Trial:
    """One selection: a method, the labels it sees, and whose rows they are. How it is judged is no part of it."""

    dataset: str
    method: str
    labels: str  # of the "server", of "all" training rows, or "none"
    parameters: tuple[tuple[str, Any], ...] = ()
    k: int | None = None  # None: the method's own default
    labeled: float = 0.2
    n_clients: int = 10
    partition: str = "dirichlet"
    alpha: float = 0.5
    split: str = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the choices; numbers are checked by whoever uses them."""
        for name, allowed in CHOICES.items():
            check_choice("experiment", name, getattr(self, name), allowed)

    def key(self) -> str:
        """The hash of everything that decides the selection, the generation of our code included."""
        content = json.dumps({**asdict(self), "generation": GENERATION}, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Contender:
    """A row of a table: a method with parameters and the labels it sees (None: the usual), under a title.

    `settings` are fields of its trials that are not as in the experiment's other rows; so is `k_share`, a share of all
    features to select.
    """

    name: str
    title: str
    parameters: tuple[tuple[str, Any], ...] = ()
    labels: str | None = None
    settings: tuple[tuple[str, Any], ...] = ()
    k_share: float | None = None

    @property
    def labels_seen(self) -> str:
        """Supervised methods usually see all labels, semi-supervised ones the server's, controls none.

        >>> Contender("BMFS", "BMFS").labels_seen
        'all'
        """
        entry = registry().get(self.name)
        return self.labels or (LABELS[entry.supervision][0] if entry else "none")

    @property
    def shown_title(self) -> str:
        """The title; where only the idea of a method is certain, it says so.

        >>> Contender("SCFC", "SCFC").shown_title
        'SCFC (our reading)'
        """
        entry = registry().get(self.name)
        return f"{self.title} (our reading)" if entry and entry.fidelity == "our reading" else self.title


class Point(NamedTuple):
    """What a curve varies: the labeled share, or the number of features as a share of `k`."""

    labeled: float
    k_level: float = 1.0


@dataclass(frozen=True)
class Experiment:
    """A table, figure or page: its rows, its datasets, what is varied, and how it is judged.

    `kind` says how it is shown; `page` is the file into which an experiment of kind "quality" writes its tables;
    `distances` are the D_i of the communication cost, one per client (empty: 1); `settings` are further fields of its
    trials. Of kind "sensitivity", the first row is varied by `factors`, one at a time, and some of them `crossed`.
    """

    name: str
    title: str
    kind: str
    datasets: tuple[str, ...]
    contenders: tuple[Contender, ...]
    seeds: tuple[int, ...]
    labeled: tuple[float, ...] = (0.2,)
    k: Mapping[str, int] = field(default_factory=dict)
    k_levels: tuple[float, ...] = (1.0,)
    evaluations: tuple[Evaluation, ...] = tuple(Evaluation(scaling=scaling) for scaling in SCALINGS)
    distances: tuple[float, ...] = ()
    page: Path | None = None
    settings: tuple[tuple[str, Any], ...] = ()
    factors: Factors = ()
    crossed: tuple[tuple[str, ...], ...] = ()

    @property
    def points(self) -> tuple[Point, ...]:
        """All that a curve shows; a table has one."""
        return tuple(Point(*values) for values in product(self.labeled, self.k_levels))

    def shown(self, evaluation: Evaluation) -> str:
        """An evaluation in headings: its scaling, after the classifier where there are several."""
        several = len({other.classifier for other in self.evaluations}) > 1
        return f"{evaluation.classifier}, {evaluation.scaling}" if several else evaluation.scaling

    def contender(self, title: str) -> Contender | None:
        """The first row of that title."""
        return next((contender for contender in self.contenders if contender.title == title), None)

    def trials(self, contender: Contender, *points: Point) -> list[Trial]:
        """The trials of one row, at some points of its curve or at all."""
        return [
            Trial(
                dataset=dataset,
                method=contender.name,
                labels=contender.labels_seen,
                parameters=contender.parameters,
                k=self._k(dataset, point, contender.k_share),
                labeled=point.labeled,
                seed=seed,
                **{**dict(self.settings), **dict(contender.settings)},
            )
            for dataset, point, seed in product(self.datasets, points or self.points, self.seeds)
        ]

    def _k(self, dataset: str, point: Point, share: float | None) -> int | None:
        if share is not None:
            n_features = BUNDLED_FEATURES if dataset == BUNDLED else known_dataset(dataset).n_features
            return max(1, round(share * n_features))
        return max(1, round(point.k_level * self.k[dataset])) if dataset in self.k else None


def read_experiment(path: Path) -> Experiment:
    """Read a TOML file; an unknown key is refused, with the nearest known one."""
    content = read_toml(path)
    _check_content(path, content)
    contenders = tuple(_contender(path, entry) for entry in content["method"])
    shown = [(row.title, row.labels_seen if content["kind"] == "quality" else "") for row in contenders]
    for title, labels in shown:
        if shown.count((title, labels)) > 1:
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
            Evaluation(classifier, scaling, content.get("classifier_labels", "all"))
            for classifier, scaling in product(content.get("classifiers", ["ML-kNN"]), content.get("scaling", SCALINGS))
        ),
        distances=tuple(content.get("distances", ())),
        page=path.parent / content["page"] if "page" in content else None,
        settings=tuple((name, content[name]) for name in SETTINGS if name in content),
        factors=tuple((name, tuple(values)) for name, values in content.get("factors", {}).items()),
        crossed=tuple(map(tuple, content.get("crossed", ()))),
    )
    return with_variants(experiment)


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
        unknown = [name for name in content.get(key, ()) if name not in known]
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


SETTINGS = ("n_clients", "partition", "alpha", "split")
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
    "classifiers": (_list_of(_text), "a list of names"),
    "scaling": (_list_of(_text), 'a list of "scaled" and "raw"'),
    "classifier_labels": (_text, "text"),
    "distances": (_list_of(lambda d: is_number(d) and 0 < d < inf), "a list of positive numbers, one per client"),
    "page": (_text, "the path of a Markdown file"),
    "factors": (lambda factors: isinstance(factors, dict) and bool(factors), "a table of factor = list of values"),
    "crossed": (_list_of(_list_of(_text)), "a list of lists of factors"),
    "method": (_list_of(lambda method: isinstance(method, dict)), "tables [[method]]"),
}
