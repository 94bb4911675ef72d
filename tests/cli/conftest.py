"""The command line called in this process, and a small federation on disk."""

import re
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fedsieve.cli import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def message(self) -> str:
        """The one line that says what is wrong; there must be exactly one."""
        (line,) = re.findall(r"^Error: (.*)$", self.err, flags=re.MULTILINE)
        return line


@pytest.fixture(scope="session")
def fedsieve() -> Callable[..., Result]:
    """Call `fedsieve` with arguments as the installed command does, on streams that are no terminal."""

    def call(*arguments: object) -> Result:
        with (
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(StringIO()) as out,
            redirect_stderr(StringIO()) as err,
        ):
            patch.setenv("COLUMNS", "80")
            for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "TTY_COMPATIBLE"):
                patch.delenv(name, raising=False)
            patch.setattr(sys, "argv", ["fedsieve", *(str(argument) for argument in arguments)])
            with pytest.raises(SystemExit) as exit_:
                main()
        assert "Traceback" not in out.getvalue() + err.getvalue()
        code = exit_.value.code
        return Result(0 if code is None else int(code), out.getvalue(), err.getvalue())

    return call


@dataclass(frozen=True)
class Tables:
    """What lies on disk: a server with three labels, three clients whose columns are in different orders."""

    folder: Path
    server: pd.DataFrame
    clients: dict[str, pd.DataFrame]

    features = ("age", "weight [kg]", "dose", "code", "pulse", "noise")
    labels = ("label_a", "label_b", "label_c")

    @property
    def X(self) -> pd.DataFrame:  # noqa: N802
        return self.server[list(self.features)]

    @property
    def Y(self) -> np.ndarray:  # noqa: N802
        return self.server[list(self.labels)].to_numpy()

    def __getitem__(self, name: str) -> Path:
        return self.folder / name

    def save(self, name: str, table: pd.DataFrame) -> Path:
        path = self.folder / name
        if path.suffix == ".csv":
            table.to_csv(path, index=False)
        else:
            table.to_parquet(path, index=False)
        return path

    def select(
        self, *more: object, out: str = "result", clients: tuple[str, ...] = (), method: str = "ssfmlfs"
    ) -> list[object]:
        """The arguments of a plain `fedsieve select` by one method, its files replaced or more of them added."""
        files = clients or (str(self["siteA.csv"]), str(self["siteB.parquet"]))
        named = [part for file in files for part in ("--client", file)]
        return [
            *("select", "--labeled", self["server.csv"], "--labels", "prefix:label_"),
            *(*named, "--out", self[out], "--method", method, "--alone", *more),
        ]


@pytest.fixture(scope="session")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """The tables for what a file's tests share; no test changes them."""
    rng = np.random.default_rng(5)
    n_rows = 45
    age, dose = rng.random(n_rows), rng.random(n_rows)
    values = {
        "age": (20 + 60 * age).round(1),
        "weight [kg]": (50 + 30 * age + 20 * rng.random(n_rows)).round(1),
        "dose": dose.round(3),
        "code": rng.integers(0, 9, n_rows),
        "pulse": (60 + 40 * dose + 10 * rng.random(n_rows)).round(0),
        "noise": rng.normal(size=n_rows).round(3),
    }
    frame = pd.DataFrame(values)
    labels = {"label_a": age > 0.5, "label_b": dose > 0.4, "label_c": rng.random(n_rows) < 0.3}
    server = frame[:18].assign(**{name: column[:18].astype(int) for name, column in labels.items()})
    mixed = [*server.columns[6:8], *server.columns[:6], server.columns[8]]
    clients = {
        "siteA": frame[18:30][["noise", "dose", "age", "pulse", "code", "weight [kg]"]],
        "siteB": frame[30:39][["code", "weight [kg]", "pulse", "age", "noise", "dose"]],
        "siteC": frame[39:],
    }
    made = Tables(tmp_path_factory.mktemp("tables"), server[mixed], clients)
    made.save("server.csv", made.server)
    made.save("siteA.csv", clients["siteA"])
    made.save("siteB.parquet", clients["siteB"])
    made.save("siteC.csv", clients["siteC"])
    return made


@pytest.fixture
def tables(untouched: Tables, tmp_path: Path) -> Tables:
    """A test's own ones."""
    shutil.copytree(untouched.folder, tmp_path, dirs_exist_ok=True)
    clients = {name: frame.copy() for name, frame in untouched.clients.items()}
    return replace(untouched, folder=tmp_path, server=untouched.server.copy(), clients=clients)
