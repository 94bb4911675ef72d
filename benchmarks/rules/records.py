"""What was measured, by part, dataset and seed; a record counts as long as the package is the one it was made with."""

import hashlib
import json
from pathlib import Path
from typing import Any

import fedsieve
from fedsieve.files import write_atomically

RESULTS = Path(__file__).with_name("results.json")


def code_digest() -> str:
    """A hash of the package's source: what a change of it could have changed must be measured again."""
    root = Path(fedsieve.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


class Records:
    """The file of results, written anew after each one so that an interrupted run goes on where it stopped."""

    def __init__(self, path: Path = RESULTS) -> None:
        self._path, self._code = path, code_digest()
        kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        self._found: dict[str, Any] = kept.get("found", {}) if kept.get("code") == self._code else {}

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def forget_all(self) -> None:
        """Begin anew; the file is replaced with the first record."""
        self._found = {}

    def add(self, key: str, found: Any) -> None:
        """Keep one more."""
        self._found[key] = found
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(self._found[name])}" for name in sorted(self._found))
        text = f'{{"code": "{self._code}", "found": {{\n{lines}\n}}}}\n'
        write_atomically(self._path, lambda path: path.write_text(text, encoding="utf-8"))

    def of(self, part: str) -> dict[str, list[Any]]:
        """The records of a part, by dataset, in the order of their seeds."""
        by_dataset: dict[str, list[Any]] = {}
        for key in sorted(self._found):
            name, *rest = key.split()
            if name == part:
                by_dataset.setdefault(rest[0] if rest else "", []).append(self._found[key])
        return by_dataset
