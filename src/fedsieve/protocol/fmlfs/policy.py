"""What a site agreed to when it agreed to FMLFS."""

from fedsieve.errors import ProtocolError
from fedsieve.protocol import messages as m
from fedsieve.protocol.fmlfs.plan import FMLFSPlan
from fedsieve.protocol.labelled_sites import check_labels


def requests(_: FMLFSPlan) -> tuple[type[m.Request], ...]:
    """The requests of a run, in order."""
    return m.AskRanges, m.AskInformation


def check_request(plan: FMLFSPlan, request: m.Request) -> None:
    """Raise `ProtocolError` where labels or bins are other than agreed."""
    if isinstance(request, m.AskInformation):
        check_labels(plan, request.labels)
        if request.n_bins != plan.n_bins:
            raise ProtocolError(f"was asked for {request.n_bins} bins; agreed: {plan.n_bins}.")


def check_answer(plan: FMLFSPlan, reply: m.Reply) -> None:
    """Nothing depends on the answer: ranges that do not hold a site's values are refused before it is made."""


def what_leaves(plan: FMLFSPlan) -> list[tuple[str, str]]:
    """Each message that a site will send, and what it reveals."""
    d, n_labels = len(plan.features), len(plan.labels)
    return [
        ("Ranges", f"smallest and largest value of {d} columns: two values of each column, those of extreme rows"),
        (
            "Information",
            f"what {d} features tell of {n_labels} labels, and {d * (d - 1) // 2} distances between features",
        ),
    ]
