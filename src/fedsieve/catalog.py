"""Every method by name: how to build it, what labels it needs, whether it is federated, how sure its formulas are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fedsieve import rivals
from fedsieve.selectors import SSFMLFS, Sieve
from fedsieve.selectors.base import FederatedSelector
from fedsieve.selectors.controls import AllFeatures, LargestDeviation, RandomFeatures

ALL_FEATURES, RANDOM = "all features", "random"  # the controls that tables set beside every method
SEMI_SUPERVISED = (
    ("SFSS", rivals.SFSS, "text"),
    ("CSFS", rivals.CSFS, "code"),
    ("RLSR", rivals.RLSR, "code"),
    ("SCFC", rivals.SCFC, "our reading"),
    ("SFAM", rivals.SFAM, "our reading"),
)
SUPERVISED = (
    ("D2F", rivals.D2F, "code"),
    ("FSNM", rivals.FSNM, "code"),
    ("RFNMIFS", rivals.RFNMIFS, "our reading"),
    ("FIMF", rivals.FIMF, "code"),
    ("MLFS-NRS", rivals.MLFSNRS, "our reading"),
    ("MLNRS", rivals.MLNRS, "our reading"),
    ("MLFRS", rivals.MLFRS, "our reading"),
    ("BMFS", rivals.BMFS, "code"),
    ("MGFS", rivals.MGFS, "code"),
    ("MLACO", rivals.MLACO, "code"),
    ("GRMFS", rivals.GRMFS, "code"),
)


@dataclass(frozen=True)
class CatalogEntry:
    """One method.

    `supervision` is "none", "semi-supervised" or "supervised"; `fidelity` is "code" (checked against published code),
    "text" (from the paper's text; Sieve's is ours) or "our reading" (a reconstruction). A `control` is there to be
    compared with. The clients of a method that is federated and supervised hold labels too:
    `fit(X, Y, clients=[(Z, Yz), ...])`.
    """

    name: str
    factory: Callable[..., Any]
    supervision: str
    federated: bool
    fidelity: str
    control: bool = False


def registry() -> dict[str, CatalogEntry]:
    """All methods.

    >>> registry()["SSFMLFS"].supervision
    'semi-supervised'
    """
    entries = (
        *(_federated(selector) for selector in (Sieve, SSFMLFS)),
        *(
            CatalogEntry(name, factory, "semi-supervised", False, fidelity)
            for name, factory, fidelity in SEMI_SUPERVISED
        ),
        *(CatalogEntry(name, factory, "supervised", False, fidelity) for name, factory, fidelity in SUPERVISED),
        *(_federated(selector) for selector in (rivals.FMLFS, rivals.FedCMFS)),
        CatalogEntry("extra-trees", rivals.ExtraTrees, "supervised", federated=False, fidelity="text", control=True),
        CatalogEntry(ALL_FEATURES, AllFeatures, "none", federated=False, fidelity="text", control=True),
        CatalogEntry(RANDOM, RandomFeatures, "none", federated=False, fidelity="text", control=True),
        CatalogEntry("largest deviation", LargestDeviation, "none", federated=False, fidelity="text", control=True),
    )
    return {entry.name: entry for entry in entries}


def _federated(selector: type[FederatedSelector]) -> CatalogEntry:
    """What a federated method says of itself."""
    method = selector.federated_method()
    supervision = "supervised" if method.sites_hold_labels else "semi-supervised"
    return CatalogEntry(method.name, selector, supervision, federated=True, fidelity=method.fidelity)
