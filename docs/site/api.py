"""Pages of the Python interface, made of signatures and docstrings: every parameter is in a table.

A docstring says what its parameters are in a section (`Parameters`, as numpydoc has it), or in a sentence that names
each; what several functions share is said once, in `SHARED`.
"""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import fedsieve
from fedsieve import fuzzy, rivals

PARTS = {
    "selectors": ("Selectors", ["Sieve", "SSFMLFS", "load_selection", "registry"]),
    "judging": ("Is it worth it, what does it cost", ["evaluate", "communication_cost"]),
    "fuzzy": ("The paper's equations", [f"fuzzy.{name}" for name in fuzzy.__all__]),
    "learning": (
        "ML-kNN and metrics",
        [
            "MLkNN",
            *(
                f"metrics.{name}"
                for name in ("average_precision", "coverage", "ranking_loss", "hamming_loss", "one_error")
            ),
            *("metrics.macro_f1", "metrics.micro_f1"),
        ],
    ),
    "datasets": (
        "Datasets and partitions",
        [
            *(f"datasets.{name}" for name in ("load", "available", "load_arff", "load_table", "load_digits")),
            *("datasets.describe", "datasets.Dataset"),
            *(f"partition.{name}" for name in fedsieve.partition.__all__),
        ],
    ),
    "rivals": ("The paper's rivals", [f"rivals.{name}" for name in sorted(rivals.__all__)]),
}
SHARED = {
    "X": "Rows, (n_samples, n_features): an array, a scipy sparse matrix, or a pandas or polars frame.",
    "Y": "Labels, (n_samples, n_labels), 0 or 1.",
    "y": "Labels, (n_samples, n_labels), or classes, (n_samples,).",
    "R": "A relation, (n_samples, n_samples), entries in [0, 1].",
    "T": "Another relation of the same rows.",
    "A": "A fuzzy set of the rows, (n_samples,), entries in [0, 1].",
    "atol": "How far equal numbers may be apart.",
    "n_neighbors": "How many neighbors of each row are looked at.",
    "n_features_to_select": "How many features to keep, or, between 0 and 1, which share; `None`: by their number.",
    "random_state": "Seed of all draws; with an int the result is always the same.",
    "scores": "Scores, (n_samples, n_labels); larger means that the label is more likely.",
    "convention": 'How ties and empty rows count: "paper" or "sklearn"; see [metrics](../../learning.md#metrics).',
    "kind": 'Which side of Equation 3 the radius cuts: "distance" or "similarity".',
    "n_iter": "The iterations used.",
    "residual": "The last relative change.",
    "reflexive": "Whether every row is fully related to itself.",
    "symmetric": "Whether the relation is the same in both directions.",
    "transitive": "Whether it is sup-min transitive.",
    "n_features": "How many features there are.",
    "different": "DT of each row: indices of unlike rows, (n_samples, n_neighbors), -1 where there is none.",
    "n_rows": "How many rows the sums are over.",
    "clients": "The sites' rows: a list of tables, or a dict name -> table.",
    "n_clients": "Over how many clients the rows are dealt out.",
    "D": "Distances between features, (n_features, n_features), symmetric.",
    "alpha": "The smaller, the more unlike the clients.",
    "as_frame": "A pandas frame instead of a list of dicts.",
    "dataset": "What `load` and its kin return.",
    "difference": "Differences of values, 0 or above, of any shape.",
    "feature_names": "Names of the columns of X.",
    "irrelevant": 'Which rows count as unlike: the "least" similar, or the smallest "nonnegative" similarities.',
    "label_names": "Names of the columns of Y.",
    "max_iter": "The most iterations.",
    "min_rows": "The fewest rows of a client.",
    "n_folds": "How many folds.",
    "n_selected": "How many features are selected.",
    "name": "The dataset's name.",
    "nominal": "Whether values are codes: related if equal.",
    "others": "Only `sample_weight`, and only where the method takes weights; else an error says so.",
    "parts": "Row numbers of each client, as partitions are returned.",
    "path": "Of the file, or of the folder it lies in.",
    "predictions": "Predicted labels, 0 or 1, in the shape of Y.",
    "radius": "Beyond this difference two values are unrelated.",
    "similarity": "How alike the label rows are, (n_samples, n_samples).",
    "tol": "The relative change at which iterations stop.",
}
SECTION = re.compile(r"^(Parameters|Attributes|Returns|Examples)\n-+\n", re.MULTILINE)


