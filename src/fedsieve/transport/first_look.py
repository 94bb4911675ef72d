"""The first rounds of a run and no more: what tells of single columns is asked, what compares columns is not.

The method itself asks, through the exchange of any runtime, and sites answer as in every run, by the same rules and
with the same records. Where only totals are seen, they are read off the requests that pass them on to the sites.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fedsieve.errors import ParameterError
from fedsieve.measures.column_facts import ColumnFacts, together
from fedsieve.messages import Reply, Request
from fedsieve.messages.cells import Cells
from fedsieve.messages.secure_sum import AskMasked
from fedsieve.protocol import SERVER, BadReplyError, Labeled, Method, Question
from fedsieve.protocol.checkup import checkup
from fedsieve.protocol.parties import GatherCohort
from fedsieve.transport.codec import decode
from fedsieve.transport.exchange import Answer, Exchange, drive

ALL = "all sites together"


class _Enough(Exception):  # noqa: N818 (no error: the look is over)
    """The next request would tell how columns go together."""


@dataclass
class _Seen:
    """What passes by."""

    rounds: list[tuple[Request, Mapping[str, Answer]]] = field(default_factory=list)
    cells: Cells | None = None  # of all sites together


def first_look(
    method: Method, labeled: Labeled, clients: tuple[str, ...], exchange: Exchange, gather: GatherCohort | None = None
) -> dict[str, Any]:
    """What the first rounds show, as plain values. A site that refuses ends them, and is named with its reason."""
    why = why_nothing_to_ask(method)
    if why:
        raise ParameterError(f"{method.name}: {why}")
    seen, refused = _Seen(), dict[str, str]()

    def looked(question: Question) -> Mapping[str, Answer]:
        if isinstance(question.request, AskMasked) and question.request.cells is not None:
            seen.cells = question.request.cells
        asked = _within(question.request)
        if not (asked.machinery or asked.single_columns):
            raise _Enough
        answers = exchange(question)
        seen.rounds.append((question.request, answers))
        return answers

    try:
        drive(replace(method, on_bad_client="raise"), labeled, clients, looked, gather=gather)
    except _Enough:
        pass
    except BadReplyError as bad:
        refused = bad.reasons
    asked = dict.fromkeys(_within(request).title for request, _ in seen.rounds)
    about = _totals(method, seen) if method.secure else _parties(method, labeled, seen, refused)
    return {"asked": list(asked), "refused": refused, "secure": method.secure, **about}


def why_nothing_to_ask(method: Method) -> str:
    """Why the first rounds would show nothing, or cost what a whole run costs; empty where they are worth it."""
    if method.private:
        return "sites answer once, with noise, and every answer costs of their budget. A check would cost a run."
    if not method.secure and not any(terms.request.single_columns for terms in method.terms()):
        return (
            "with these ranges nothing is asked of single columns before columns are compared, so there is nothing to "
            "check. The sites can compare their files themselves: fedsieve check FILE..."
        )
    return ""


def _within(request: Request) -> Request:
    """What is asked for: in a secure sum, the request that travels within."""
    if not isinstance(request, AskMasked):
        return request
    inner = decode(request.request.tobytes())
    assert isinstance(inner, Request)
    return inner


def _parties(method: Method, labeled: Labeled, seen: _Seen, refused: Mapping[str, str]) -> dict[str, Any]:
    """Each site beside the others and the labeled rows."""
    own, told = method.server_table(labeled), dict[str, list[ColumnFacts]]()
    for request, answers in seen.rounds:
        replies: dict[str, Reply] = {name: one.reply for name, one in answers.items() if name not in refused}
        for name, reply in {SERVER: request.answer(own), **replies}.items():
            facts = request.facts(reply)
            if facts is not None:
                told.setdefault(name, []).append(facts)
    parties = {name: together(method.features, parts) for name, parts in told.items()}
    return checkup({name: facts for name, facts in parties.items() if facts is not None}, method.nominal_mask)


def _totals(method: Method, seen: _Seen) -> dict[str, Any]:
    """All sites as one: which site is odd, only it can tell."""
    cells, names = seen.cells, method.features
    if cells is None:
        return {"parties": {}, "shift": None}
    few, missing = cells.too_few(max(method.min_cell, 1)), cells.missing / max(cells.n_rows, 1)
    found = {
        "rows": cells.n_rows,
        "missing": {name: float(share) for name, share in zip(names, missing, strict=False) if share > 0},
        "constant": [name for name, out in zip(names, few, strict=False) if out],  # labels come last
        "unknown_codes": {},
    }
    return {"parties": {ALL: found}, "shift": None}
