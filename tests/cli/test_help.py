"""Help, version, and how the command behaves where something it needs is not installed."""

import subprocess
import sys

import pytest

import fedsieve as package


def run_without(module: str | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with one module made impossible to import."""
    block = f"sys.modules[{module!r}] = None;" if module else ""
    code = f"import sys; {block} sys.argv[0] = 'fedsieve'; from fedsieve.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60)


def test_help_lists_the_commands(fedsieve):
    result = fedsieve("--help")
    assert result.code == 0
    for command in ("demo", "select", "apply", "datasets", "benchmark"):
        assert f" {command} " in result.out


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("demo", ["--out", "--seed", "-k"]),
        ("select", ["--labeled", "--labels", "--client", "--out", "-k", "--wire", "--shared", "--missing", "--force"]),
        ("apply", ["--selection", "--out", "--keep", "-k", "--force"]),
    ],
)
def test_each_command_shows_an_example_and_its_options(fedsieve, command, options):
    result = fedsieve(command, "--help")
    assert result.code == 0
    assert f"Example: fedsieve {command} --" in result.out
    assert all(option in result.out for option in options)
    assert "EXAMPLE" not in result.out


def test_the_example_of_select_can_be_pasted_into_a_shell(fedsieve):
    lines = [line.strip() for line in fedsieve("select", "--help").out.splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("Example: "))
    assert lines[first].endswith("\\")
    assert lines[first + 1] == "--client siteA.parquet --client siteB.csv -k 30 --out result/"


def test_version(fedsieve):
    result = fedsieve("--version")
    assert (result.code, result.out) == (0, f"fedsieve {package.__version__}\n")


def test_no_command_shows_the_help(fedsieve):
    result = fedsieve()
    assert result.code == 2
    assert "Usage: fedsieve" in result.out + result.err


def test_an_unknown_command_is_named(fedsieve):
    result = fedsieve("selekt")
    assert result.code == 2
    assert "No such command 'selekt'" in result.err


def test_an_error_in_a_process_of_its_own_is_one_line():
    result = run_without(None, "apply", "--selection", "n" * 120 + ".json", "table.csv")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == f"Error: {'n' * 120}.json: cannot be read: No such file or directory.\n"


@pytest.mark.parametrize("module", ["typer", "rich"])
def test_without_typer_or_rich_the_extra_is_named(module):
    result = run_without(module, "--version")
    assert result.returncode == 1
    assert result.stderr == (
        f"fedsieve: the command line needs '{module}'. Install it with: pip install \"fedsieve[cli]\"\n"
    )


def test_without_pyarrow_the_extra_is_named(fedsieve, tables, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = fedsieve(*tables.select())
    assert result.code == 2
    assert "the package 'pyarrow'" in result.message
    assert result.message.endswith('Install it with: pip install "fedsieve[data]"')
    assert not tables["result"].exists()


def test_without_defusedxml_the_extra_is_named(fedsieve, tables, monkeypatch):
    monkeypatch.setitem(sys.modules, "defusedxml", None)
    tables["labels.xml"].write_text("<labels><label name='label_a'/></labels>")
    result = fedsieve(*tables.select("--labels", tables["labels.xml"]))
    assert result.code == 2
    assert result.message == (
        "reading label files needs the package 'defusedxml'. Install it with: pip install \"fedsieve[data]\""
    )
    assert fedsieve(*tables.select()).code == 0  # the other ways to name labels do not need it


def test_a_defect_of_ours_is_not_dressed_up_as_a_message(monkeypatch, tables):
    """Only errors meant for the user become exit code 2; anything else keeps its traceback."""
    from fedsieve.cli import main, select

    def broken(*_: object, **__: object) -> None:
        raise KeyError("a defect")

    monkeypatch.setattr(select, "read_sites", broken)
    monkeypatch.setattr(sys, "argv", ["fedsieve", *(str(argument) for argument in tables.select())])
    with pytest.raises(KeyError, match="a defect"):
        main()
