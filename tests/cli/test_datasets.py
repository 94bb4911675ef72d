"""`fedsieve datasets`: what is known, what is in a dataset, and files that are fetched."""

import sys

import pytest

from tiny_dataset import FILES, TINY, write_mirror

OWN_FILES_ONLY = "--labels and --drop are for files of your own; the columns of 'tiny' are known."


def cells(result, first):
    """The cells of the table row whose first cell that is."""
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in result.out.splitlines()]
    (row,) = [row for row in rows if row[0] == first and len(row) > 1]
    return row


def test_list_shows_what_is_known_and_what_is_at_hand(fedsieve, cache):
    result = fedsieve("datasets", "list")
    assert result.code == 0, result.err
    assert cells(result, "tiny") == ["tiny", "fruit", "5", "2", "2", "1", "3/2", "no"]
    cache.mkdir(parents=True)
    for name, text in FILES.items():
        assert cells(fedsieve("datasets", "list"), "tiny")[-1] == "no"
        (cache / name).write_text(text)
    assert cells(fedsieve("datasets", "list"), "tiny")[-1] == "yes"


def test_list_of_the_five_fits_a_terminal_and_needs_no_network(fedsieve, monkeypatch, tmp_path):
    monkeypatch.setenv("FEDSIEVE_DATA", str(tmp_path))
    monkeypatch.setenv("FEDSIEVE_DATA_URL", "http://127.0.0.1:1/")
    result = fedsieve("datasets", "list")
    assert result.code == 0, result.err
    assert cells(result, "corel5k")[:7] == ["corel5k", "images", "5000", "499", "374", "150", "4500/500"]
    assert cells(result, "cal500")[6] == "-"
    assert max(map(len, result.out.splitlines())) <= 80


def test_fetch_downloads_all_and_says_where(fedsieve, cache, remote):
    result = fedsieve("datasets", "fetch")
    assert result.code == 0, result.err
    assert result.out == "".join(f"tiny: {cache / name} (downloaded, checked)\n" for name in FILES)
    assert {name: (cache / name).read_text() for name in FILES} == FILES
    again = fedsieve("datasets", "fetch", "tiny")
    assert again.out == "".join(f"tiny: {cache / name} (was at hand, checked)\n" for name in FILES)
    assert len(remote.asked) == len(FILES)


def test_fetch_checks_what_is_at_hand(fedsieve, cache, monkeypatch, tmp_path):
    home = write_mirror(tmp_path / "mirror")
    monkeypatch.setenv("FEDSIEVE_DATA", str(tmp_path / "mirror"))
    (home / "tiny.xml").write_text("<labels/>")
    result = fedsieve("datasets", "fetch", "tiny")
    assert result.code == 2
    assert result.message.startswith(f"{home / 'tiny.xml'}: is not the file it should be: SHA-256 must be ")
    assert not cache.exists()


@pytest.mark.parametrize("command", ["info", "fetch"])
def test_an_unknown_dataset_lists_the_known_ones(fedsieve, cache, remote, command):
    result = fedsieve("datasets", command, *(["tiny"] if command == "fetch" else []), "nope")
    assert result.code == 2
    assert result.message.startswith("datasets: name must be one of 'tiny'; got 'nope'.")
    assert remote.asked == []  # not even for the name before it
    assert not cache.exists()


def test_no_network_says_what_to_put_where(fedsieve, cache, monkeypatch):
    monkeypatch.setenv("FEDSIEVE_DATA_URL", "http://127.0.0.1:1/")
    result = fedsieve("datasets", "info", "tiny")
    assert result.code == 2
    assert f"put 'tiny-train.arff', 'tiny-test.arff', 'tiny.xml' into {cache}, or into" in result.message


