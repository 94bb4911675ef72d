"""Slow twins of the rival methods: each ranks the features with plain loops, to the letter of its description."""
