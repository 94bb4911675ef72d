"""`fedsieve federation try`: a server and some sites as real processes on this machine, started, run and ended."""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.text import Text

from fedsieve.cli.console import err, say, until_interrupted
from fedsieve.cli.options import KEEP_HELP, Dates, Drop, Force
from fedsieve.cli.reporting import result_document
from fedsieve.cli.speech import AsJson, document
from fedsieve.datasets import load_digits, partition
from fedsieve.errors import DataError, ParameterError, ProtocolError
from fedsieve.report.result_files import PAGE
from fedsieve.selection_file import JSON, read_selection, refuse_to_overwrite
from fedsieve.text import visible
from fedsieve.transport.flower.engine import free_port

LEAST_SITES, MOST_SITES = 3, 20
LABELED, ALPHA, SEED = 0.2, 5.0, 0  # of the digits: every site keeps enough rows for its rules
START_SECONDS, END_SECONDS = 120, 40
LABEL = "label_"
LAUNCH = (
    "import sys; from fedsieve.transport.flower.launch import end_with; end_with(int(sys.argv.pop(1))); "
    "from fedsieve.cli import main; main()"
)
"""A command of ours that never outlives the one that started it, however that ends."""


def try_(
    sites: Annotated[int, typer.Option(help="How many sites share the bundled digits.")] = LEAST_SITES,
    labeled: Annotated[Path | None, typer.Option(help="Labeled rows; default: the bundled digits.")] = None,
    labels: Annotated[str, typer.Option(help="Label columns of the labeled rows.")] = "",
    data: Annotated[list[Path] | None, typer.Option(help="One site's rows; give it once for each site.")] = None,
    drop: Drop = "",
    dates: Dates = "",
    keep_columns: Annotated[str, typer.Option(help=KEEP_HELP)] = "",
    method: Annotated[str | None, typer.Option(help="As in 'init'; default Sieve.")] = None,
    k: Annotated[str | None, typer.Option("-k", help="How many features to select.")] = None,
    secure: Annotated[bool, typer.Option(help="Secure sums, or single replies that the server sees.")] = True,
    output: Annotated[Path, typer.Option("--out", help="Folder for the result.")] = Path("try-result"),
    keep: Annotated[
        Path | None, typer.Option(help="Keep the federation's and the sites' folders here, to look into.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Try a federation with real processes: a server and three sites on this machine, with one command.

    [bold]Example[/bold]: fedsieve federation try

    On the bundled digits, or on your own files: --labeled FILE --labels y1,y2 --data a.csv --data b.csv --data c.csv.
    Shows every command, so that you can do the same step by step. All processes have ended when it ends.
    """
    refuse_to_overwrite(output, force=force)
    if keep is not None and keep.exists():
        raise DataError(f"{keep}: exists already; choose another folder for --keep.")
    finished = False
    with ExitStack() as open_until_the_end, until_interrupted():
        place = keep or Path(open_until_the_end.enter_context(tempfile.TemporaryDirectory(prefix="fedsieve-try-")))
        place.mkdir(parents=True, exist_ok=True)
        tables = _digits(place, sites) if labeled is None else _own(labeled, labels, data)
        trial = TrialFederation(place, *tables)
        columns = [*_option("--drop", drop), *_option("--dates", dates), *_option("--keep", keep_columns)]
        trial.init([*_option("--method", method), *_option("-k", k), *columns, *(["--secure"] if secure else [])])
        with trial.running():
            trial.do("run", trial.federation, "--out", output, *(["--force"] if force else []))
        finished = True
    if not finished:
        raise ProtocolError("the trial was interrupted; all its processes have ended.")
    say(f"The server and {len(trial.data)} sites have ended. The result: {output / JSON}")
    say(f"Their folders: {keep}" if keep else "Their folders are gone; --keep FOLDER keeps them.")
    if as_json:
        page = output / PAGE
        document(result_document(read_selection(output / JSON, whole=True), output, page if page.is_file() else None))


class TrialFederation:
    """The folders of operator and sites in one place, and the commands on them."""

    def __init__(self, place: Path, labeled: Path, labels: str, data: Sequence[Path]) -> None:
        self.place, self.labeled, self.labels = place, labeled, labels
        self.federation = place / "fed"
        self.data = {f"site{chr(ord('A') + number)}": file for number, file in enumerate(data)}

    def init(self, options: Sequence[str]) -> None:
        """An agreement with all keys made here: it is one machine anyway."""
        address = f"127.0.0.1:{free_port()}"
        schema = ("--schema", self.labeled, "--labels", self.labels, "--address", address)
        self.do("init", "--out", self.federation, "--sites", ",".join(self.data), *schema, "--with-keys", *options)
        for name in self.data:
            self.do("unpack", self.federation / "sites" / f"{name}.tar", self.place / name)

    def do(self, verb: str, *arguments: object) -> None:
        """Carry out a command to its end, its words shown; raises where it fails."""
        code = subprocess.call(_command(verb, *arguments))
        if code:
            raise ProtocolError(f"'fedsieve federation {verb}' ended with exit code {code}; see above.")

    @contextmanager
    def running(self, patience: float = START_SECONDS) -> Iterator[None]:
        """Server and sites, once all are ready, which takes at most so many seconds each, and to their end."""
        serve = Background("serve", self.federation, "--labeled", self.labeled, log=self.place / "server.txt")
        started = [serve]
        try:
            for name, file in self.data.items():
                joins = (self.place / name, "--data", file, "--yes")
                started.append(Background("join", *joins, log=self.place / f"{name}.txt"))
            with err.status("Waiting for the server and the sites ..."):
                serve.wait_for("Serving", patience)
                for join in started[1:]:
                    join.wait_for("is connected to", patience)
            yield
        finally:
            for command in reversed(started):
                command.end()


class Background:
    """A command that goes on until it is told to end, or until we are gone."""

    def __init__(self, verb: str, *arguments: object, log: Path) -> None:
        self.verb, self.log = verb, log
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                _command(verb, *arguments), stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
            )

    def wait_for(self, ready: str, patience: float = START_SECONDS) -> None:
        """Return once it has said so; raises where it ends before, or takes too long."""
        end = time.monotonic() + patience
        while ready not in (said := self.log.read_text(encoding="utf-8", errors="replace")):
            if self.process.poll() is not None or time.monotonic() > end:
                say(Text(visible(said.strip(), keep="\n")))
                raise ProtocolError(f"'fedsieve federation {self.verb}' is not ready; what it said is above.")
            time.sleep(0.1)

    def end(self) -> None:
        """As a service manager does; it ends what it started."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _command(verb: str, *arguments: object) -> list[str]:
    words = ["federation", verb, *map(str, arguments)]
    say(f"$ fedsieve {shlex.join(words)}")
    return [sys.executable, "-P", "-c", LAUNCH, str(os.getpid()), *words]


def _digits(place: Path, n_sites: int) -> tuple[Path, str, list[Path]]:
    """The bundled digits in files, as a consortium has its tables."""
    if not LEAST_SITES <= n_sites <= MOST_SITES:
        raise ParameterError(f"--sites must be from {LEAST_SITES} to {MOST_SITES}; got {n_sites}.")
    digits = load_digits()
    labeled, others = partition.labeled_split(digits.Y, LABELED, SEED)
    parts = partition.dirichlet(digits.Y[others], n_sites, ALPHA, SEED)
    features, label_names = digits.feature_names, [f"{LABEL}{name}" for name in digits.label_names]
    server = _write(place / "server.csv", [*features, *label_names], np.hstack([digits.X[labeled], digits.Y[labeled]]))
    files = [
        _write(place / f"rows-{number}.csv", features, digits.X[others[part]])
        for number, part in enumerate(parts, start=1)
    ]
    return server, f"prefix:{LABEL}", files


def _write(file: Path, names: Sequence[str], rows: np.ndarray) -> Path:
    np.savetxt(file, rows, fmt="%.6g", delimiter=",", header=",".join(names), comments="")
    return file


def _own(labeled: Path, labels: str, data: list[Path] | None) -> tuple[Path, str, list[Path]]:
    files = [] if data is None else list(data)
    if not labels or not LEAST_SITES <= len(files) <= MOST_SITES:
        raise ParameterError(
            f"--labeled needs --labels, and --data once for each of {LEAST_SITES} to {MOST_SITES} sites; got --data "
            f"{len(files)} times."
        )
    return labeled, labels, files


def _option(name: str, value: str | None) -> list[str]:
    return [name, value] if value else []
