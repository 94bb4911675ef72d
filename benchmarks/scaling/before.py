"""The package as it was before the work on scale began, checked out beside this one, to measure both in one run."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
COMMIT = "7f13879dd04fec81ae22fb2dd771945c294114fe"


@contextmanager
def package_before() -> Iterator[Path]:
    """The folder to import the earlier package from."""
    with tempfile.TemporaryDirectory(prefix="fedsieve-before-") as folder:
        tree = Path(folder) / "tree"
        _git("worktree", "add", "--detach", str(tree), COMMIT)
        try:
            yield tree / "src"
        finally:
            _git("worktree", "remove", "--force", str(tree))


def measured(module: str, *arguments: object, source: Path = ROOT / "src", **env: str) -> Any:
    """What `python -m MODULE ARGUMENTS` prints last, as JSON, with the package of this source folder."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    path = os.pathsep.join([str(source), str(ROOT)])
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path, **env}, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True)