def test_info_of_a_known_dataset(fedsieve, cache):
    result = fedsieve("datasets", "info", "Tiny")
    assert result.code == 0, result.err
    facts = {cells(result, name)[0]: cells(result, name)[1] for name in ("rows", "features", "labels", "source")}
    assert facts == {"rows": "5", "features": "2 (1 few-valued, 1 0/1)", "labels": "2", "source": TINY.source}
    assert cells(result, "labels per row")[1] == "1.200 on average (cardinality); 0 rows have none"
    assert cells(result, "label density")[1] == "0.6000"
    assert cells(result, "distinct label sets")[1] == "3"
    assert cells(result, "official split")[1] == "3 train, 2 test rows"
    assert cells(result, "selected in the paper")[1] == "1 features"
    assert cells(result, "stored")[1] == "dense, 80.0% of the values are not 0"
    for name in FILES:
        assert f"{cache / name}\n" in result.out
    assert result.err == ""


def test_info_of_a_table_of_ones_own_warns_of_what_looks_wrong(fedsieve, tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("id,age,copy,one,label_a\nx,3,1,2,1\ny,5.5,0,2,0\nz,,1,2,1\n")
    result = fedsieve("datasets", "info", path, "--labels", "prefix:label_", "--drop", "id")
    assert result.code == 0, result.err
    assert cells(result, "features")[1] == "3 (1 few-valued, 1 0/1, 1 constant)"
    assert cells(result, "missing values")[1] == "1"
    assert cells(result, "official split")[1] == "none"
    assert "selected in the paper" not in result.out
    assert result.out.endswith(f"{path}\n")
    assert result.err.splitlines() == [
        "Warning: feature 'copy' equals label 'label_a' in every row: a label among the features?",
        "Warning: feature 'one' is constant.",
    ]


def test_info_of_an_arff_file_of_ones_own(fedsieve, tmp_path):
    (tmp_path / "tiny.arff").write_text(FILES["tiny-train.arff"].replace("tiny", "'tiny: -C -1'"))
    result = fedsieve("datasets", "info", tmp_path / "tiny.arff")
    assert result.code == 0, result.err
    assert cells(result, "labels")[1] == "1"
    (tmp_path / "tiny.xml").write_text(FILES["tiny.xml"])
    assert cells(fedsieve("datasets", "info", tmp_path / "tiny.arff"), "labels")[1] == "2"
    assert "source" not in result.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["absent.arff"], "absent.arff: cannot be read: No such file or directory."),
        (["absent.csv", "--labels", "y"], "absent.csv: no such file."),
        (
            ["tiny", "--labels", "y_a"],
            "--labels and --drop are for files of your own; the columns of 'tiny' are known.",
        ),
        (["tiny", "--drop", "red"], "--labels and --drop are for files of your own; the columns of 'tiny' are known."),
    ],
)
@pytest.mark.usefixtures("cache")
def test_bad_input_of_info(fedsieve, arguments, says):
    result = fedsieve("datasets", "info", *arguments)
    assert (result.code, result.message) == (2, says)


@pytest.mark.parametrize("command", ["list", "info", "fetch"])
def test_each_command_shows_an_example(fedsieve, command):
    result = fedsieve("datasets", command, "--help")
    assert result.code == 0
    assert f"Example: fedsieve datasets {command}" in result.out
    text = [line.strip() for line in result.out.partition("╭")[0].splitlines()]
    assert not [line for line in text if len(line.split()) == 1 and not line.endswith(".")]  # no ragged lines


def test_the_group_shows_its_commands(fedsieve):
    result = fedsieve("datasets", "--help")
    assert result.code == 0
    assert "Example: fedsieve datasets info yeast" in result.out
    assert all(f" {command} " in result.out for command in ("list", "info", "fetch"))
    assert fedsieve("datasets").code == 2


@pytest.mark.usefixtures("cache")
def test_the_missing_extra_is_named(fedsieve, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    for arguments in (["list"], ["fetch"], ["info", "tiny"]):
        result = fedsieve("datasets", *arguments)
        assert result.code == 2
        assert result.message.endswith('Install it with: pip install "fedsieve[data]"')
