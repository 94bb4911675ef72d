"""Measures of how columns hang together, beyond the fuzzy ones: entropies, correlations, Pareto fronts. Arrays only."""
