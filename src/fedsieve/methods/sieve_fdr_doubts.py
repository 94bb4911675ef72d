"""What speaks against a stated error rate, in words: why little can be found, and why the rate is not sure."""

from collections.abc import Iterator, Sequence
from math import ceil, floor, inf, log10

from fedsieve.arrays import Bool, Float
from fedsieve.errors import listed
from fedsieve.sieve.error_rate import MANY, ROUNDING, Contest, ErrorRate, smallest_rate
from fedsieve.sieve.pair_doubts import COPIES
from fedsieve.text import counted

# docs/error-rate.md says where the bounds come from.
FEW_LABELED = 50  # rows, with fewer of which next to nothing was found, however few columns there were
FEW_CARRIERS = 15  # rows with a label, or without it: of labels with fewer next to nothing was found
MOST_PAIRS = 4  # that a doubt names
MANY_MISSING = 0.2  # of a column's values
TOLD_ELSEWHERE = 8.0  # labeled rows times the share of values missing times what the nearest column tells of them
NO_RATE = "No fdr selects from so few: leave it out, and give n_features_to_select."


def little_to_find(found: ErrorRate, against: Contest, columns: Sequence[str]) -> Iterator[str]:
    """Why nothing, or next to nothing, can be selected; the rate holds all the same."""
    n_units = int(against.varies.sum())
    if found.least > n_units:
        smallest = smallest_rate(n_units) if n_units else inf
        way_out = f"Use a larger fdr, from {_rounded_up(smallest)} on." if smallest < 1 else NO_RATE
        yield f"at fdr={found.q:g} nothing can be selected: a selection has {at_least(found)}, of {n_units}. {way_out}"
    if against.n_labeled < FEW_LABELED:
        yield (
            f"little can be found: {counted(against.n_labeled, 'labeled row')}; with fewer than {FEW_LABELED} next to "
            "nothing is. Label more rows."
        )
    few = int((against.rarer < FEW_CARRIERS).sum())
    if 2 * few > len(against.rarer):
        yield (
            f"little can be found: {few} of {counted(len(against.rarer), 'label')} that vary have fewer than "
            f"{FEW_CARRIERS} labeled rows with the label, or without. Label more rows, or leave rare labels out."
        )
    if pairs := list(dict.fromkeys((columns[one], columns[other]) for one, other in against.doubts.copies)):
        named = "; ".join(listed(pair) for pair in pairs[:MOST_PAIRS])
        more = f" and {counted(len(pairs) - MOST_PAIRS, 'more pair')}" if len(pairs) > MOST_PAIRS else ""
        yield (
            f"little can be found of features that cannot be told from each other (|correlation| above {COPIES:g}): "
            f"{named}{more}. Neither may be selected, though both help; put them into one group, or leave one out."
        )
    if follow := [name for name in named_in(columns, against.follows) if not any(name in pair for pair in pairs)]:
        yield (
            f"little can be found of features that follow from others, as a sum does: {listed(follow)}. None of them "
            "is selected, though some may help; leave one out where all add up to another or to a constant, declare "
            "codes as nominal, or put them into one group."
        )


def not_sure(against: Contest, columns: Sequence[str], missing: Float) -> Iterator[str]:
    """What speaks against the promise."""
    n_others, p = against.n_all - against.n_labeled, against.n_coordinates
    if p and not against.exact and n_others <= 2 * p + 1:
        yield (
            f"the error rate is not sure: {n_others} unlabeled rows are few for {counted(p, 'column')}, with those of "
            "codes; more than twice as many would do."
        )
    if shifted := named_in(columns, against.doubts.shifted):
        yield (
            f"the error rate is not sure: the labeled rows lie elsewhere than all rows in {listed(shifted)}. Where "
            "sites are shifted, center='sites' compares within them."
        )
    if wider := named_in(columns, against.doubts.wider):
        yield (
            f"the error rate is not sure: the labeled rows spread wider than all rows in {listed(wider)}, so that "
            "false features may be selected. center='sites' takes deviations from the labeled rows."
        )
    if mismatched := named_in(columns, against.doubts.mismatched):
        yield (
            "the error rate is not sure: in the labeled rows columns do not go with each other as in all rows: "
            f"{listed(mismatched)}. Label rows that are like the others; where sites are shifted, center='sites' "
            "compares within them."
        )
    if peaked := named_in(columns, against.doubts.peaked):
        yield f"the error rate is not sure: far from Gaussian, nearly constant or with far outliers: {listed(peaked)}."
    if bent := named_in(columns, against.doubts.bent):
        yield (
            "the error rate is not sure: columns are bent functions of others, as squares and absolute values are: "
            f"{listed(bent)}. One may be selected for what another tells; leave one out, or put them into one group."
        )
    if gaps := named_in(columns, missing > MANY_MISSING):
        yield (
            f"the error rate is not sure: more than {100 * MANY_MISSING:g} % of the values are missing in "
            f"{listed(gaps)}; what stands in for them is no Gaussian. Leave such columns out."
        )
    told = against.n_labeled * missing * against.doubts.nearest**2
    if gaps := named_in(columns, (missing <= MANY_MISSING) & (told > TOLD_ELSEWHERE)):
        yield (
            "the error rate is not sure: columns that go with them tell what the values that are missing in "
            f"{listed(gaps)} would have told, and may be selected for that. Leave such columns out, or rows with gaps."
        )


def at_least(found: ErrorRate) -> str:
    """How many features a draw selects if it selects any."""
    return f"at least {counted(found.least, 'feature')}" if found.least < MANY else "over a million features"


def _rounded_up(rate: float) -> str:
    """To two digits, so that the rate is enough.

    >>> _rounded_up(2 / 3), _rounded_up(4 / 120), _rounded_up(0.2)
    ('0.67', '0.034', '0.2')
    """
    unit = 10.0 ** (floor(log10(rate)) - 1)
    return f"{ceil(rate / unit - ROUNDING) * unit:.2g}"


def named_in(columns: Sequence[str], marked: Bool) -> list[str]:
    """The features of the columns that are marked, each once."""
    return list(dict.fromkeys(name for name, mark in zip(columns, marked, strict=True) if mark))
