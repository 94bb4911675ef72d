"""`[above]` of an agreement: the federation for which an edge server asks its own sites.

Sites below an edge server consent to what it says: to whom totals over them go, and under which agreement.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from fedsieve.checks import is_whole
from fedsieve.errors import ParameterError, listed, shown

DIGEST = re.compile(r"[0-9a-f]{64}")
SHORT = 12  # characters of a fingerprint that people are shown


@dataclass(frozen=True)
class Above:
    """The federation above, as its agreement names it."""

    name: str
    client: str  # as whom the edge server belongs there
    operator: str  # the fingerprint of the key that signs there
    agreement: str  # the fingerprint of all that was agreed on there
    max_sites: int  # of which a total that is told from there can be

    @property
    def words(self) -> str:
        """For people who consent."""
        return (
            f"federation {self.name!r} (agreement {self.agreement[:SHORT]}, operator's key {self.operator}), "
            f"as those of {self.client!r}"
        )

    def plain(self) -> dict[str, Any]:
        """As the file has it."""
        return asdict(self)


def read_above(section: Any) -> Above:
    """The section, checked."""
    names = [field.name for field in fields(Above)]
    if not isinstance(section, Mapping) or sorted(section) != sorted(names):
        raise ParameterError(f"[above] must be a section with {listed(names)}; got {shown(section)}.")
    wrong = [name for name in names[:-1] if not isinstance(section[name], str)]
    if wrong:
        raise ParameterError(f"[above] {wrong[0]} must be text; got {shown(section[wrong[0]])}.")
    if not DIGEST.fullmatch(section["agreement"]):
        raise ParameterError(
            f"[above] agreement must be a fingerprint of 64 hexadecimal digits; got {shown(section['agreement'])}."
        )
    if not is_whole(section["max_sites"]) or section["max_sites"] < 1:
        raise ParameterError(f"[above] max_sites must be a whole number, 1 or more; got {shown(section['max_sites'])}.")
    return Above(**section)
