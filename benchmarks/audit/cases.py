"""What is audited: each method and wire form, and which rows each attack is tried on."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from fedsieve.audit import GUARDS, Setting
from fedsieve.audit.parties import of_dataset
from fedsieve.methods import METHODS

N_SITES, SEED = 5, 0  # sites of 216 rows: just enough for three rows to each of 72 columns
ROBUST: dict[str, Any] = {"ranges": "robust"}
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "Sieve": ("Sieve", ROBUST),
    "Sieve, exact ranges": ("Sieve", {"ranges": "federated"}),
    "SSFMLFS, statistics": ("SSFMLFS", {**ROBUST, "wire": "statistics"}),
    "SSFMLFS, vectors": ("SSFMLFS", {**ROBUST, "wire": "vectors"}),
    "SSFMLFS, matrices": ("SSFMLFS", {**ROBUST, "wire": "matrices"}),
    "FMLFS": ("FMLFS", ROBUST),
    "FedCMFS, p-values": ("FedCMFS", ROBUST),
    "FedCMFS, pooled": ("FedCMFS", {**ROBUST, "combine": "pooled"}),
    "FedCMFS, tests": ("FedCMFS", {**ROBUST, "wire": "tests"}),
}
ADD_UP = ("Sieve", "SSFMLFS, statistics", "SSFMLFS, vectors", "FedCMFS, pooled")  # the forms that can be secure
SAME_RESULT = ("SSFMLFS, vectors", "SSFMLFS, matrices", "FedCMFS, tests", "Sieve, exact ranges")
"""Forms that poisoning is not tried on: they rank as another form does, or are in `benchmarks.rules`."""
IN_GREY = ("relations", "chosen requests", "membership", "poisoning")
IN_BLACK_AND_WHITE = ("lone columns", "small sites", "differencing")
"""Attacks that read rows: of 0/1 columns every form gives some."""


class Case(NamedTuple):
    """One attack in one setting."""

    form: str
    secure: bool
    guard: str
    attack: str

    @property
    def name(self) -> str:
        """As results keep it."""
        return f"{self.form}, {'secure' if self.secure else 'plain'}, {self.guard}: {self.attack}"


def settings() -> Iterator[tuple[str, bool, str]]:
    """Form, secure, guard; the quick ones first."""
    for form in FORMS:
        yield from ((form, False, guard) for guard in GUARDS)
    for form in ADD_UP:
        yield from ((form, True, guard) for guard in GUARDS)


def cases() -> Iterator[Case]:
    """All of them, setting by setting."""
    for form, secure, guard in settings():
        for attack in (*IN_BLACK_AND_WHITE, *IN_GREY):
            if attack != "poisoning" or form not in SAME_RESULT:
                yield Case(form, secure, guard, attack)


def setting_of(case: Case) -> Setting:
    """The rows dealt out, and the method built for them."""
    parties = of_dataset("ink" if case.attack in IN_BLACK_AND_WHITE else "digits", N_SITES, SEED)
    name, parameters = FORMS[case.form]
    of_method: Any = METHODS[name]
    held = {"labels": parties.labels} if of_method.sites_hold_labels else {}
    method = of_method(parties.features, secure=case.secure, **held, **parameters)
    return Setting.of(method, parties, case.guard, seed=SEED)
