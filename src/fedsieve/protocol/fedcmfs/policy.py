"""What a site agreed to when it agreed to FedCMFS."""

from fedsieve.errors import ProtocolError
from fedsieve.protocol import messages as m
from fedsieve.protocol.fedcmfs.plan import FedCMFSPlan
from fedsieve.protocol.labeled_sites import check_all_columns


def requests(plan: FedCMFSPlan) -> tuple[type[m.Request], ...]:
    """The requests of a run, in order."""
    return (m.AskCovariances,) if plan.wire == "statistics" else (m.AskPartialCorrelations,)


def check_request(plan: FedCMFSPlan, request: m.Request) -> None:
    """Raise `ProtocolError` where labels are other than agreed, or more variables are given."""
    if isinstance(request, m.AskCovariances | m.AskPartialCorrelations):
        check_all_columns(plan, request.columns, request.labels)
    if isinstance(request, m.AskPartialCorrelations) and request.given.ndim == 2:
        n_given = request.given.shape[1]
        if n_given > plan.max_conditioning:
            raise ProtocolError(f"was asked for tests given {n_given} variables; agreed: {plan.max_conditioning}.")


def check_answer(plan: FedCMFSPlan, reply: m.Reply) -> None:
    """Nothing depends on the answer."""


def what_leaves(plan: FedCMFSPlan) -> list[tuple[str, str]]:
    """Each message that a site will send, and what it reveals."""
    n_variables = len(plan.features) + len(plan.labels)
    n_pairs = n_variables * (n_variables + 1) // 2
    if plan.wire == "statistics":
        return [
            (
                "Covariances",
                f"the number of rows, means of {n_variables} columns and {n_pairs} sums of products: averages, spreads "
                "and correlations; exactly how many rows have each label, and each two labels together",
            )
        ]
    return [
        (
            "PartialCorrelations",
            "the number of rows, and one number for each test the server asks for, in several rounds: how two columns "
            "hang together given others; in the end up to all correlations of all columns, but no averages or spreads",
        )
    ]


def why_not_added(plan: FedCMFSPlan, _: m.Request) -> str | None:
    """Why replies of several sites do not add up to one; `None` where they do."""
    if plan.combine != "pooled":
        return "combine='p-values' averages over single sites, which it does not name. Use 'pooled'."
    return None
