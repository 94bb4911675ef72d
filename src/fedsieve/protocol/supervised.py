"""The contract of a method whose sites hold labels too."""

from dataclasses import dataclass
from typing import ClassVar

from fedsieve import checks
from fedsieve.errors import DataError, ParameterError, listed, occur_twice
from fedsieve.protocol.method import Labeled, Method
from fedsieve.tables import ArrayTable, Table


@dataclass(frozen=True, eq=False)
class SupervisedMethod(Method):
    """A method whose sites hold labels too: it names them, and the server is one more site."""

    page: ClassVar[str] = "rivals.md"
    sites_hold_labels: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = False

    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the labels after what all methods share."""
        super().__post_init__()
        if self.nominal:
            names = listed(self.nominal)
            raise ParameterError(f"{self.name}: takes no nominal features; got {names}. Encode them.")
        if not self.labels:
            raise ParameterError(f"{self.name}: needs at least one label; got none.")
        twice = {*checks.repeated(self.labels), *(set(self.labels) & set(self.features))}
        if twice:
            raise ParameterError(f"{self.name}: labels and features must differ; {occur_twice(sorted(twice))}.")

    @property
    def columns_read(self) -> tuple[str, ...]:
        """With the labels."""
        return (*self.features, *self.labels)

    def check_labeled(self, labeled: Labeled) -> None:
        """Also refuse another number of labels."""
        super().check_labeled(labeled)
        if labeled.Y.shape[1] != len(self.labels):
            raise DataError(f"the labeled rows have {labeled.Y.shape[1]} labels, the plan {len(self.labels)}.")

    def server_table(self, labeled: Labeled) -> Table:
        """With the labels."""
        return ArrayTable(self.features, labeled.X, self.labels, labeled.Y)
