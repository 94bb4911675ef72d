"""A consortium on loopback: the commands of operator and sites as real processes, always stopped at the end."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from federation.processes import FEDSIEVE, PATIENCE, Command, kill_marked, marked, new_token, wait_until
from federation.tables import Tables, make_tables
from fedsieve.deployment.folders import AGREEMENT
from fedsieve.deployment.runs import RunFolder, find_run
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.unpacking import unpack
from fedsieve.methods import SSFMLFSMethod
from fedsieve.transport.flower.engine import free_port
from fedsieve.transport.flower.warm import WARM
from policies import write_rules

START_SECONDS = PATIENCE
RUN_SECONDS = 3 * PATIENCE
LIVE: list["Consortium"] = []  # whose logs are shown when a test fails


class Consortium:
    """One federation's folder, its sites' folders, and every process that works on them."""

    def __init__(self, folder: Path, sites: str = "siteA,siteB,siteC", *, n_rows: int = 12, waits: bool = True) -> None:
        self.folder, self.token = folder, new_token()
        # Where no process waits, one that answers takes more than a second to start: time to kill it before.
        self.env = {} if waits else {WARM: "0"}
        self.names = tuple(sites.split(","))
        self.tables: Tables = make_tables(self.names, n_rows)
        self.fed, self.logs = folder / "fed", folder / "logs"
        self.commands: list[Command] = []
        self.port = free_port()

    def init(self, *options: object, changes: Mapping[str, str] | None = None) -> Self:
        """Make the federation, change its agreement, unpack the tars.

        Unless options say otherwise: by SSFMLFS, with exact ranges, for two sites or more of ten rows.
        """
        self.logs.mkdir(parents=True)
        self.tables.write(self.folder)
        usual = {"--ranges": "federated", "--min-rows": 10, "--min-clients": 2}
        lenient = [part for name, value in usual.items() if name not in options for part in (name, value)]
        self.call("init", "--out", self.fed, "--sites", ",".join(self.names), "--schema", self.folder / "server.csv",
                  "--labels", "prefix:label_", "--address", f"127.0.0.1:{self.port}",
                  "--method", "SSFMLFS", "--with-keys", *lenient, *options)  # fmt: skip
        if changes:
            text = (self.fed / AGREEMENT).read_text(encoding="utf-8")
            for before, after in changes.items():
                assert text.count(before) == 1, f"{before!r} in {text}"
                text = text.replace(before, after)
            (self.fed / AGREEMENT).write_text(text, encoding="utf-8")
            self.call("pack", self.fed)
        for name in self.names:
            self.unpack(name)
        return self

    def unpack(self, name: str, place: str = "places") -> Path:
        """As a site does with what it was handed."""
        unpack(self.fed / "sites" / f"{name}.tar", self.folder / place / name)
        write_rules(self.folder / place / name)  # rows of no worth: what is tested here is how messages travel
        return self.folder / place / name

    def site(self, name: str) -> Path:
        return self.folder / "places" / name

    def mark(self, party: str) -> str:
        return f"{self.token}/{party}"

    def start(self, party: str, arguments: list[object], env: dict[str, str] | None = None) -> Command:
        log = self.logs / f"{len(self.commands):03d}-{party}-{Path(str(arguments[0])).name}.txt"
        command = Command(arguments, self.mark(party), log, {**self.env, **(env or {})})
        self.commands.append(command)
        return command

    def fedsieve(self, verb: str, *arguments: object, party: str = "operator") -> Command:
        """Start `fedsieve federation VERB`."""
        return self.start(party, [FEDSIEVE, "federation", verb, *arguments])

    def call(self, verb: str, *arguments: object, code: int = 0, seconds: float = PATIENCE) -> Command:
        """Carry out a command that ends by itself."""
        command = self.fedsieve(verb, *arguments, party="caller")
        got = command.wait(seconds)
        assert got == code, f"{command.arguments} ended with {got}:\n{command.text}"
        return command

    def serve(self, *options: object, ready: bool = True, env: dict[str, str] | None = None) -> Command:
        arguments = [FEDSIEVE, "federation", "serve", self.fed, "--labeled", self.folder / "server.csv", *options]
        command = self.start("server", arguments, env)
        if ready:
            command.says("Serving", START_SECONDS)
        return command

    def join(self, name: str, folder: Path | None = None, *options: object, ready: bool = True) -> Command:
        arguments = (folder or self.site(name), "--data", self.folder / f"{name}.csv", "--yes", *options)
        command = self.fedsieve("join", *arguments, party=name)
        if ready:
            command.says("is connected to", START_SECONDS)
        return command

    def join_all(self, *options: object) -> dict[str, Command]:
        joins = {name: self.join(name, None, *options, ready=False) for name in self.names}
        for command in joins.values():
            command.says("is connected to", START_SECONDS)
        return joins

    def run(self, *options: object, out: str = "result") -> "Run":
        before = self.latest()
        command = self.fedsieve("run", self.fed, "--out", self.folder / out, *options, party="runner")
        return Run(self, command, self.folder / out, before)

    def latest(self) -> str:
        runs = sorted(path.name for path in (self.fed / "server" / "runs").glob("*"))
        return runs[-1] if runs else ""

    @property
    def plan(self) -> SSFMLFSMethod:
        return ServerFolder(self.fed).agreement().method

    def expected(self, *without: str) -> dict[str, Any]:
        return self.tables.in_one_process(self.plan, without)

    def log_files(self) -> list[Path]:
        """All that any process wrote for people to read."""
        engine_logs = (path for path in self.folder.rglob("*.log") if path.is_file())
        return [*sorted(self.logs.glob("*.txt")), *engine_logs, *self.folder.rglob("events.jsonl")]

    def tails(self, n_lines: int = 12) -> str:
        """The last words of every log."""
        parts = []
        for file in self.log_files():
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            parts.append("\n".join([f"--- {file.relative_to(self.folder)}", *lines[-n_lines:]]))
        return "\n".join(parts)

    def kill_site(self, name: str) -> None:
        """SIGKILL a site's join command, its SuperNode and all their children at once."""
        kill_marked(self.mark(name))
        for command in self.commands:
            if command.mark == self.mark(name):
                command.process.wait()

    def pids(self, party: str = "") -> list[int]:
        return marked(self.mark(party) if party else self.token)

    def close(self) -> None:
        kill_marked(self.token)
        for command in self.commands:
            command.process.wait()

    def __enter__(self) -> Self:
        LIVE.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.close()
        finally:
            if error is not None:
                error.add_note(self.tails())
            LIVE.remove(self)


