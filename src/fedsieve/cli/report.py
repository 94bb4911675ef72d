"""`fedsieve report`: a result as a page to look at, or as Markdown."""

from pathlib import Path
from typing import Annotated

import typer

from fedsieve.cli.console import say
from fedsieve.errors import ParameterError
from fedsieve.report.result_files import PAGE, TEXT, comparison_of, summary_file, summary_of, write_report

OWNER = "fedsieve report"
ENDINGS = (".html", ".htm", ".md")


def report(
    results: Annotated[
        list[Path], typer.Argument(help="The folder of a result, or its selection.json; two with --compare.")
    ],
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help=f"The page; default {PAGE} in the result's folder.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Markdown instead of a page.")] = False,
    compare: Annotated[bool, typer.Option("--compare", help="Two results beside each other.")] = False,
) -> None:
    """Make a page of a result to look at in a browser: one file that needs no network.

    [bold]Example[/bold]: fedsieve report result/ -o report.html

    [bold]Example[/bold]: fedsieve report --compare result/ other/ -o comparison.html

    Beside the page lies summary.json (of a comparison, comparison.json) with all
    that it shows; beside a page of another name, NAME.summary.json. An
    evaluation.json or audit.json in the result's folder becomes part of the page.
    An earlier report is replaced.
    """
    if len(results) != 1 + compare:
        wanted = "two results" if compare else "one result; --compare takes two"
        raise ParameterError(f"{OWNER}: takes {wanted}; got {len(results)}.")
    target = output or _default(results[0], markdown, compare)
    if target.suffix not in ENDINGS:
        raise ParameterError(f"{OWNER}: --out must end in {', '.join(ENDINGS)}; got {str(target)!r}.")
    if markdown and target.suffix != ".md":
        raise ParameterError(f"{OWNER}: with --markdown, --out must end in .md; got {str(target)!r}.")
    summary = comparison_of(*results) if compare else summary_of(results[0])
    write_report(summary, target, OWNER)
    say(f"Written to {target}; {summary_file(summary, target).name} beside it has all that it shows.")


def _default(result: Path, markdown: bool, compare: bool) -> Path:
    if compare:
        return Path("comparison.md" if markdown else "comparison.html")
    folder = result if result.is_dir() else result.parent
    return folder / (TEXT if markdown else PAGE)
