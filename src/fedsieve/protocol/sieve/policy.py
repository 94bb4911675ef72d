"""What a site agreed to when it agreed to Sieve."""

from fedsieve.errors import ProtocolError
from fedsieve.protocol import messages as m
from fedsieve.protocol.sieve.plan import SievePlan


def requests(plan: SievePlan) -> tuple[type[m.Request], ...]:
    """The requests of a run, in order."""
    if _may_be_wide(plan):
        return m.AskRanges, m.AskProjections, m.AskScaledCovariances
    return m.AskRanges, m.AskScaledCovariances


def check_request(plan: SievePlan, request: m.Request) -> None:
    """Raise `ProtocolError` where covariances of more columns are asked for than are compared; a group stays whole."""
    most = max([plan.n_compared, *map(len, plan.groups)])
    if isinstance(request, m.AskScaledCovariances) and len(request.columns.features) > most:
        n_columns = len(request.columns.features)
        raise ProtocolError(f"was asked for covariances of {n_columns} columns; agreed: at most {most} (screen).")


def check_answer(plan: SievePlan, reply: m.Reply) -> None:
    """Nothing depends on the answer."""


def what_leaves(plan: SievePlan) -> list[tuple[str, str]]:
    """Each message that a site will send, and what it reveals."""
    d = len(plan.features)
    codes = ", with one column for each code of a nominal one" if plan.nominal else ""
    compared = min(d, plan.n_compared)
    messages = [
        ("Ranges", f"smallest and largest value of {d} columns: two values of each column, those of extreme rows"),
        (
            "Covariances",
            f"the number of rows, means of {'up to ' * (d > compared)}{compared} columns{codes} and sums of products "
            "of each two: averages, spreads and correlations",
        ),
    ]
    if _may_be_wide(plan):
        wide = "" if d > plan.n_compared else "if codes make the table wide: "
        messages.insert(
            1,
            (
                "Projections",
                f"{wide}means and spreads of {d} columns{codes}, and how each varies with the labels that the server's "
                "model predicts",
            ),
        )
    return messages


def why_not_added(_: SievePlan, __: m.Request) -> str | None:
    """All replies of several sites add up to one."""
    return None


def _may_be_wide(plan: SievePlan) -> bool:
    return len(plan.features) > plan.n_compared or bool(plan.nominal)
