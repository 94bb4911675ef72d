"""What the user typed: one file per command, each parses, wires, and sets the exit code."""

import sys


def main() -> None:
    """Entry point of the `fedsieve` command. Exit code 2 means: the input can be mended, the message says how."""
    try:
        from fedsieve.cli.app import run
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("typer", "rich"):
            raise
        sys.exit(f'fedsieve: the command line needs {package!r}. Install it with: pip install "fedsieve[cli]"')
    run()
