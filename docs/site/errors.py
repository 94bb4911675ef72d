"""The page of error messages: every sentence with which the code raises one of its own errors."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import fedsieve
from fedsieve import errors

SOURCE = Path(fedsieve.__file__).parent
KINDS = {
    name: kind
    for name, kind in vars(errors).items()
    if inspect.isclass(kind) and issubclass(kind, errors.FedSieveError | errors.FedSieveWarning)
}


def page() -> str:
    """Kinds of errors, and under each room the messages that it can give, in Markdown."""
    blocks = [
        "# Error messages",
        "An error says who complains, the rule, the value it got, and the way out. On the command line it is one line "
        "and exit code 2; in Python all are `fedsieve.errors.FedSieveError`. Below are the sentences of the code; "
        "`{name}` stands for what a message fills in. No message quotes a cell of a table: it names file, column, row.",
        "| kind | means |\n|---|---|\n"
        + "\n".join(f"| `{n}` | {inspect.getdoc(k).splitlines()[0]} |" for n, k in KINDS.items()),
    ]
    rooms: dict[str, list[str]] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        room = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        rooms.setdefault(room, []).extend(f"- *{kind}*: {_code(text)}" for kind, text in messages(file))
    blocks += [f"## {room}\n\n" + "\n".join(dict.fromkeys(lines)) for room, lines in rooms.items() if lines]
    return "\n\n".join(blocks) + "\n"


def messages(file: Path) -> Iterator[tuple[str, str]]:
    """Kind and text of each error of ours that is made in a file."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS and node.args:
            text = _text(node.args[0])
            if text:
                yield node.func.id, " ".join(text.split())


def _text(node: ast.expr) -> str:
    """Words of a literal or an f-string; what is filled in stands in braces."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "{…}" for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return f"{{{ast.unparse(node.value)}}}" if isinstance(node.value, ast.Name | ast.Attribute) else "{…}"
    return ""


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    return f"{fence} {text} {fence}" if fence == "``" else f"`{text}`"
