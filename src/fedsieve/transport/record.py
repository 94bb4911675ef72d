"""All that is worth keeping of a run, as plain values: what `selection.json` holds and what sites are told."""

from dataclasses import fields
from math import isnan
from typing import Any

from fedsieve.protocol import Plan, SSFMLFSPlan, bytes_by_kind
from fedsieve.transport.exchange import Outcome
from fedsieve.versions import versions

FORMAT = "fedsieve-selection/1"


def selection_record(
    plan: Plan,
    outcome: Outcome,
    labels: list[str],
    *,
    seed: int | None = None,
    federation: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The record of a run. `seed` is that of the data's partition, if one was drawn.

    `federation` is what a run over a network adds: its id, and what happened to its sites.
    """
    found = outcome.selection
    names = list(plan.features)
    n_selected = plan.k if found.n_selected is None else found.n_selected

    def per_feature(values: Any) -> dict[str, float | None]:
        return dict(zip(names, (None if isnan(value) else float(value) for value in values), strict=True))

    def other_feature(indices: Any) -> dict[str, str | None]:
        return dict(zip(names, (None if i < 0 else names[i] for i in indices), strict=True))

    return {
        "format": FORMAT,
        "method": plan.method,
        "selected": [names[i] for i in found.order[:n_selected]],
        "order": [names[i] for i in found.order],
        "columns": [*found.columns(), *found.links()],  # what follows per feature
        **{name: per_feature(values) for name, values in found.columns().items()},
        **{name: other_feature(indices) for name, indices in found.links().items()},
        "labels": labels,
        "parameters": {**_parameters(plan), "n_features_to_select": n_selected},
        **found.facts(),
        "n_rows": found.n_rows,
        "dropped": found.dropped,
        "seed": seed,
        "federation": federation,
        "versions": versions(),
        "bytes": bytes_by_kind(outcome.transcript),
        "transcript": [entry._asdict() for entry in outcome.transcript],
    }


def _parameters(plan: Plan) -> dict[str, Any]:
    """What was decided: defaults spelled out, "auto" resolved."""
    values = {field.name: getattr(plan, field.name) for field in fields(plan) if field.name != "features"}
    if isinstance(plan, SSFMLFSPlan):
        ranges = plan.ranges if isinstance(plan.ranges, str) else dict(plan.ranges)
        values |= {"wire": plan.wire_form, "ranges": ranges}
    return values
