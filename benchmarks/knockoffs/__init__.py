"""Whether `Sieve(fdr=q)` keeps its promise, and what it finds: simulated rows, and real ones with planted nulls."""
