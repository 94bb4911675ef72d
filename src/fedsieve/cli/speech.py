"""How a command speaks: in tables and sentences, as one JSON document, quietly, or with more than usual.

`--quiet` and `--verbose` belong to every command (`speaking` adds them); `--json` to each that prints a table, which
takes the parameter `as_json: AsJson` and ends with `document(...)`. Errors and warnings are told in any case, on the
error stream, and exit codes are always the same.
"""

import json
import platform
import resource
import sys
import time
import traceback
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

import click
import typer
from typer.core import TyperOption

import fedsieve
from fedsieve.cli.console import alarm, err, out

AS_JSON = "as_json"
OF_SPEECH = (AS_JSON, "quiet", "verbose")
"""Parameters that change what is printed, and nothing of what is done."""


@dataclass
class Manner:
    """What the command that runs was asked for besides."""

    verbose: bool = False
    began: float = field(default_factory=time.perf_counter)


manner = Manner()


def as_usual() -> None:
    """Forget what a command of this process was asked for."""
    out.quiet = err.quiet = False
    manner.verbose, manner.began = False, time.perf_counter()


def _document_only(wanted: bool) -> bool:
    out.quiet = out.quiet or wanted
    return wanted


AsJson: TypeAlias = Annotated[
    bool,
    typer.Option("--json", help="One JSON document on the output, and nothing else.", callback=_document_only),
]


def document(content: Any) -> None:
    """Print what a command found as its one document."""
    typer.echo(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))


def speaking(command: click.Command) -> click.Command:
    """The command with the options of all commands; of a group, each of its commands."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            speaking(one)
    elif "quiet" not in {parameter.name for parameter in command.params}:
        command.params += [
            _switch("--quiet", "-q", "Print errors and warnings only.", _quiet),
            _switch("--verbose", "-v", "Also print versions, time and memory, and where an error arose.", _verbose),
        ]
    return command


def where_it_arose(error: Exception) -> None:
    """With `--verbose`, the way to an error; for us and for those who help us."""
    if manner.verbose:
        alarm.print("".join(traceback.format_exception(error)).rstrip())


def _switch(name: str, short: str, about: str, tell: Any) -> click.Option:
    return TyperOption(param_decls=[name, short], is_flag=True, default=False, help=about, expose_value=False,
                       callback=tell, show_default=False)  # fmt: skip


def _quiet(_context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        out.quiet = err.quiet = True


def _verbose(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    manner.verbose = True
    alarm.print(f"fedsieve {fedsieve.__version__}, Python {platform.python_version()}, {platform.platform()}")
    context.call_on_close(_tell_what_it_took)


def _tell_what_it_took() -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = peak / (1e6 if sys.platform == "darwin" else 1e3)
    alarm.print(f"{time.perf_counter() - manner.began:.1f} s, at most {megabytes:.0f} MB of memory.")
