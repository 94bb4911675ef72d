"""The parts of the site: each captioned list of `docs/index.md` becomes a page, so that the menu has the captions."""

import re

TREE = re.compile(r"```\{toctree\}\n(?P<options>(?::.*\n)+)\n(?P<entries>[^`]+)```\n", re.MULTILINE)
CAPTION = re.compile(r"^:caption: (.+)\n", re.MULTILINE)
FOLDER = "parts"  # beside the index


def parts(index: str) -> tuple[str, dict[str, str]]:
    """The index with one list, of the parts; and the pages of these, by name."""
    pages = {}
    for tree in TREE.finditer(index):
        title = CAPTION.search(tree["options"])
        if title is None:
            raise ValueError(f"docs/index.md: a toctree has no caption, by which the menu names it:\n{tree[0]}")
        options = CAPTION.sub("", tree["options"]).replace(":hidden:\n", "")
        entries = "".join(f"../{entry}\n" for entry in tree["entries"].split())
        name = title[1].lower().replace(" ", "-")
        pages[name] = f"# {title[1]}\n\n```{{toctree}}\n:maxdepth: 1\n{options}\n{entries}```\n"
    listed = "".join(f"{FOLDER}/{name}\n" for name in pages)
    return f"{TREE.sub('', index).rstrip()}\n\n```{{toctree}}\n:hidden:\n\n{listed}```\n", pages
