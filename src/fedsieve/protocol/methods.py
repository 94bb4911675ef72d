"""The methods that can be run as a federation: for each its plan, the server's side, and what a site agrees to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fedsieve.errors import not_one_of
from fedsieve.protocol import messages as m
from fedsieve.protocol.cohort import Cohort, Talk
from fedsieve.protocol.fedcmfs import policy as fedcmfs_policy
from fedsieve.protocol.fedcmfs.plan import FedCMFSPlan
from fedsieve.protocol.fedcmfs.talk import select_by_causes
from fedsieve.protocol.fmlfs import policy as fmlfs_policy
from fedsieve.protocol.fmlfs.plan import FMLFSPlan
from fedsieve.protocol.fmlfs.talk import select_by_fronts
from fedsieve.protocol.plan import Labeled, Plan
from fedsieve.protocol.sieve import policy as sieve_policy
from fedsieve.protocol.sieve.plan import SievePlan
from fedsieve.protocol.sieve.talk import select_by_views
from fedsieve.protocol.ssfmlfs import policy as ssfmlfs_policy
from fedsieve.protocol.ssfmlfs.plan import SSFMLFSPlan
from fedsieve.protocol.ssfmlfs.talk import select_by_graph


@dataclass(frozen=True)
class Method:
    """One method; the functions take its kind of plan first.

    `talk` is the server's side; `requests` are the kinds of request that sites agree to answer; `check_request` and
    `check_answer` refuse what else was not agreed on; `what_leaves` tells a person what a site will send;
    `why_not_added` says why an edge server cannot add up replies, where it cannot.
    """

    plan: type[Plan]
    talk: Callable[[Any, Labeled, Cohort], Talk[Any]]
    requests: Callable[[Any], tuple[type[m.Request], ...]]
    check_request: Callable[[Any, m.Request], None]
    check_answer: Callable[[Any, m.Reply], None]
    what_leaves: Callable[[Any], list[tuple[str, str]]]
    why_not_added: Callable[[Any, m.Request], str | None]


def _method(plan: type[Plan], talk: Callable[[Any, Labeled, Cohort], Talk[Any]], policy: Any) -> Method:
    return Method(
        plan,
        talk,
        policy.requests,
        policy.check_request,
        policy.check_answer,
        policy.what_leaves,
        policy.why_not_added,
    )


METHODS = {
    method.plan.method: method
    for method in (
        _method(SievePlan, select_by_views, sieve_policy),
        _method(SSFMLFSPlan, select_by_graph, ssfmlfs_policy),
        _method(FMLFSPlan, select_by_fronts, fmlfs_policy),
        _method(FedCMFSPlan, select_by_causes, fedcmfs_policy),
    )
}


def method_of(plan: Plan) -> Method:
    """The method a plan belongs to."""
    return METHODS[plan.method]


def method_named(name: object, owner: str) -> Method:
    """The method of that name."""
    if not isinstance(name, str) or name not in METHODS:
        raise not_one_of(owner, "method", METHODS, name)
    return METHODS[name]
