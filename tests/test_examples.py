"""Every script and notebook of the gallery runs as it is, in a process of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[1] / "examples"
SCRIPTS, NOTEBOOKS = sorted(GALLERY.glob("*.py")), sorted(GALLERY.glob("*.ipynb"))
BIN = Path(sys.executable).parent


def run(*command: object, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(BIN), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.full
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs(script, tmp_path):
    found = run(sys.executable, script, folder=tmp_path, MPLBACKEND="Agg")
    assert found.returncode == 0, found.stderr
    assert found.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.full
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook, tmp_path):
    copy, done = shutil.copy(notebook, tmp_path), tmp_path / "done.ipynb"
    execute = (BIN / "jupyter-execute", copy, f"--output={done}")
    found = run(*execute, folder=tmp_path, JUPYTER_RUNTIME_DIR=str(tmp_path))
    assert found.returncode == 0, found.stderr
    outputs = [output for cell in code_of(done) for output in cell["outputs"]]
    assert not [output for output in outputs if output.get("name") == "stderr"]  # no warning either
    shown = [output["data"] for output in outputs if "data" in output]
    assert any("<svg role='img'" in "".join(data.get("text/html", "")) for data in shown)  # the card of a selector
    assert any("image/png" in data for data in shown)


def test_notebooks_are_kept_without_results():
    cells = [cell for notebook in NOTEBOOKS for cell in code_of(notebook)]
    assert cells
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)


def test_the_page_of_the_gallery_names_all_of_it():
    told = (GALLERY / "README.md").read_text(encoding="utf-8")
    assert all(f"({file.name})" in told for file in (*SCRIPTS, *NOTEBOOKS))


def code_of(notebook: Path) -> list[dict]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]
