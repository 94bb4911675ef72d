"""What an experiment is: methods that expand to frozen trials, each with a hash by which its record is known."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from fedsieve.catalog import registry
from fedsieve.checks import check_choice
from fedsieve.datasets.registry import known_dataset
from fedsieve.experiments.evaluation import MEASURES, SCALINGS, Evaluation
from fedsieve.experiments.sensitivity import Factors

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
    shift: float = 0.0  # by how many deviations clients' columns are moved

    def __post_init__(self) -> None:
        """Check the choices; numbers are checked by whoever uses them."""
        for name, allowed in CHOICES.items():
            check_choice("experiment", name, getattr(self, name), allowed)

    def key(self) -> str:
        """The hash of everything that decides the selection, the generation of our code included."""
        decides = {**asdict(self), "generation": GENERATION}
        if not self.shift:
            del decides["shift"]  # which older records do not know
        content = json.dumps(decides, sort_keys=True)
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

    `kind` says how it is shown, `metrics` which of them as curves; `page` is the file into which an experiment of kind
    "quality" writes its tables; `distances` are the D_i of the communication cost, one per client (empty: 1);
    `settings` are further fields of its trials. Of kind "sensitivity", the first row is varied by `factors`, one at a
    time, and some of them `crossed`.
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
    metrics: tuple[str, ...] = tuple(MEASURES)
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
