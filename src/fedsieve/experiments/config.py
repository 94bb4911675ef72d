"""What an experiment is: a TOML file that expands to frozen runs, each with a hash by which its record is known."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any

from fedsieve.errors import ParameterError, not_one_of
from fedsieve.experiments.content import check_content

CHOICES = {
    "split": ("random", "official"),
    "partition": ("dirichlet", "iid", "quantity_skew"),
    "classifier_labels": ("all", "server"),
}
SCALINGS = ("scaled", "raw")
GENERATION = 1
"""Raise this when a change of the code changes results: older records then no longer count."""


@dataclass(frozen=True)
class Run:
    """One cell of a table for one seed. `scaling` lists how the classifier's input is scaled; one run serves both."""

    dataset: str
    method: str
    parameters: tuple[tuple[str, Any], ...] = ()
    k: int | None = None  # None: the method's own default
    labeled: float = 0.2
    n_clients: int = 10
    partition: str = "dirichlet"
    alpha: float = 0.5
    scaling: tuple[str, ...] = SCALINGS
    classifier_labels: str = "all"
    split: str = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the choices; numbers are checked by whoever uses them."""
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise not_one_of("experiment", name, allowed, getattr(self, name))
        for scaling in self.scaling:
            if scaling not in SCALINGS:
                raise not_one_of("experiment", "scaling", SCALINGS, scaling)

    def key(self) -> str:
        """The hash of everything that decides the result, the generation of our code included."""
        content = json.dumps({**asdict(self), "generation": GENERATION}, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Method:
    """A row of a table: a method of the registry with parameters, under a title."""

    name: str
    title: str
    parameters: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Experiment:
    """A table or figure: its rows, its datasets, and what is varied. `kind` says how it is shown."""

    name: str
    title: str
    kind: str
    datasets: tuple[str, ...]
    methods: tuple[Method, ...]
    seeds: tuple[int, ...]
    labeled: tuple[float, ...] = (0.2,)
    k: Mapping[str, int] = field(default_factory=dict)
    distances: tuple[float, ...] = ()  # D_i of the communication cost, per client; empty: 1
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def scalings(self) -> tuple[str, ...]:
        """How the classifier's input is scaled."""
        return tuple(dict(self.settings).get("scaling", SCALINGS))

    def runs(self, method: Method) -> list[Run]:
        """All runs of one row."""
        return [
            Run(
                dataset=dataset,
                method=method.name,
                parameters=method.parameters,
                k=self.k.get(dataset),
                labeled=labeled,
                seed=seed,
                **dict(self.settings),
            )
            for dataset, labeled, seed in product(self.datasets, self.labeled, self.seeds)
        ]


KINDS = ("metrics", "curves", "communication")
SETTINGS = ("n_clients", "partition", "alpha", "scaling", "classifier_labels", "split")
KEYS = {entry.name for entry in fields(Experiment)} - {"settings"} | {"method", *SETTINGS}


def read_experiment(path: Path) -> Experiment:
    """Read a TOML file; an unknown key is refused, with the nearest known one."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read: {error.strerror}.") from None
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"{path}: is no valid TOML: {error}.") from None
    _check_keys(path, "", content, KEYS - {"methods", "name"})
    for needed in ("title", "kind", "datasets", "method", "seeds"):
        if needed not in content:
            raise ParameterError(f"{path}: the key {needed!r} is missing.")
    if content["kind"] not in KINDS:
        raise not_one_of(str(path), "kind", KINDS, content["kind"])
    check_content(path, content)
    settings = {name: content[name] for name in SETTINGS if name in content}
    if "scaling" in settings:
        settings["scaling"] = tuple(settings["scaling"])
    return Experiment(
        name=path.stem,
        title=content["title"],
        kind=content["kind"],
        datasets=tuple(content["datasets"]),
        methods=tuple(_method(path, entry) for entry in content["method"]),
        seeds=tuple(content["seeds"]),
        labeled=tuple(content.get("labeled", (0.2,))),
        k=content.get("k", {}),
        distances=tuple(content.get("distances", ())),
        settings=tuple(settings.items()),
    )


def _method(path: Path, entry: dict[str, Any]) -> Method:
    _check_keys(path, "[[method]] ", entry, {"name", "title", "parameters"})
    if "name" not in entry:
        raise ParameterError(f"{path}: a [[method]] has no name.")
    return Method(entry["name"], entry.get("title", entry["name"]), tuple(sorted(entry.get("parameters", {}).items())))


def _check_keys(path: Path, where: str, content: Mapping[str, Any], known: set[str]) -> None:
    for key in content:
        if key not in known:
            nearest = get_close_matches(key, sorted(known), n=1, cutoff=0.0)
            raise ParameterError(f"{path}: {where}unknown key {key!r}. Did you mean {nearest[0]!r}?")
