"""Attacks as pure functions: what a server was sent in, guessed rows out. None of them looks at a site's table."""
