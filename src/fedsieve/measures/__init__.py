"""Measures of columns beyond the fuzzy ones: entropies, correlations, alignment, fronts, scaling. Arrays only."""
