"""What methods share whose sites hold labels: their plans name the labels, and the server is one more site."""

from dataclasses import dataclass
from typing import ClassVar

from fedsieve.errors import DataError, ParameterError, ProtocolError, listed
from fedsieve.protocol import messages as m
from fedsieve.protocol.plan import Labeled, Plan


@dataclass(frozen=True, eq=False)
class LabeledSitesPlan(Plan):
    """A plan that names the labels, which all sites have."""

    labeled_sites: ClassVar[bool] = True
    page: ClassVar[str] = "rivals.md"

    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the labels after what all methods share."""
        super().__post_init__()
        self.check_choice("missing", ("error",))
        if self.nominal:
            raise ParameterError(f"{self.method}: takes no nominal features; got {listed(self.nominal)}. Encode them.")
        if not self.labels:
            raise ParameterError(f"{self.method}: needs at least one label; got none.")
        twice = sorted({name for name in self.labels if self.labels.count(name) > 1 or name in self.features})
        if twice:
            raise ParameterError(f"{self.method}: labels and features must differ; {listed(twice)} occur twice.")

    @property
    def columns(self) -> m.Columns:
        """All features, read as numbers."""
        return m.Columns(self.features, self.nominal, self.missing)

    def check_labeled(self, labeled: Labeled) -> None:
        """Also refuse another number of labels."""
        super().check_labeled(labeled)
        if labeled.Y.shape[1] != len(self.labels):
            raise DataError(f"the labeled rows have {labeled.Y.shape[1]} labels, the plan {len(self.labels)}.")


def check_all_columns(plan: LabeledSitesPlan, columns: m.Columns, labels: tuple[str, ...]) -> None:
    """Raise `ProtocolError` where other features or labels are asked for than all that were agreed on."""
    if columns.features != plan.features:
        raise ProtocolError("was asked for other features than agreed, or in another order.")
    if labels != plan.labels:
        raise ProtocolError("was asked for other labels than agreed, or in another order.")
