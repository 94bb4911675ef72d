"""A site that knows its own rows, and bins of the others, finds what turned theirs into its own."""

import numpy as np
import pytest

from fedsieve.measures.binning import bin_counts, edges_of_values
from fedsieve.measures.converted_rows import conversion_of
from fedsieve.measures.units import BOTH_WAYS, alike

RNG = np.random.default_rng(1)
OTHERS = RNG.normal(110, 25, 400)
EDGES = edges_of_values(OTHERS[:60])
COUNTS = bin_counts(OTHERS, EDGES)


@pytest.mark.parametrize(
    "conversion", [one for one in BOTH_WAYS if one.low <= 110 <= one.high], ids=lambda one: one.looks_like
)
def test_every_conversion_is_found(conversion):
    own = conversion(np.random.default_rng(2).normal(110, 25, 80))
    assert conversion_of(own, EDGES, COUNTS) in alike(conversion)


@pytest.mark.parametrize("moved", [0.0, 30.0, 100.0])
def test_rows_of_the_same_unit_are_not_converted(moved):
    own = np.random.default_rng(3).normal(110 + moved, 25, 80)
    assert conversion_of(own, EDGES, COUNTS) is None


def test_few_rows_and_missing_values():
    own = np.random.default_rng(3).normal(110, 25, 80) / 18
    own[:40] = np.nan
    assert conversion_of(own, EDGES, COUNTS).factor == pytest.approx(1 / 18)
    assert conversion_of(own[39:41], EDGES, COUNTS) is None
