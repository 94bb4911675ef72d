"""Sieve as a protocol: its plan, the server's side, and what a site agrees to."""
