"""The labels in a report: which of the chosen features tell most of each."""

from collections.abc import Mapping
from typing import Any

from fedsieve.report.sections.features import plain
from fedsieve.text import visible

MOST_LABELS = 60
MOST_FEATURES = 5  # of each label


def labels_section(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """Per label, the chosen features that go with it most; `None` where the method does not tell, or chose nothing.

    A label that does not vary among the labeled rows has none.
    """
    per_label = record.get("per_label")
    if not per_label or not record["selected"]:
        return None
    rows = []
    for label, strength in list(per_label.items())[:MOST_LABELS]:
        told = [(name, strength.get(name) or 0.0) for name in record["selected"]]
        best = sorted(told, key=lambda pair: -pair[1])[:MOST_FEATURES]
        features = [{"feature": visible(name), "strength": plain(value)} for name, value in best if value > 0]
        rows.append({"label": visible(label), "features": features})
    return {"rows": rows, "n_labels": len(per_label)}
