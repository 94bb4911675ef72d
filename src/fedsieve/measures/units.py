"""Unit conversions that turn up between sites' tables: what one site's values are of the others', and in which units.

Each is told in one direction, `factor * x + offset`; both are looked for. Values that look converted need not be: the
names are questions to a person who knows the column.
"""

from math import inf, log
from typing import NamedTuple


class Conversion(NamedTuple):
    """What values become in another unit."""

    factor: float
    offset: float
    units: str
    low: float = -inf  # between which the mean of what is converted lies, where the units are those of one quantity
    high: float = inf

    def __call__(self, x: float) -> float:
        """The value in the other unit."""
        return self.factor * x + self.offset

    @property
    def back(self) -> "Conversion":
        """The other direction.

        >>> CELSIUS.back(98.6).__round__(6)
        37.0
        """
        return Conversion(1 / self.factor, -self.offset / self.factor, self.units, self(self.low), self(self.high))

    @property
    def looks_like(self) -> str:
        """What the values are of those in the other unit, in words that follow "look like".

        >>> GLUCOSE.looks_like, GLUCOSE.back.looks_like
        ("18 times the others'", "1/18 of the others'")
        >>> CELSIUS.looks_like, CELSIUS.back.looks_like
        ("1.8 times the others' plus 32", "the others' minus 32, divided by 1.8")
        """
        if self.factor >= 1:
            return f"{self.factor:.4g} times the others'{_plus(self.offset)}"
        divisor, before = 1 / self.factor, self.offset / self.factor
        return f"the others'{_plus(before)}, divided by {divisor:.4g}" if before else f"1/{divisor:.4g} of the others'"


def _plus(offset: float) -> str:
    return f" {'plus' if offset > 0 else 'minus'} {abs(offset):.4g}" if offset else ""


CELSIUS = Conversion(1.8, 32.0, "°C and °F", -60.0, 60.0)
GLUCOSE = Conversion(18.0, 0.0, "mg/dl and mmol/l of glucose")
CONVERSIONS = (
    CELSIUS,
    Conversion(2.2046, 0.0, "kg and lb"),
    Conversion(2.54, 0.0, "inch and cm"),
    Conversion(7.5006, 0.0, "kPa and mmHg"),
    Conversion(10.0, 0.0, "cm and mm, g/dl and g/l"),
    Conversion(10.929, -23.5, "% and mmol/mol of HbA1c", 3.0, 20.0),
    GLUCOSE,
    Conversion(38.67, 0.0, "mg/dl and mmol/l of cholesterol"),
    Conversion(88.4, 0.0, "mg/dl and µmol/l of creatinine"),
    Conversion(88.57, 0.0, "mg/dl and mmol/l of triglycerides"),
    Conversion(100.0, 0.0, "percent and shares, m and cm"),
    Conversion(1000.0, 0.0, "g and mg"),
    Conversion(1e6, 0.0, "g and µg"),
)
BOTH_WAYS = tuple(one for conversion in CONVERSIONS for one in (conversion, conversion.back))
SAME = 0.03  # of factors, as a logarithm: so near, no data tell one from the other


def alike(conversion: Conversion) -> list[Conversion]:
    """The conversion and those that no data tell from it.

    >>> [one.units for one in alike(Conversion(1 / 88.4, 0.0, ""))]
    ['mg/dl and µmol/l of creatinine', 'mg/dl and mmol/l of triglycerides']
    """
    return [
        one for one in BOTH_WAYS if one.offset == conversion.offset and abs(log(one.factor / conversion.factor)) < SAME
    ]


def in_words(conversion: Conversion) -> str:
    """What the values look like, with the units as a question.

    >>> in_words(GLUCOSE.back)
    "look like 1/18 of the others' (mg/dl and mmol/l of glucose?)"
    """
    units = " or ".join(one.units for one in alike(conversion))
    return f"look like {conversion.looks_like} ({units}?)"
