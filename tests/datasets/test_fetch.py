"""Files from a mirror, a cache folder or a server: the right bytes or an error, and never half a file."""

import hashlib
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fedsieve import datasets
from fedsieve.datasets.fetch import fetch, locate
from fedsieve.errors import DataError, MissingExtraError, ParameterError
from tiny_dataset import FILES, TINY, remote_server, use_tiny, write_mirror

TRAIN = "tiny-train.arff"


def everything_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_files_are_downloaded_once_into_the_cache_folder(cache, remote):
    assert locate("tiny") == dict.fromkeys(FILES)
    assert fetch("tiny") == {name: cache / name for name in FILES}
    assert {name: (cache / name).read_text() for name in everything_in(cache)} == FILES
    assert remote.asked == [f"/mulan/tiny/{name}" for name in FILES]
    assert fetch("tiny") == locate("tiny") == {name: cache / name for name in FILES}
    assert len(remote.asked) == len(FILES)


@pytest.mark.parametrize("end", ["", "/"])
def test_the_address_may_end_in_a_slash(cache, remote, monkeypatch, end):
    monkeypatch.setenv("FEDSIEVE_DATA_URL", remote.url + end)
    assert fetch("tiny")[TRAIN] == cache / TRAIN


def test_without_an_address_of_ones_own_it_is_mulans_repository(cache, monkeypatch):
    asked = []

    def refuse(url, *_):
        import requests

        asked.append(url)
        raise requests.ConnectionError

    monkeypatch.delenv("FEDSIEVE_DATA_URL")
    monkeypatch.setattr("pooch.HTTPDownloader", lambda **_: refuse)
    with pytest.raises(DataError, match=r"cannot be downloaded \(ConnectionError\)"):
        fetch("tiny")
    commit = "43f6389095ad71984264db4387a8074b22bc7d4a"
    assert asked == [
        f"https://raw.githubusercontent.com/tsoumakas/mulan/{commit}/data/multi-label/tiny/tiny-train.arff"
    ]
    assert everything_in(cache) == []


def test_a_loaded_dataset_has_train_rows_then_test_rows_and_labels_by_name(cache):
    tiny = datasets.load("tiny")
    assert_array_equal(tiny.X, [[0.5, 0], [1.5, 1], [2.5, 1], [3.5, 0], [4.5, 1]])
    assert_array_equal(tiny.Y, [[0, 1], [1, 0], [0, 1], [1, 0], [1, 1]])
    assert (tiny.feature_names, tiny.label_names) == (("sweet", "red"), ("y_a", "y_b"))
    assert_array_equal(tiny.train, [0, 1, 2])
    assert_array_equal(tiny.test, [3, 4])
    assert (tiny.name, tiny.source, tiny.nominal) == ("tiny", "A. Orchard: On Fruit. 2001.", ())
    assert tiny.files == tuple(str(cache / name) for name in FILES)
    assert tiny.Y.dtype == np.int64


@pytest.mark.usefixtures("cache")
def test_each_load_gives_tables_of_its_own():
    first = datasets.load("tiny")
    for table in (first.X, first.Y, first.train, first.test):
        table[:] = -1
    again = datasets.load("TINY")
    assert min(again.X.min(), again.Y.min(), again.train.min()) == 0
    assert again.test.min() == 3


def test_the_mirror_is_used_first_and_never_written_to(cache, remote, monkeypatch, tmp_path):
    home = write_mirror(tmp_path / "mirror")
    monkeypatch.setenv("FEDSIEVE_DATA", str(tmp_path / "mirror"))
    cache.mkdir(parents=True)
    (cache / TRAIN).write_text("something else")  # not looked at
    assert fetch("tiny") == locate("tiny") == {name: home / name for name in FILES}
    assert remote.asked == []
    (home / "tiny.xml").unlink()
    assert fetch("tiny")["tiny.xml"] == cache / "tiny.xml"
    assert remote.asked == ["/mulan/tiny/tiny.xml"]
    assert everything_in(home) == ["tiny-test.arff", TRAIN]