class Run:
    """A `fedsieve federation run` that goes on, and the story it leaves in the server's folder."""

    def __init__(self, consortium: Consortium, command: Command, output: Path, before: str) -> None:
        self.consortium, self.command, self.output, self._before = consortium, command, output, before

    @property
    def folder(self) -> RunFolder:
        wait_until(lambda: self.consortium.latest() > self._before, START_SECONDS, "the run's folder")
        runs = self.consortium.fed / "server" / "runs"
        wait_until(lambda: (runs / self.consortium.latest() / "run.json").is_file(), PATIENCE, "the run's settings")
        return find_run(ServerFolder(self.consortium.fed))

    def event(self, event: str, seconds: float = START_SECONDS, *, after: int = 0, **details: Any) -> dict[str, Any]:
        """Wait for an event of the run, the first or one after so many others of its kind."""

        def happened() -> dict[str, Any] | None:
            found = [
                one
                for one in self.folder.events()
                if one["event"] == event and all(one.get(key) == value for key, value in details.items())
            ]
            return found[after] if len(found) > after else None

        found: dict[str, Any] = wait_until(happened, seconds, f"the event {event} {details}")
        return found

    def asked(self, kind: str, seconds: float = START_SECONDS, *, after: int = 0) -> dict[str, Any]:
        """Wait until a round of this kind was asked."""
        return self.event("round", seconds, after=after, kind=kind)

    def result(self, seconds: float = RUN_SECONDS) -> dict[str, Any]:
        """Wait for the end of the command and read what it wrote."""
        code = self.command.wait(seconds)
        assert code == 0, f"run ended with {code}:\n{self.command.text}"
        record: dict[str, Any] = json.loads((self.output / "selection.json").read_text(encoding="utf-8"))
        return record


@contextmanager
def running(
    folder: Path,
    sites: str = "siteA,siteB,siteC",
    *options: object,
    server_env: dict[str, str] | None = None,
    waits: bool = True,
    **more: Any,
) -> Iterator[Consortium]:
    """A federation whose server is up and whose sites have all joined."""
    with Consortium(folder, sites, waits=waits).init(*options, **more) as consortium:
        consortium.serve(env=server_env)
        consortium.join_all()
        yield consortium
