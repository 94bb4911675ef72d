"""Uses the built wheel as a newcomer would, in empty environments, on every supported Python that can be had.

    python -m build && python tools/wheel.py dist/*.whl

For each interpreter: wheels are gathered in a folder, installed from there without a network (the recipe of
docs/install.md), and tried first without extras, then with `data` and `report`. Once, `uvx` runs the demo.
An interpreter that is not found is installed by uv into build/python; where that fails, it is said in one line.
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
UV = Path(sys.executable).with_name("uv")
PYTHONS = ROOT / "build" / "python"  # what uv installs
INSTALL_SECONDS = 180
EXTRAS = "data,report"
TABLES = """if True:
    import csv, random
    random.seed(0)
    for name, n in (("server", 60), ("north", 120), ("south", 90)):
        with open(f"{name}.csv", "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["age", "crp", "pulse", *["label_frail"] * (name == "server")])
            for _ in range(n):
                age = random.randint(20, 90)
                rows.writerow([age, random.random(), random.random(), *[int(age > 60)] * (name == "server")])
    """
SELECT = ["select", "--labeled", "server.csv", "--labels", "label_frail", "--client", "north.csv", "--client"]
SELECT += ["south.csv", "-k", "1", "--alone", "--out", "result"]
LIBRARY = """if True:
    import numpy as np
    from fedsieve import Sieve
    rng = np.random.default_rng(0)
    X, sites = rng.random((30, 8)), [rng.random((80, 8)), rng.random((60, 8))]
    Y = np.column_stack([X[:, 3] > 0.5, X[:, 3] + X[:, 6] > 1])
    assert set(Sieve(2).fit(X, Y, clients=sites).get_support(indices=True)) == {3, 6}
    """
COMMANDS = """if True:
    from fedsieve.cli.app import Commands
    print(*Commands.summaries)
    """


class Environment:
    """An empty virtual environment, and a folder to work in."""

    def __init__(self, python: str, home: Path) -> None:
        subprocess.run([python, "-m", "venv", home / "env"], check=True)
        self.bin, self.work = home / "env" / "bin", home / "work"
        self.work.mkdir()

    def run(self, name: str, *arguments: object, code: int = 0) -> str:
        """What a program of the environment says; it must end with this exit code."""
        command = [self.bin / name, *map(str, arguments)]
        variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        found = subprocess.run(command, cwd=self.work, env=variables, capture_output=True, text=True, timeout=900)
        said = found.stdout + found.stderr
        if found.returncode != code:
            sys.exit(f"{' '.join(map(str, command))}: exit code {found.returncode}, not {code}.\n{said}")
        return said

    def install(self, what: str, wheels: Path) -> None:
        """From the folder of wheels alone."""
        self.run("python", "-m", "pip", "install", "--quiet", "--no-index", "--find-links", wheels, what)
        self.run("python", "-m", "pip", "check")


def check(python: str, wheel: Path, home: Path) -> None:
    """One interpreter: without extras, then with those that tables and pages need."""
    environment, wheels = Environment(python, home), home / "wheels"
    constraints = ["--constraint", ROOT / "constraints.txt"]
    environment.run(
        "python", "-m", "pip", "wheel", "--quiet", *constraints, "--wheel-dir", wheels, f"{wheel}[{EXTRAS}]"
    )
    environment.install("fedsieve", wheels)
    alone(environment)
    environment.install(f"fedsieve[{EXTRAS}]", wheels)
    with_extras(environment)


def alone(environment: Environment) -> None:
    """Without extras: the library, every command's help, a demo, and the names of what is missing."""
    environment.run("python", "-c", LIBRARY)
    assert environment.run("fedsieve", "--version").startswith("fedsieve ")
    for command in environment.run("python", "-c", COMMANDS).split():
        assert f"fedsieve {command}" in environment.run("fedsieve", command, "--help")
    assert 'pip install "fedsieve[flower]"' in environment.run("fedsieve", "federation", "join", "--help", code=2)
    said = environment.run("fedsieve", "demo")
    assert 'pip install "fedsieve[report]"' in said, said
    assert (environment.work / "demo-result" / "selection.json").is_file()
    environment.run("python", "-c", TABLES)
    assert 'pip install "fedsieve[data]"' in environment.run("fedsieve", *SELECT, code=2)
    assert not (environment.work / "result").exists()


def with_extras(environment: Environment) -> None:
    """Tables are read, and there is a page."""
    said = environment.run("fedsieve", *SELECT)
    assert "Warning" not in said, said
    for name in ("selection.json", "ranking.csv", "report.html", "summary.json"):
        assert (environment.work / "result" / name).is_file(), name
    environment.run("fedsieve", "apply", "--selection", "result/selection.json", "north.csv")
    with (environment.work / "north-selected.csv").open(newline="", encoding="utf-8") as file:
        assert next(csv.reader(file)) == ["age"]


def uvx(wheel: Path, home: Path) -> None:
    """`uvx fedsieve demo`. uv does not read pip's settings, so it is told them."""
    settings = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX", "find-links": "UV_FIND_LINKS"}
    variables = dict(os.environ)
    for key, variable in settings.items():
        told = subprocess.run([sys.executable, "-m", "pip", "config", "get", f"global.{key}"], **_TEXT).stdout.strip()
        if told and variable not in os.environ:
            variables[variable] = told
    variables |= {"UV_CONSTRAINT": str(ROOT / "constraints.txt"), "UV_INDEX_STRATEGY": "unsafe-best-match"}
    command = [
        UV.with_name("uvx"),
        "--python",
        sys.executable,
        "--from",
        f"fedsieve[report] @ {wheel.as_uri()}",
    ]
    found = subprocess.run([*command, "fedsieve", "demo"], cwd=home, env=variables, **_TEXT)
    if found.returncode or not (home / "demo-result" / "report.html").is_file():
        sys.exit(f"uvx fedsieve demo: exit code {found.returncode}\n{found.stdout}{found.stderr}")


_TEXT = {"capture_output": True, "text": True}


def interpreters() -> Iterator[tuple[str, str]]:
    """Version and program of each supported Python that starts: this one, of PATH, of pyenv, or installed by uv."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in VERSIONS:
        beside = sorted(str(path) for path in versions.glob(f"{version}.*/bin/python{version}"))
        own = [sys.executable] if version == "{}.{}".format(*sys.version_info) else []
        for program in (*own, shutil.which(f"python{version}"), *beside):
            if program and subprocess.run([program, "-c", "import ensurepip"], **_TEXT).returncode == 0:
                yield version, program
                break
        else:
            if program := installed(version):
                yield version, program


def installed(version: str) -> str | None:
    """The program of a Python that uv brings; where it cannot, or takes too long, why is said in one line."""
    settings = {
        "UV_PYTHON_INSTALL_DIR": str(PYTHONS),
        "UV_PYTHON_INSTALL_BIN": "0",
        "UV_PYTHON_PREFERENCE": "only-managed",
    }
    try:
        for step in ("install", "find"):
            command = [UV, "python", step, version]
            told = subprocess.run(
                command, env={**os.environ, **settings}, check=True, timeout=INSTALL_SECONDS, **_TEXT
            ).stdout.strip()
    except subprocess.CalledProcessError as error:
        why = error.stderr.strip().rpartition("\n")[2].strip() or error
    except (OSError, subprocess.TimeoutExpired) as error:
        why = error
    else:
        return told
    print(f"Python {version}: not found, and uv could not install it ({why}).", flush=True)
    return None


def main() -> None:
    """Check the wheel on all interpreters, or on the one that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", help="only this program")
    chosen = parser.parse_args()
    wheel = chosen.wheel.resolve(strict=True)
    found = [("given", chosen.python)] if chosen.python else list(interpreters())
    for version, program in found:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as home:
            check(program, wheel, Path(home))
        print(f"{wheel.name} on Python {version}: works ({time.monotonic() - start:.0f} s)", flush=True)
    if chosen.python:
        return
    with tempfile.TemporaryDirectory() as home:
        uvx(wheel, Path(home))
    print("uvx fedsieve demo: works")
    if missing := [version for version in VERSIONS if version not in dict(found)]:
        print(f"Not to be had here, and so not tried: Python {', '.join(missing)}.")


if __name__ == "__main__":
    main()
