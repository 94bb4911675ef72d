"""The command line: one file per command, named like it, which parses, wires and prints; nothing is computed here."""


def main() -> None:
    """Entry point of the `fedsieve` command. Exit code 2 means that the input can be mended; the message says how."""
    from fedsieve.cli.app import run_command

    run_command()
