"""The command line: one file per command, named like it, which parses, wires and prints; nothing is computed here."""

import sys


def main() -> None:
    """Entry point of the `fedsieve` command. Exit code 2 means that the input can be mended; the message says how."""
    try:
        from fedsieve.cli.app import run_command
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("typer", "rich"):
            raise
        sys.exit(f'fedsieve: the command line needs {package!r}. Install it with: pip install "fedsieve[cli]"')
    run_command()
