"""What may follow a run: on the columns that it selected, where the agreement allows it, under a name of its own.

A site answers it by the same rules as a run. What a follow-up is called at the sites says which run it follows, so that
no columns of another one can be asked for.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from fedsieve.protocol.cohort import Cohort, Steps
from fedsieve.protocol.method import Labeled, Method

OF_RUN = re.compile(r"(?P<run>.+?)\.(?P<what>[a-z]+)(\.[0-9]+)?")
ATTEMPT = re.compile(r"\.[0-9]+")
VALUE_BYTES = 8


@dataclass(frozen=True, eq=False)
class FollowUp(Method):
    """A method on the selected columns of a run, with the parameters that were agreed for the run."""

    choices: ClassVar = {}  # checked where they were agreed on
    why_not: ClassVar[dict[str, str]] = {}
    """Why an agreement cannot have it, by what it has besides: `private` or `secure`."""
    allows: ClassVar[str]
    """For people who agree: what it lets happen."""

    labels: tuple[str, ...] = ()
    follows: str = ""  # the method of the run

    @classmethod
    def after(cls, method: Method, selected: Iterable[str], labels: Iterable[str] = (), **own: Any) -> Self:
        """What follows a run of this method that selected these columns; `labels` are those of the agreement."""
        names, nominal = tuple(selected), set(method.nominal)
        return cls(
            names,
            missing=method.missing,
            nominal=tuple(name for name in names if name in nominal),
            on_bad_client="drop",
            max_message_bytes=method.max_message_bytes,
            min_clients=1,
            max_sites_per_client=method.max_sites_per_client,
            max_rows=method.max_rows,
            secure=method.secure,
            min_cell=method.min_cell,
            rows_per_column=method.rows_per_column,
            labels=cls.labels_of(method, tuple(labels)),
            follows=method.name,
            **own,
        )

    @classmethod
    def labels_of(cls, method: Method, labels: tuple[str, ...]) -> tuple[str, ...]:
        """Which labels it is about: those that sites of the method hold."""
        return labels if method.sites_hold_labels else ()

    @property
    def permitted_as(self) -> str:
        """Whoever allows a method allows what follows it, as far as other rules do."""
        return self.follows

    @property
    def columns_read(self) -> tuple[str, ...]:
        """With the labels."""
        return (*self.features, *self.labels)

    def n_bytes(self, n_rows: int) -> int:
        """Of the values of so many rows."""
        return n_rows * len(self.columns_read) * VALUE_BYTES

    def run(self, labeled: Labeled, cohort: Cohort) -> Steps[Any]:
        """The server's side; what it returns is its own."""
        raise NotImplementedError


def name_at_sites(run: str, what: str, number: int = 0) -> str:
    """Under which name sites know what follows a run, for the first time or after so many others.

    >>> name_at_sites("20261117-101500", "collect"), name_at_sites("20261117-101500", "label", 2)
    ('20261117-101500.collect', '20261117-101500.label.2')
    """
    return f"{run}.{what}" + (f".{number}" if number else "")


def run_followed(name: str) -> tuple[str, str]:
    """The run that a follow-up of this name follows, and what it is; both empty for what is no such name.

    >>> run_followed("20261117-101500.collect"), run_followed("20261117-101500.label.2"), run_followed("20261117")
    (('20261117-101500', 'collect'), ('20261117-101500', 'label'), ('', ''))
    """
    found = OF_RUN.fullmatch(name)
    return (found["run"], found["what"]) if found else ("", "")


def is_attempt_of(name: str, run: str) -> bool:
    """Whether a site knows an attempt at a run by this name.

    >>> is_attempt_of("r", "r"), is_attempt_of("r.2", "r"), is_attempt_of("r.collect", "r")
    (True, True, False)
    """
    return name.startswith(run) and (name == run or ATTEMPT.fullmatch(name[len(run) :]) is not None)
