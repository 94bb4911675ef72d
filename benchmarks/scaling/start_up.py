"""What a command costs before it does anything: CPU seconds of `--version`, every `--help`, and of importing Sieve."""

import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks.row import Row
from fedsieve.cli.app import every_command

FEDSIEVE = str(Path(sys.executable).parent / "fedsieve")
TARGET = 0.6
# An installed package has its compiled files of Python; here the first of some runs may write them.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def rows() -> list[Row]:
    typed = ["fedsieve --version", *(f"{path} --help" for path, _ in every_command())]
    ratio = import_ratio("from fedsieve import Sieve", "import sklearn.base")
    return [
        *(Row(words, help_seconds(words), "CPU s", "less", TARGET) for words in typed),
        Row("from fedsieve import Sieve, times sklearn.base", ratio, "x", "less", 1.1),
    ]


def help_seconds(words: str, repeats: int = 2) -> float:
    """The least of some runs."""
    return min(cpu_seconds(FEDSIEVE, *words.split()[1:]) for _ in range(repeats))


def import_ratio(ours: str, theirs: str, repeats: int = 5) -> float:
    """The median of pairs of runs, one right after the other."""
    return median(
        cpu_seconds(sys.executable, "-c", ours) / cpu_seconds(sys.executable, "-c", theirs) for _ in range(repeats)
    )


def cpu_seconds(*command: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
