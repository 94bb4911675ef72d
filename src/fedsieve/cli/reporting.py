"""What commands that end with a result do besides: note how it was made, and write its report."""

import shlex
from pathlib import Path
from typing import Any

import click

from fedsieve.cli.console import warn
from fedsieve.cli.speech import OF_SPEECH
from fedsieve.errors import MissingExtraError
from fedsieve.report.result_files import PAGE, SUMMARY, summary_of, write_report, write_summary


def command_again(*, whole_paths: bool = False) -> str | None:
    """The command that runs now, as it could be typed again, if one does; of absolute paths the last name only.

    A report is shown to others, whom the folders of this machine do not concern; `whole_paths` are for its own user.
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return None
    words = context.command_path.split()
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if parameter.name in OF_SPEECH or value is None or value == parameter.get_default(context) or value in ((), []):
            continue
        for one in value if isinstance(value, list | tuple) else (value,):
            text = str(one) if whole_paths else _typed(one)
            if isinstance(parameter, click.Argument):
                words.append(text)
            elif isinstance(one, bool):
                words.append(parameter.opts[0] if one else (parameter.secondary_opts or parameter.opts)[0])
            else:
                words += [parameter.opts[0], text]
    return shlex.join(words)


def write_report_of(folder: Path) -> Path | None:
    """Write the page of a result into its folder; where Jinja is missing, say so, and write the summary alone."""
    summary = summary_of(folder)
    page = folder / PAGE
    try:
        write_report(summary, page, "the report page")
    except MissingExtraError as error:
        warn(str(error))
        page.unlink(missing_ok=True)  # that of a result that was replaced
        write_summary(summary, page)
        return None
    return page


def result_document(record: dict[str, Any], folder: Path | None, page: Path | None) -> dict[str, Any]:
    """What `--json` prints of a result: what selection.json holds, where it lies, and its page."""
    return {**record, "out": str(folder) if folder else None, "report": str(page) if page else None}


def files_of_report(page: Path | None) -> list[str]:
    """The names of what was written."""
    return [SUMMARY] if page is None else [PAGE, SUMMARY]


def _typed(value: Any) -> str:
    """As it was typed, `NAME=FILE` too, without the folders of an absolute path."""
    text = str(value)
    name, equals, path = ("", "", text) if Path(text).is_absolute() else text.partition("=")
    if not equals and not Path(path).is_absolute():
        return text
    return f"{name}{equals}{Path(path).name if Path(path).is_absolute() else path}"
