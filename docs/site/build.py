"""Builds the documentation site in build/site: `make docs`.

Pages stay where they are in the repository, and read well there. A copy of it in build/source gets the generated pages
besides: the Python interface, all commands, all error messages, the gallery, and one page for each part of the index.
Warnings are errors, every page has a title, and every link within the site is followed.
"""

import shutil
import sys
from pathlib import Path

import api
import commands
import errors
import parts
from links import as_on_the_site, broken_links, without_title
from sphinx.cmd.build import main as sphinx

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
SOURCE, SITE = BUILD / "source", BUILD / "site"
FOLDERS = ("docs", "examples", "src", "tests", "benchmarks", "tools", "deploy", ".github", ".ci")
START = """<!doctype html><meta charset="utf-8"><title>FedSieve</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
"""


def copy() -> None:
    """The repository's files, as they are; what the gallery made of unchanged examples stays."""
    for path in SOURCE.iterdir() if SOURCE.exists() else ():
        if path.is_file():
            path.unlink()
        elif path.name != "docs":
            shutil.rmtree(path)
    no_code = shutil.ignore_patterns("__pycache__", "*.nb[ic]", "gallery")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, SOURCE / folder, ignore=no_code, dirs_exist_ok=True)
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy2(file, SOURCE)


def generate() -> None:
    """Pages that are made of the code, and the parts under which the menu has all pages."""
    index = SOURCE / "docs" / "index.md"
    text, of_parts = parts.parts(index.read_text(encoding="utf-8"))
    index.write_text(text, encoding="utf-8")
    folder = index.parent / parts.FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, page in of_parts.items():
        (folder / f"{name}.md").write_text(page, encoding="utf-8")
    reference = SOURCE / "docs" / "reference"
    shutil.rmtree(reference, ignore_errors=True)
    made = {f"api/{name}": text for name, text in api.pages().items()}
    for name, text in {**made, "commands": commands.page(), "error-messages": errors.page()}.items():
        file = reference / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def main() -> None:
    """Copy, generate, build, check."""
    copy()
    generate()
    options = ["--fail-on-warning", "--keep-going", "--quiet", "-c", str(Path(__file__).parent)]
    options.append("--write-all")  # every page has the menu, which a change of another page changes
    status = sphinx([*options, "-d", str(BUILD / "doctrees"), str(SOURCE), str(SITE)])
    if status:
        sys.exit(status)
    (SITE / "index.html").write_text(START, encoding="utf-8")
    told = (ROOT / "llms.txt").read_text(encoding="utf-8")
    (SITE / "llms.txt").write_text(as_on_the_site(told), encoding="utf-8")
    if nameless := without_title(SITE):  # of which Sphinx does not warn
        sys.exit("Pages without a title:\n" + "\n".join(nameless))
    if broken := broken_links(SITE):
        sys.exit("Links that lead nowhere:\n" + "\n".join(broken))
    print(f"To look at it: {SITE / 'index.html'}")


if __name__ == "__main__":
    main()
