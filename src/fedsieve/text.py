"""Text made harmless: of others, what could move a cursor, ring, color or turn reading around; of ours, folders.

Also how a number of things is said.
"""

import re

_FOLDERS = re.compile(r"""(?<![\w./:])/(?:[^/\s'":;,()]+/)+(?=[^/\s])""")
"""The folders of an absolute path, up to its last name."""


def counted(number: int, noun: str) -> str:
    """A number of things, one of them in the singular.

    >>> counted(1, "column"), counted(0, "column"), counted(1500, "row")
    ('1 column', '0 columns', '1500 rows')
    """
    return f"{number} {noun}{'s' * (number != 1)}"


def visible(text: str, keep: str = "") -> str:
    r"""The text with every character that is not seen written as its escape; those in `keep` stay.

    Control characters (also of terminals' escape sequences), line ends, and what changes the direction of reading.

    >>> print(visible("\x1b[2Jall is well\nError: pay \u202e001"))
    \x1b[2Jall is well\nError: pay \u202e001
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii") for c in text)


def without_folders(text: str, own: str = "") -> str:
    """The text with files named, but not where they lie; `own` is a folder that is known, whatever its name holds.

    >>> without_folders("/home/north ward/siteA/policy.toml: cannot be read, as /etc/motd.", "/home/north ward/siteA")
    'policy.toml: cannot be read, as motd.'
    """
    if own:
        text = text.replace(f"{own}/", "").replace(own, "its folder")
    return _FOLDERS.sub("", text)
