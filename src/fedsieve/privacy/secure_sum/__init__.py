"""Sums of which the server learns the total and nothing else: double masks after Bonawitz et al. (2017).

Each site adds masks to its numbers that cancel in the total: one per other site, from a key that both know, and one of
its own. Each site's secrets are shared among all, so that enough of them can take away the masks of those that were
lost, and the own masks of those that remain; never both of one site. `docs/privacy.md` says what this hides from whom.

Of the federation's rooms, only this one imports `cryptography`.
"""