def pages() -> dict[str, str]:
    """Name of a page -> its text in Markdown."""
    lines = ["# The Python interface", "", "Everything that `import fedsieve` offers, made of the code itself.", ""]
    found = {}
    for part, (title, names) in PARTS.items():
        entries = "\n\n".join(_entry(name) for name in names)
        found[part] = f"# {title}\n\n{entries}\n"
        listed = ", ".join(f"[`{name}`]({part}.md#{anchor(name)})" for name in names)
        lines += [f"**[{title}]({part}.md)**: {listed}", ""]
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *PARTS, "```"])
    return {"index": "\n".join([*lines, toctree, ""]), **found}


def anchor(name: str) -> str:
    """The heading of a name, as a link has it."""
    return name.lower().replace(".", "")


def where(name: str) -> str | None:
    """Page and anchor of a public name, such as `fuzzy.relation`; None if it is none."""
    return next((f"{part}.md#{anchor(name)}" for part, (_, names) in PARTS.items() if name in names), None)


def undescribed() -> list[str]:
    """Parameters of which no docstring says what they are."""
    return [
        f"{name}({parameter})"
        for _, names in PARTS.values()
        for entry in names
        for name, function, documented in _callables(entry)
        for parameter, _, _, meaning in parameters(function, documented)
        if not meaning
    ]


def _entry(name: str) -> str:
    thing = _object(name)
    text, sections = _sections(inspect.getdoc(thing) or "")
    blocks = [f"## {name}", _signature(name, thing), _prose(text)]
    for called, function, documented in _callables(name):
        if called != name:
            blocks += [
                f"### {called}",
                _signature(called, function),
                _prose(_sections(inspect.getdoc(function) or "")[0]),
            ]
        blocks.append(_table(parameters(function, documented)))
        if called == name and "Attributes" in sections:
            blocks.append(_attributes(sections["Attributes"]))
    if "Examples" in sections:
        blocks.append(f"```python\n{sections['Examples'].strip()}\n```")
    return "\n\n".join(block for block in blocks if block)


def _object(name: str) -> Any:
    thing: Any = fedsieve
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


def _callables(name: str) -> Iterator[tuple[str, Any, list[str]]]:
    """A function, or a class and its own public methods: name, what is called, docstrings that may describe it."""
    thing = _object(name)
    if not inspect.isclass(thing):
        yield name, thing, [inspect.getdoc(thing) or ""]
        return
    ours = [base for base in thing.__mro__ if base.__module__.startswith("fedsieve")]
    docs = [inspect.cleandoc(base.__doc__ or "") for base in ours]
    modules = [importlib.import_module(base.__module__).__doc__ or "" for base in ours]
    yield name, thing, [*docs, *modules]
    methods = {key: value for base in reversed(ours) for key, value in vars(base).items() if key[0] != "_"}
    for key, method in methods.items():
        if inspect.isfunction(method):
            yield f"{name}.{key}", method, [inspect.getdoc(method) or "", *docs]


def parameters(function: Any, documented: list[str]) -> list[tuple[str, str, str, str]]:
    """Name, type, default and meaning of each parameter."""
    types = _annotations(function)
    rows = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "self" or name.startswith("_"):
            continue
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        default = "" if parameter.default is parameter.empty else f"`{parameter.default!r}`"
        told = [meaning for doc in documented if (meaning := _meaning(name, doc))]
        kind, meaning = told[0] if told else ("", SHARED.get(name, ""))
        rows.append((stars + name, kind or types.get(name, ""), default, meaning))
    return rows


