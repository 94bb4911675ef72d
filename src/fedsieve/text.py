"""Text of others made harmless: whatever could move a cursor, ring, color, start a line or turn reading around."""


def visible(text: str, keep: str = "") -> str:
    r"""The text with every character that is not seen written as its escape; those in `keep` stay.

    Control characters (also of terminals' escape sequences), line ends, and what changes the direction of reading.

    >>> print(visible("\x1b[2Jall is well\nError: pay \u202e001"))
    \x1b[2Jall is well\nError: pay \u202e001
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii") for c in text)
