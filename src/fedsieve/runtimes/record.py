"""All that is worth keeping of a run, as plain values: what `selection.json` holds and what sites are told."""

from typing import Any

from fedsieve.protocol import Plan, bytes_by_kind
from fedsieve.runtimes.driver import Outcome
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

    def per_feature(values: Any) -> dict[str, float]:
        return dict(zip(names, (float(value) for value in values), strict=True))

    return {
        "format": FORMAT,
        "method": "SSFMLFS",
        "selected": [names[i] for i in found.order[: plan.k]],
        "order": [names[i] for i in found.order],
        "scores": per_feature(found.scores),
        "relevance": per_feature(found.relevance),
        "radius": per_feature(found.radius),
        "labels": labels,
        "parameters": _parameters(plan),
        "n_iter": found.n_iter,
        "residual": found.residual,
        "n_rows": found.n_rows,
        "n_clipped": found.n_clipped,
        "dropped": found.dropped,
        "seed": seed,
        "federation": federation,
        "versions": versions(),
        "bytes": bytes_by_kind(outcome.transcript),
        "transcript": [entry._asdict() for entry in outcome.transcript],
    }


def _parameters(plan: Plan) -> dict[str, Any]:
    skipped = ("features", "nominal_mask", "n_features_to_select", "wire")
    values = {name: value for name, value in vars(plan).items() if name not in skipped}
    ranges = values["ranges"] if isinstance(values["ranges"], str) else dict(values["ranges"])
    return {"n_features_to_select": plan.k, "wire": plan.wire_form, **values, "ranges": ranges}
