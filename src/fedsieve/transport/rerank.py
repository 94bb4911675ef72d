"""A method once more, from the totals of an earlier run: another number of features, and no site is asked.

The method runs as it did then, against a cohort that repeats the totals. It gets them only for the very requests that
the sites answered; a change that would make another request is refused, by name.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from fedsieve.errors import DataError, ParameterError, ProtocolError, listed
from fedsieve.messages import Reply, Request
from fedsieve.privacy.taking_part import first_request, taking_part
from fedsieve.protocol import Labeled, Method, Selection, Steps
from fedsieve.protocol.outcome import Outcome
from fedsieve.selection_file import selection_record
from fedsieve.transport.totals_file import Totals, labeled_digest, request_digest

OF_THE_RUN = (
    "n_rows",
    "dropped",
    "left_out",
    "seed",
    "federation",
    "bytes",
    "transcript",
    "n_clipped",
    "missing_by_site",
)
"""What a record tells of its run, in which nobody is asked again."""
OF_THE_CHOICE = ("sizes_tried", "influence", "pairs", "timing", "command", "fdr")
"""What holds for the features that were selected then."""


def rerank(totals: Totals, labeled: Labeled, changes: Mapping[str, Any]) -> tuple[Method, Selection]:
    """The method with other parameters of the server, and what it selects from the same totals."""
    if labeled_digest(labeled) != totals.labeled:
        raise DataError(
            f"{totals.method.name}: the labeled rows ({labeled.X.shape[0]} rows, {labeled.X.shape[1]} features) are "
            "not those of the run. Totals hold for the same rows in the same order; give these, or start a new run."
        )
    method = changed(totals.method, changes)
    cohort = _Repeated(totals, method.name, changes)
    try:
        next(_run(method, labeled, cohort))
    except StopIteration as finished:
        selection: Selection = finished.value
        return method, selection
    raise AssertionError("a cohort that repeats asks nobody")


def changed(method: Method, changes: Mapping[str, Any]) -> Method:
    """The method with some parameters changed, where they are the server's alone."""
    known = {field.name for field in fields(method)}
    if unknown := [name for name in changes if name not in known]:
        raise ParameterError(f"{method.name}: has no parameter {listed(unknown)}.")
    if agreed := [name for name in changes if name not in method.decided_here]:
        raise ParameterError(
            f"{method.name}: {listed(agreed)} decides what the sites are asked, or what they agreed to; to change it "
            f"takes a new run. From the totals of this one can change: {listed(method.decided_here)}."
        )
    return replace(method, **method.with_others_left_out(changes))


def reranked_record(old: dict[str, Any], method: Method, selection: Selection) -> dict[str, Any]:
    """The record of a selection from kept totals: what was found anew, and of the run what it was."""
    new = selection_record(method, Outcome(selection, ()), old["labels"])
    beside = [name for name in old["columns"] if name.startswith("rank_") and name not in new["columns"]]
    of_run = {name: old[name] for name in OF_THE_RUN if name in old}
    gone = {*OF_THE_CHOICE, *old["columns"]} - {*beside}
    before = {name: value for name, value in old.items() if name not in gone}
    stale = {"influence": None} if "influence" in old else {}
    columns = [*new["columns"], *beside]
    return {**before, **new, **of_run, **stale, "columns": columns, "reranked_from": len(old["selected"])}


def _run(method: Method, labeled: Labeled, cohort: "_Repeated") -> Steps[Selection]:
    left_out: tuple[str, ...] = ()
    if method.secure and not method.private:
        cells = yield from cohort.total(first_request(method))
        method, labeled, left_out = taking_part(method, labeled, cells)
    selection: Selection = yield from method.run(labeled, cohort)
    return replace(selection, left_out=left_out)


class _Repeated:
    """A cohort that repeats the totals of then, to the requests of then."""

    compares_all = False

    def __init__(self, totals: Totals, owner: str, changes: Mapping[str, Any]) -> None:
        self.unseen, self.noise_shares = totals.unseen, totals.noise_shares
        self.n_rows: dict[str, int] | None = None
        self._told, self._owner, self._changes = list(totals.told), owner, changes

    def observe(self, observer: Any) -> None:
        """All was observed before."""

    def total(self, request: Request, own: Reply | None = None) -> Steps[Any]:  # noqa: ARG002 (is part of the total)
        """The total of then."""
        yield from ()
        digest, total = self._told.pop(0) if self._told else ("", None)
        if digest != request_digest(request):
            raise ParameterError(
                f"{self._owner}: {_shown(self._changes) or 'this version'} would ask the sites otherwise than the run "
                f"did ({request.title}), so that its totals are no answer. It takes a new run."
            )
        return total

    def each(self, request: Request, take: Callable[[Any], Any] | None = None) -> Steps[dict[str, Any]]:  # noqa: ARG002
        """Refused: single replies are not kept."""
        raise ProtocolError(f"{self._owner}: {request.title} of single sites are not kept. It takes a new run.")


def _shown(changes: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in changes.items())
