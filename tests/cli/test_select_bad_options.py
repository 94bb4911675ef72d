"""Options and labels that `fedsieve select` refuses: exit code 2, the rule and the value, and nothing on disk."""

import pandas as pd
import pytest


@pytest.fixture
def refusal(fedsieve, tables):
    """Run a select that must fail; return its message."""

    def run(*more: object) -> str:
        result = fedsieve(*tables.select(*more))
        assert result.code == 2, result.out
        assert not tables["result"].exists()
        return result.message

    return run


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["-k", 0], "6], or a share between 0 and 1; got 0."),
        (["-k", 7], "6], or a share between 0 and 1; got 7."),
        (["--lam", 0.39], "lam must be in [0.4, 2]; got 0.39."),
        (["--lam", 2.01], "lam must be in [0.4, 2]; got 2.01."),
        (["--lam", "nan"], "lam must be in [0.4, 2]; got nan."),
        (["--damping", 1], "damping must be in [0, 1); got 1.0."),
        (["--neighbors", 0], "n_neighbors must be a whole number of at least 1; got 0."),
        (["--neighbors", 18], "n_neighbors must be below the number of labeled rows, 18; got 18."),
        (["--nominal", "age,zip"], "nominal names no such feature: 'zip'."),
        (["--wire", "pigeon"], "wire must be one of 'auto', 'matrices', 'statistics', 'vectors'; got 'pigeon'."),
        (["--relation", "x"], "relation must be one of 'distance', 'similarity'; got 'x'."),
        (["--irrelevant", "x"], "irrelevant must be one of 'least', 'nonnegative'; got 'x'."),
        (["--decisions", "x"], "decisions must be one of 'crisp', 'soft'; got 'x'."),
        (["--spread", "x"], "spread must be one of 'pooled', 'mean'; got 'x'."),
        (["--missing", "x"], "missing must be one of 'error', 'unrelated'; got 'x'."),
        (["--constant", "x"], "constant must be one of 'last', 'keep'; got 'x'."),
        (["--on-bad-client", "x"], "on_bad_client must be one of 'raise', 'drop'; got 'x'."),
    ],
    ids=lambda value: " ".join(str(part) for part in value) if isinstance(value, list) else "",
)
def test_an_option_outside_its_rule(refusal, options, says):
    assert says in refusal(*options)


def test_the_edges_of_lam_are_allowed(fedsieve, tables):
    for lam in (0.4, 2):
        assert fedsieve(*tables.select("--lam", lam, out=f"lam-{lam}")).code == 0


@pytest.mark.parametrize("arguments", [["--seed", "many"], ["--lam", "big"], ["--nonsense"]])
def test_what_typer_refuses_has_the_same_exit_code(fedsieve, tables, arguments):
    result = fedsieve(*tables.select(*arguments))
    assert result.code == 2
    assert "fedsieve select --help" in result.err
    assert arguments[0] in result.err


def test_ranges_must_be_a_word_or_a_file(refusal):
    assert refusal("--ranges", "globl") == (
        "--ranges must be robust, federated, local or a CSV file: feature, low, high; got 'globl'."
    )


def test_ranges_files_that_cannot_be_used(refusal, tables):
    file = tables["ranges.csv"]
    assert refusal("--ranges", file) == f"{file}: no such file."
    ranges = pd.DataFrame({"feature": tables.features, "low": 0.0, "high": 100.0})
    tables.save("ranges.csv", ranges.rename(columns={"low": "min"}))
    assert refusal("--ranges", file) == f"{file}: needs the columns feature, low, high; got 'feature', 'min', 'high'."
    tables.save("ranges.csv", ranges[1:])
    assert "ranges declares no range for 'age'" in refusal("--ranges", file)
    tables.save("ranges.csv", ranges.assign(low=[0, 0, 101, 0, 0, 0]))
    assert "ranges['dose'] must be finite with low <= high; got (101.0, 100.0)." in refusal("--ranges", file)
    tables.save("ranges.csv", ranges.assign(high=[1, None, 1, 1, 1, 1]))
    assert "ranges['weight [kg]'] must be finite" in refusal("--ranges", file)
    tables.save("ranges.csv", ranges.assign(high="much"))
    assert refusal("--ranges", file).startswith(f"{file}: column 'high' holds string, first in row ")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(2, "another number"), (-1, "another number"), (0.5, "another number")],
)
def test_labels_that_are_not_0_or_1_are_named(refusal, tables, value, shown):
    server = tables.server.astype({"label_b": float})
    server.loc[server.index[4:6], "label_b"] = value
    tables.save("server.csv", server)
    rule = "label 'label_b' must be 0 or 1"
    assert refusal() == f"{tables['server.csv']}: {rule}; got {shown} in data row 5 and in 1 others."


def test_labels_that_are_text(refusal, tables):
    tables.save("server.csv", tables.server.assign(label_b="yes"))
    message = refusal()
    assert message.startswith(f"{tables['server.csv']}, labels: column 'label_b' holds string, first in row ")


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ("label_z,label_a", "no label column 'label_z' among the columns 'label_a'"),
        ("", "no label column was named. Say for example --labels y1,y2"),
        (" , ", "no label column was named."),
        ("prefix:target_", "no column starts with 'target_', so there is no label column; columns: 'label_a'"),
        ("prefix:", "no column starts with ''"),
    ],
)
def test_no_label_column(refusal, labels, says):
    assert refusal("--labels", labels).startswith(says)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<labels><label name='label_a'", "{file}: is no valid XML: "),
        ("<labels></labels>", "{file}: names no label."),
        ("<labels><label/></labels>", "{file}: has a label without a name."),
        ("<labels><label name='label_z'/></labels>", "no label column 'label_z' among the columns"),
    ],
)
def test_label_files_that_cannot_be_used(refusal, tables, text, says):
    tables["labels.xml"].write_text(text)
    assert refusal("--labels", tables["labels.xml"]).startswith(says.format(file=tables["labels.xml"]))


def test_a_label_file_that_is_absent(refusal, tables):
    assert refusal("--labels", tables["no.xml"]) == f"{tables['no.xml']}: cannot be read: No such file or directory."


def test_only_labels_and_no_features(refusal, tables):
    tables.save("server.csv", tables.server[list(tables.labels)])
    assert "all 3 columns are labels or dropped, so there is no feature" in refusal()
