"""Slow twins: loops and dense solves, one per equation, that the fast code is compared with."""
