"""Help, version, and how the command behaves where something it needs is not installed."""

import inspect
import json
import subprocess
import sys
from importlib import import_module

import pytest

import fedsieve as package
from fedsieve.cli.app import Commands
from fedsieve.cli.federation import FederationCommands

HEAVY = ("sklearn", "numba", "scipy", "pandas", "pyarrow", "flwr", "matplotlib")


def run_without(module: str | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with one module made impossible to import."""
    block = f"sys.modules[{module!r}] = None;" if module else ""
    code = f"import sys; {block} sys.argv[0] = 'fedsieve'; from fedsieve.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=300)


def loaded_by(*arguments: str) -> list[str]:
    """Which heavy packages a process has loaded that ran the command."""
    heavy = (*HEAVY, "numpy", "cryptography")
    code = f"""if True:
        import atexit, json, sys
        atexit.register(lambda: print(json.dumps([name for name in {heavy!r} if name in sys.modules]), file=sys.stderr))
        from fedsieve.cli import main
        main()"""
    run = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stderr.splitlines()[-1])


def loaded_by_helps(first: str = "") -> dict[str, list[str]]:
    """Every command, and the heavy packages that its help was the first to load; one process shows all helps."""
    code = f"""if True:
        import io, json, sys
        from contextlib import redirect_stdout
        from fedsieve.cli.app import app, every_command
        {first}
        told, known = dict(), set()
        for path, _ in every_command():
            with redirect_stdout(io.StringIO()) as shown:
                app([*path.split()[1:], "--help"], prog_name="fedsieve", standalone_mode=False)
            assert f"Usage: {{path}}" in shown.getvalue(), path
            told[path] = [name for name in {HEAVY!r} if name in sys.modules and name not in known]
            known.update(told[path])
        print(json.dumps(told))"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_help_lists_the_commands(fedsieve):
    result = fedsieve("--help")
    assert result.code == 0
    for command in ("demo", "select", "apply", "report", "audit", "datasets", "benchmark", "federation"):
        assert f" {command} " in result.out
    result = fedsieve("federation", "--help")
    assert result.code == 0
    for command in (
        "init",
        "request",
        "site",
        "pack",
        "diff",
        "certificate",
        "serve",
        "join",
        "run",
        "status",
        "log",
        "purge",
        "simulate",
    ):
        assert f" {command} " in result.out


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["federation", "--help"]], ids=" ".join)
def test_help_and_version_load_nothing_heavy(arguments):
    assert loaded_by(*arguments) == []


def test_no_command_loads_anything_heavy_to_show_its_help():
    loaded = loaded_by_helps()
    assert {"fedsieve", "fedsieve audit", "fedsieve datasets info", "fedsieve federation approve-rows"} <= set(loaded)
    assert len(loaded) > 35
    assert {path: packages for path, packages in loaded.items() if packages} == {}


@pytest.mark.full
def test_the_check_of_what_is_loaded_would_notice():
    assert {"sklearn", "numba"} <= set(loaded_by_helps("import fedsieve.learning")["fedsieve"])


@pytest.mark.parametrize("group", [Commands, FederationCommands])
def test_a_command_s_line_in_the_list_is_the_first_paragraph_of_its_own_help(group):
    assert len(group.summaries) > 5
    for name, summary in group.summaries.items():
        own = "try_" if name == "try" else name.replace("-", "_")
        file = import_module(f"{group.package}.{own}")
        text = file.app.info.help if hasattr(file, "app") else inspect.getdoc(getattr(file, own))
        assert text.partition("\n\n")[0] == summary, name


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("demo", ["--out", "--seed", "-k"]),
        ("select", ["--labeled", "--labels", "--client", "--out", "-k", "--wire", "--shared", "--missing", "--force"]),
        ("apply", ["--selection", "--out", "--keep", "-k", "--force"]),
        ("evaluate", ["--labeled", "--labels", "--client", "--method", "--selection", "--against", "--folds", "--out"]),
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


def test_the_package_can_be_run_as_a_module():
    done = subprocess.run([sys.executable, "-m", "fedsieve", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"fedsieve {package.__version__}\n"


def test_no_command_shows_the_help(fedsieve):
    result = fedsieve()
    assert result.code == 2
    assert "Usage: fedsieve" in result.out + result.err


def test_an_unknown_command_is_named(fedsieve):
    result = fedsieve("selekt")
    assert result.code == 2
    assert "No such command 'selekt'. Did you mean 'select'?" in " ".join(result.err.split())


def test_an_error_in_a_process_of_its_own_is_one_line():
    result = run_without(None, "apply", "--selection", "n" * 120 + ".json", "table.csv")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == f"Error: {'n' * 120}.json: cannot be read: No such file or directory.\n"


def test_helps_of_single_commands_need_no_extra():
    """The package alone has them: demo and select needed cryptography once, for what a report reads."""
    extras = ("arff", "cryptography", "dask", "defusedxml", "flwr", "jinja2", "matplotlib", "openpyxl", "pyarrow")
    code = f"""if True:
        import io, sys
        from contextlib import redirect_stdout
        sys.modules.update(dict.fromkeys({extras!r}))
        from fedsieve.cli.app import Commands, app
        for name in Commands.summaries:
            with redirect_stdout(io.StringIO()) as shown:
                app([name, "--help"], prog_name="fedsieve", standalone_mode=False)
            assert f"Usage: fedsieve {{name}}" in shown.getvalue(), name"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("module", ["flwr", "cryptography"])
def test_without_the_engine_the_federation_s_extra_is_named(module):
    result = run_without(module, "federation", "status", "fed/")
    assert result.returncode == 2
    assert result.stderr == (
        f"Error: fedsieve federation needs the package '{module}'. Install it with: pip install \"fedsieve[flower]\"\n"
    )
    assert run_without(module, "federation", "--help").returncode == 0


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