@pytest.mark.usefixtures("cache")
def test_a_mirror_that_is_no_folder_is_an_error(remote, monkeypatch, tmp_path):
    monkeypatch.setenv("FEDSIEVE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=r"FEDSIEVE_DATA must name a folder; got '.*nowhere'"):
        datasets.load("tiny")
    assert remote.asked == []


def test_an_empty_variable_is_no_mirror(cache, monkeypatch):
    monkeypatch.setenv("FEDSIEVE_DATA", "")
    assert fetch("tiny")[TRAIN] == cache / TRAIN


@pytest.mark.parametrize("where", ["mirror", "cache"])
def test_a_tampered_file_is_an_error_with_both_hashes_even_after_it_was_loaded(cache, monkeypatch, tmp_path, where):
    home = cache
    if where == "mirror":
        home = write_mirror(tmp_path / "mirror")
        monkeypatch.setenv("FEDSIEVE_DATA", str(tmp_path / "mirror"))
    datasets.load("tiny")
    changed = FILES[TRAIN].replace("2.5", "2.6")
    (home / TRAIN).write_text(changed)
    with pytest.raises(DataError) as error:
        datasets.load("tiny")
    assert str(error.value) == (
        f"{home / TRAIN}: is not the file it should be: SHA-256 must be {TINY.files[TRAIN]}; "
        f"got {hashlib.sha256(changed.encode()).hexdigest()}. Replace it, or delete it to have it downloaded again."
    )
    assert (home / TRAIN).read_text() == changed  # it may be somebody's work


def test_a_download_with_other_bytes_names_both_hashes_and_leaves_nothing(cache, remote):
    remote.bodies[TRAIN] = b"<html>Please log in</html>"
    with pytest.raises(DataError) as error:
        datasets.load("tiny")
    message = str(error.value)
    assert message.startswith(f"{remote.url}/tiny/{TRAIN}: is not the file it should be: ")
    assert TINY.files[TRAIN] in message
    assert hashlib.sha256(remote.bodies[TRAIN]).hexdigest() in message
    assert everything_in(cache) == []
    remote.bodies.clear()
    assert len(datasets.load("tiny").X) == 5


def test_a_connection_cut_in_the_middle_leaves_nothing_and_can_be_tried_again(cache, remote):
    remote.cut.add("tiny-test.arff")
    with pytest.raises(DataError, match=r"tiny-test\.arff: cannot be downloaded \(.*Without a network, put") as error:
        fetch("tiny")
    assert f"put 'tiny-test.arff', 'tiny.xml' into {cache}" in str(error.value)
    assert everything_in(cache) == [TRAIN]
    remote.cut.clear()
    fetch("tiny")
    assert everything_in(cache) == sorted(FILES)


def test_a_body_that_ends_early_without_a_stated_length_is_caught_by_its_hash(cache, remote):
    remote.bodies["tiny.xml"] = FILES["tiny.xml"].encode()[:-9]
    with pytest.raises(DataError, match="SHA-256 must be"):
        fetch("tiny")
    assert "tiny.xml" not in everything_in(cache)


def test_a_file_that_the_server_does_not_have(cache, remote, monkeypatch):
    monkeypatch.setenv("FEDSIEVE_DATA_URL", remote.url.replace("mulan", "elsewhere"))
    with pytest.raises(DataError, match=r"elsewhere/tiny/tiny-train\.arff: cannot be downloaded \(404"):
        fetch("tiny")
    assert everything_in(cache) == []


def test_without_a_network_the_message_says_which_files_to_put_where(monkeypatch, tmp_path):
    with remote_server() as gone:
        pass
    cache = use_tiny(monkeypatch, tmp_path, gone.url)
    with pytest.raises(DataError) as error:
        datasets.load("tiny")
    message = str(error.value)
    assert message.startswith(f"{gone.url}/tiny/{TRAIN}: cannot be downloaded (Failed to establish a new connection: ")
    assert message.endswith(
        f"Without a network, put 'tiny-train.arff', 'tiny-test.arff', 'tiny.xml' into {cache}, "
        "or into mulan/tiny below a folder that FEDSIEVE_DATA names."
    )
    cache.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():  # as it says
        (cache / name).write_text(text)
    assert len(datasets.load("tiny").X) == 5


def test_a_cache_folder_that_cannot_be_made(monkeypatch, tmp_path, remote):
    use_tiny(monkeypatch, tmp_path, remote.url)
    (tmp_path / "cache").write_text("a file in the way")
    with pytest.raises(DataError, match=r"cannot be made: .*\. Let FEDSIEVE_DATA name a folder"):
        datasets.load("tiny")


@pytest.mark.usefixtures("cache")
def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ParameterError, match="name must be one of 'tiny'; got 'yeast'"):
        datasets.load("yeast")


@pytest.mark.usefixtures("cache")
def test_the_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtraError, match=r"'pooch'\. Install it with: pip install \"fedsieve\[data\]\""):
        datasets.load("tiny")
