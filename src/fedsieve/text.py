"""Text made harmless: of others, what could move a cursor, ring, color or turn reading around; of ours, folders.

Also how a number of things, or of bytes, is said, and long names cut.
"""

import re

_FOLDERS = re.compile(r"""(?<![\w./:])/(?:[^/\s'":;,()]+/)+(?=[^/\s])""")
"""The folders of an absolute path, up to its last name."""
MOST_NAME = 80  # characters
_LONG_WORD = re.compile(rf"\S{{{MOST_NAME + 1},}}")


def counted(number: int, noun: str) -> str:
    """A number of things, one of them in the singular.

    >>> counted(1, "column"), counted(0, "column"), counted(1500, "row")
    ('1 column', '0 columns', '1500 rows')
    """
    return f"{number} {plural(number, noun)}"


def plural(number: int, noun: str) -> str:
    """The noun as so many of it are called."""
    return f"{noun}{'s' * (number != 1)}"


def is_or_are(number: int) -> str:
    """What so many things do.

    >>> f"1 of 3 sites {is_or_are(1)} online"
    '1 of 3 sites is online'
    """
    return "is" if number == 1 else "are"


def cut_name(name: str) -> str:
    """A name that fits into a cell of a table; of a longer one, its beginning."""
    return name if len(name) <= MOST_NAME else f"{name[:MOST_NAME]}…"


def cut_words(text: str) -> str:
    """A sentence that may hold such names, each cut where it has no spaces.

    >>> len(cut_words("much like " + "x" * 5000))
    91
    """
    return _LONG_WORD.sub(lambda found: cut_name(found[0]), text)


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


def size(n_bytes: int) -> str:
    """Bytes for people.

    >>> size(2_345_678)
    '2.3 MB'
    >>> size(950)
    '950 B'
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes} B"
