"""Who is compared: each method of the registry with the labels of the server only, and where it can with all labels."""

from dataclasses import dataclass
from inspect import signature

import numpy as np

from fedsieve.catalog import Entry, registry
from fedsieve.experiments.evaluation import Rows

SERVER, ALL, NONE = "20 %", "100 %", "none"
N_DRAWS = 20  # of random features
TOO_SLOW = ("RFNMIFS", "MLFS-NRS", "MLFRS")  # with all labels: ten runs on Corel5k take over an hour


@dataclass(frozen=True)
class Contender:
    """A method and the labels it sees: those of the server's rows, those of all training rows, or none."""

    name: str
    labels: str
    parameters: tuple[tuple[str, str], ...] = ()

    @property
    def title(self) -> str:
        """As it stands in tables."""
        entry = registry()[self.name]
        reading = " (our reading)" if entry.fidelity == "our reading" else ""
        options = "".join(f", {value}" for _, value in self.parameters)
        return f"{self.name}{options}{reading}"


def contenders() -> list[Contender]:
    """All of them; a supervised method is there twice."""
    found = []
    for entry in registry().values():
        if entry.supervision == "none":
            found.append(Contender(entry.name, NONE))
            continue
        found.append(Contender(entry.name, SERVER))
        if entry.supervision == "supervised" and entry.name not in TOO_SLOW:
            found.append(Contender(entry.name, ALL))
    return [*found, Contender("FedCMFS", ALL, (("combine", "pooled"),))]


def orders(contender: Contender, X: np.ndarray, Y: np.ndarray, rows: Rows, k: int, seed: int) -> list[np.ndarray]:
    """The orders of the features that a contender finds; several for random ones."""
    entry = registry()[contender.name]
    parameters = {"n_features_to_select": k, **dict(contender.parameters)}
    if contender.name == "random":
        draws = [entry.factory(**parameters, random_state=1000 * seed + draw) for draw in range(N_DRAWS)]
        return [selector.fit(X[rows.train]).order_ for selector in draws]
    if "random_state" in signature(entry.factory).parameters and entry.supervision == "supervised":
        parameters["random_state"] = seed
    return [entry.factory(**parameters).fit(**_given(entry, contender.labels, X, Y, rows)).order_]


def _given(entry: Entry, labels: str, X: np.ndarray, Y: np.ndarray, rows: Rows) -> dict:
    """What a method is given of the training rows."""
    if labels == NONE:
        return {"X": X[rows.train]}
    if entry.supervision == "semi-supervised":
        if entry.federated:
            return {"X": X[rows.server], "Y": Y[rows.server], "clients": [X[part] for part in rows.clients]}
        return {"X": X[rows.train], "y": np.where(np.isin(rows.train, rows.server)[:, None], Y[rows.train], -1)}
    if entry.federated:
        clients = [(X[part], Y[part]) for part in rows.clients] if labels == ALL else None
        return {"X": X[rows.server], "Y": Y[rows.server], "clients": clients}
    taught = rows.train if labels == ALL else rows.server
    return {"X": X[taught], "y": Y[taught]}