def _annotations(function: Any) -> dict[str, str]:
    """As they are written, not as Python expands them."""
    called = function.__init__ if inspect.isclass(function) else inspect.unwrap(function)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(called))).body[0]
    except (OSError, TypeError):  # of a dataclass: made, not written
        return {}
    assert isinstance(tree, ast.FunctionDef)
    arguments = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
    return {a.arg: ast.unparse(a.annotation) for a in arguments if a.annotation}


def _meaning(name: str, doc: str) -> tuple[str, str] | None:
    """Kind and words: of the section on parameters, or the sentence that names the parameter."""
    text, sections = _sections(doc)
    for section in ("Parameters", "Attributes"):
        for names, kind, words in _items(sections.get(section, "")):
            if name in names:
                return kind, words
    prose = re.sub(r"\s+", " ", re.sub(r"^( {4,}|>>>).*$", "", text, flags=re.MULTILINE))
    for clause in re.split(r"(?<=[.;:]) ", prose):
        if re.search(rf"`{name}(?:=[^`]*)?`", clause):
            return "", clause[0].upper() + clause[1:].rstrip(";:")
    return None


def _sections(doc: str) -> tuple[str, dict[str, str]]:
    """The text before all sections, and the sections by name."""
    before, *parts = SECTION.split(doc)
    sections, text = {}, [before.strip()]
    for name, section in zip(parts[::2], parts[1::2], strict=True):
        sections[name], _, after = (section, "", "") if name == "Examples" else section.partition("\n\n")
        text.append(after.strip())
    return "\n\n".join(part for part in text if part), sections


def _items(section: str) -> Iterator[tuple[list[str], str, str]]:
    """Entries of a section: names, kind, and the lines that are indented below."""
    for item in re.split(r"\n(?=\S)", section.strip()):
        head, _, words = item.partition("\n")
        names, _, kind = head.partition(" : ")
        words = " ".join(words.split())
        typed = bool(words) and not words[0].islower()  # else the words begin right after the name
        yield names.split(", "), kind * typed, words if typed else f"{kind} {words}".strip()


def _table(rows: list[tuple[str, str, str, str]]) -> str:
    if not rows:
        return ""
    lines = ["| parameter | type | default | meaning |", "|---|---|---|---|"]
    lines += [
        f"| `{name}` | {_cell(kind)} | {_cell(default)} | {_cell(words)} |" for name, kind, default, words in rows
    ]
    return "\n".join(lines)


def _attributes(section: str) -> str:
    lines = ["| attribute | |", "|---|---|"]
    for names, kind, words in _items(section):
        lines.append(f"| {', '.join(f'`{name}`' for name in names)} | {_cell(f'{kind} {words}')} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", "\\|", text.strip())


def _signature(name: str, thing: Any) -> str:
    given = [
        key if parameter.default is parameter.empty else f"{key}={parameter.default!r}"
        for key, parameter in inspect.signature(thing).parameters.items()
        if key != "self" and not key.startswith("_")
    ]
    return f"```python\n{name}({', '.join(given)})\n```"


def _prose(text: str) -> str:
    """A docstring as Markdown: examples and indented formulas as code, links into docs/ as links."""
    blocks = []
    for paragraph in re.split(r"\n\n+", text):
        if paragraph.startswith(">>>"):
            blocks.append(f"```python\n{paragraph}\n```")
        elif paragraph.startswith("    "):
            blocks.append(f"```text\n{textwrap.dedent(paragraph)}\n```")
        else:
            linked = re.sub(r"`docs/([\w-]+)\.md`", r"[\1](../../\1.md)", paragraph)
            blocks.append(linked.removesuffix(":") if linked.endswith("::") else linked)
    return "\n\n".join(blocks)
