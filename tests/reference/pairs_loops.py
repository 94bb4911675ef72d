"""Complementary pairs, one half after another, and Shah and Samworth's bounds case by case."""

from fractions import Fraction


def shares(order_of, n_rows, n_units, k, deals):
    """In which share of halves each unit is among the first k; `order_of` ranks from the numbers of some rows."""
    chosen = [0] * n_units
    half = n_rows // 2
    for dealt in deals:
        for rows in (sorted(dealt[:half]), sorted(dealt[half : 2 * half])):
            for unit in list(order_of(rows))[:k]:
                chosen[unit] += 1
    return [Fraction(times, 2 * len(deals)) for times in chosen]


def worst_case(k, p, threshold):
    """Their equation (8): θ / (2τ - 1) times k, which is k² / ((2τ - 1) p). `threshold` is a fraction."""
    return Fraction(k * k) / ((2 * threshold - 1) * p)


def one_peak(k, p, threshold, n_pairs):
    """Their Theorem 2, for thresholds 1/2 + 1/B, 1/2 + 3/(2B), ..., 1; `None` where it says nothing."""
    theta, tau, B = Fraction(k, p), threshold, Fraction(n_pairs)
    if 3 * theta**2 > 1 or tau < Fraction(1, 2) + 1 / B:
        return None
    if tau > Fraction(3, 4):
        return 4 * (1 - tau + 1 / (2 * B)) / (1 + 1 / B) * theta * k
    if tau > min(Fraction(1, 2) + theta**2, Fraction(1, 2) + 1 / (2 * B) + Fraction(3, 4) * theta**2):
        return 1 / (2 * (2 * tau - 1 - 1 / (2 * B))) * theta * k
    return None
