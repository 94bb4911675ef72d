"""A table in Markdown, the same on every page."""

import re
from collections.abc import Iterable, Sequence

BAR = re.compile(r"(?<!\\)((?:\\\\)*)\|")  # one that no backslash escapes; two of these are a backslash themselves


def markdown_table(titles: Sequence[str], rows: Iterable[Iterable[str]]) -> list[str]:
    r"""Its lines. Cells are Markdown; a bar in one does not end it.

    >>> print("\n".join(markdown_table(["wire", "bytes"], [["a|b", "1"], [r"a\|b", "2"]])))
    | wire | bytes |
    |---|---|
    | a\|b | 1 |
    | a\|b | 2 |
    """
    return [_line(titles), "|---" * len(titles) + "|", *map(_line, rows)]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(BAR.sub(r"\1\\|", cell) for cell in cells) + " |"
