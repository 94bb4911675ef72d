"""A site's folder that others can read: mended when the site joins, refused where that cannot be."""

from pathlib import Path

import pytest

from fedsieve.deployment import membership
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.folders import make_private, open_to_others
from fedsieve.errors import DataError

SITES = ["north", "south"]


@pytest.fixture
def site(tmp_path):
    text = agreement_text("fed", "h:1", SITES, ["f0", "f1"], ["y"])
    return membership.create(tmp_path / "fed", text, SITES, "h:1").site("north")


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o711, 0o707, 0o777, 0o705])
def test_what_others_may_enter_is_closed_and_named(site, mode):
    for folder in (site.prepared, site.results):
        folder.mkdir(mode=0o700)
    assert site.close_to_others() == []
    for folder in (site.path, site.prepared, site.results):
        folder.chmod(mode)
        assert open_to_others(folder)
        assert site.close_to_others() == [folder]
        assert folder.stat().st_mode & 0o777 == 0o700
    assert site.close_to_others() == []


def test_a_folder_that_another_owns_is_refused(site, monkeypatch):
    """The right to change rights cannot be taken from a test that may run as root."""
    site.path.chmod(0o755)

    def refuse(*_, **__):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    with pytest.raises(DataError, match=r"north: may be read by others, .*: Operation not permitted\. Move it"):
        site.close_to_others()


def test_a_disk_without_rights_is_refused(site, monkeypatch):
    site.path.chmod(0o755)
    monkeypatch.setattr(Path, "chmod", lambda *_, **__: None)
    with pytest.raises(DataError, match=r"north: may be read by others, .*: its file system knows no such rights\."):
        site.close_to_others()
    with pytest.raises(DataError, match="may be read by others"):
        make_private(site.path)
