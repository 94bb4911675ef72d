"""One word for one thing: no two classes of the package have one name; a private class is its file's own."""

import ast
from collections import defaultdict
from pathlib import Path

import fedsieve

PACKAGE = Path(fedsieve.__file__).parent


def test_no_two_classes_have_one_name():
    places = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        where = file.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[(where if node.name.startswith("_") else "", node.name)].append(where)
    assert len(places) > 300, "classes are looked for in the wrong place"
    assert {name: found for (_, name), found in places.items() if len(found) > 1} == {}
