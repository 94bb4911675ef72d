"""Scripts of others that the report's page carries: `python tools/vendored.py` checks them against npm.

What is checked is in one file, `src/fedsieve/report/page/vendored.toml`: name, version, SHA-256. `--fetch` writes the
files again; a name after it fetches that package only.
"""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / "src" / "fedsieve" / "report" / "page" / "vendored.toml"


def published(name: str, version: str, path: str) -> bytes:
    """A file of a package as npm has it; npm checks the package's own digest."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", f"{name}@{version}"]
        packed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=300)
        with tarfile.open(Path(folder) / packed.stdout.split()[-1]) as archive:
            member = archive.extractfile(f"package/{path}")
            assert member is not None, f"{name}@{version} has no {path}"
            return member.read()


def main(arguments: list[str]) -> None:
    """Check, or fetch, what the list names."""
    fetch = "--fetch" in arguments
    names = [name for name in arguments if name != "--fetch"]
    for file in tomllib.loads(LIST.read_text(encoding="utf-8"))["file"]:
        if names and file["name"] not in names:
            continue
        target = ROOT / file["to"]
        if not fetch and not target.exists() and file["to"].startswith("."):
            continue  # only tests use it, and fetch it
        if fetch and target.exists() and hashlib.sha256(target.read_bytes()).hexdigest() == file["sha256"]:
            print(f"{file['name']} {file['version']}: there already")
            continue
        content = published(file["name"], file["version"], file["from"])
        if hashlib.sha256(content).hexdigest() != file["sha256"]:
            sys.exit(f"{file['name']} {file['version']}: npm has another file than {LIST.name} says.")
        if fetch:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        elif target.read_bytes() != content:
            sys.exit(f"{file['to']}: is not what npm has. Write it again: python tools/vendored.py --fetch")
        print(f"{file['name']} {file['version']}: as npm has it")


if __name__ == "__main__":
    main(sys.argv[1:])
