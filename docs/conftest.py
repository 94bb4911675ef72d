"""Examples of the pages run in a folder of their own, with the files that the page makes: some write or read there."""

import pytest

from documented_commands import files_of

collect_ignore = ["site"]  # builds the site, with packages that only this needs


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(request: pytest.FixtureRequest, tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(str(tmp_path))
    for code in files_of(request.path).values():
        exec(code, {})
