"""The page of the command line, made of the commands themselves: what `--help` says, as tables."""

import re

import click

from fedsieve.cli.app import every_command


def page() -> str:
    """Every command with its options, in Markdown."""
    blocks = ["# All commands and options", "What `--help` says. [The command line](../command-line.md) says what for."]
    return "\n\n".join([*blocks, *(_entry(path, command) for path, command in every_command())]) + "\n"


def _entry(path: str, command: click.Command) -> str:
    context = click.Context(command, info_name=path)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    blocks = [f"## {path}", f"```text\n{usage}\n```", _prose(command.help or "")]
    rows = [_row(parameter, context) for parameter in command.get_params(context)]
    shown = [row for row in rows if row]
    if shown:
        blocks.append("\n".join(["| option | value | default | |", "|---|---|---|---|", *shown]))
    return "\n\n".join(blocks)


def _row(parameter: click.Parameter, context: click.Context) -> str:
    if isinstance(parameter, click.Argument):
        words, default = getattr(parameter, "help", None) or "", "" if parameter.required else "none"
        return f"| `{parameter.human_readable_name}` | | {default} | {_cell(words)} |"
    assert isinstance(parameter, click.Option)
    if parameter.hidden:
        return ""
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    value = "" if parameter.is_flag else f"`{parameter.make_metavar(context)}`"
    told = parameter.get_default(context, call=False)
    default = "" if told is None or told is False or told in ("", (), []) or callable(told) else f"`{told}`"
    default = "required" if parameter.required else default
    words, again = parameter.help or "", "May be given again."
    if parameter.multiple and again not in words:
        words = f"{words} {again}"
    return f"| {names} | {_cell(value)} | {_cell(default)} | {_cell(words)} |"


def _prose(text: str) -> str:
    """Help as Markdown: bold stays bold, and words in square brackets stay words."""
    return re.sub(r"\[(/?)bold\]", "**", text).replace("<", "&lt;")


def _cell(text: str) -> str:
    return re.sub(r"\[(/?)bold\]", "**", " ".join(text.split())).replace("|", "\\|").replace("<", "&lt;")
