"""`fedsieve federation` with a method whose sites hold labels: what `init` writes, and which tables `join` takes."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fedsieve.cli.agreed_tables import read_labeled, read_rows
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.server_folder import ServerFolder
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.errors import DataError
from fedsieve.methods import METHODS, FedCMFSMethod, FMLFSMethod, SieveMethod, SSFMLFSMethod

PLANS = {"FMLFS": FMLFSMethod, "FedCMFS": FedCMFSMethod}
methods = pytest.mark.parametrize("method", PLANS)


@pytest.fixture
def init(fedsieve, tables):
    """Call `fedsieve federation init` with the tables' columns."""

    def call(*more: object):
        named = ("--out", tables["fed"], "--sites", "siteA,siteB", "--min-clients", 2, "--with-keys")
        return fedsieve(
            "federation", "init", *named, "--schema", tables["server.csv"], "--labels", "prefix:label_", *more
        )

    return call


@pytest.fixture
def site_table(tables):
    """Rows of siteA with labels, in another order than the server's, and a column that nobody agreed on."""
    rng = np.random.default_rng(3)
    table = tables.clients["siteA"].assign(**{name: rng.integers(0, 2, 12) for name in reversed(tables.labels)})
    return table.assign(diagnosis=1)


def agreement(tables, method="FMLFS", **sections):
    columns, sections = (list(tables.features), list(tables.labels)), {"privacy": {"min_rows": 10}, **sections}
    text = agreement_text("f", "h:1", ["a", "b"], *columns, method=method, **sections)
    return parse_agreement(text)


@methods
def test_init_writes_the_method_for_all_parties(init, tables, method):
    assert init("--method", method, "-k", 2).code == 0
    folder = ServerFolder(tables["fed"])
    plan = folder.agreement().method
    assert type(plan) is PLANS[method]
    assert plan.k == 2
    assert set(plan.features) == set(tables.features)
    assert set(plan.labels) == set(tables.labels)
    for site in ("siteA", "siteB"):
        assert folder.site(site).agreement().fingerprint == folder.agreement().fingerprint


def test_init_without_a_method_means_sieve_and_says_so_in_the_file(init, tables):
    assert init().code == 0
    assert type(ServerFolder(tables["fed"]).agreement().method) is SieveMethod
    assert '\nmethod = "Sieve"\n' in (tables["fed"] / "federation.toml").read_text()


def test_init_takes_the_paper_s_method_with_its_own_options(init, tables):
    assert init("--method", "ssfmlfs", "--wire", "vectors", "--missing", "unrelated").code == 0
    plan = ServerFolder(tables["fed"]).agreement().method
    assert type(plan) is SSFMLFSMethod
    assert (plan.wire, plan.missing) == ("vectors", "unrelated")


def test_init_takes_the_wire_form_of_the_method(init, tables):
    assert init("--method", "FedCMFS", "--wire", "tests").code == 0
    assert ServerFolder(tables["fed"]).agreement().method.wire == "tests"


@methods
def test_init_without_columns_makes_a_template_of_the_method(fedsieve, tables, method):
    result = fedsieve(
        "federation", "init", "--out", tables["fed"], "--sites", "a,b", "--min-clients", 2, "--method", method
    )
    assert result.code == 0
    text = (tables["fed"] / "federation.toml").read_text()
    assert f'method = "{method}"' in text
    assert "in the server's and all sites' tables" in text
    filled = text.replace('features = ["FILL IN: the names of the columns"]', 'features = ["f0"]')
    filled = filled.replace('labels = ["FILL IN: the names of the columns"]', 'labels = ["y"]')
    assert type(parse_agreement(filled).method) is PLANS[method]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--method", "PCA"],
            f"the federation: method must be one of {', '.join(map(repr, METHODS))}; got 'PCA'.",
        ),
        (["--method", "FMLFS", "--wire", "statistics"], "[parameters] has unknown 'wire'."),
        (["--method", "FedCMFS", "--missing", "unrelated"], "[parameters] has unknown 'missing'."),
        (["--method", "FedCMFS", "--wire", "vectors"], "FedCMFS: wire must be one of 'statistics', 'tests'; got 'vect"),
        (
            ["--method", "FMLFS", "--ranges", "local"],
            "FMLFS: ranges must be 'federated', 'robust' or {name: (low, high)}; got 'local'.",
        ),
        (["--method", "FMLFS", "--nominal", "code"], "FMLFS: takes no nominal features; got 'code'. Encode them."),
        (["--method", "FMLFS", "-k", 7], "FMLFS: n_features_to_select must be a whole number in [1, n_features=6]"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(map(str, value)),
)
def test_options_that_do_not_fit_the_method_are_named_and_nothing_is_made(init, tables, options, said):
    result = init(*options)
    assert result.code == 2
    assert result.message.startswith(said)
    assert not tables["fed"].exists()


@pytest.fixture
def site(init, tables):
    assert init("--method", "FMLFS", "--min-rows", 10).code == 0
    made = SiteFolder(tables["fed"] / "sites" / "siteA")
    (made.path / "policy.toml").write_text("min_rows = 10\nmin_cohort = 2\nallow_exact_ranges = true\n")
    return made


def test_join_refuses_a_table_without_the_labels(fedsieve, tables, site):
    result = fedsieve("federation", "join", site.path, "--data", tables["siteA.csv"], "--yes")
    assert result.code != 0
    assert "lacks 'label_a', 'label_b', 'label_c' of the 9 columns agreed on (federation.toml)" in result.message
    assert not site.prepared.exists()


def test_join_shows_what_will_leave_before_it_asks(fedsieve, tables, site, site_table):
    file = tables.save("labeled.csv", site_table)
    result = fedsieve("federation", "join", site.path, "--data", file)
    assert result.code != 0
    assert "did not consent: nobody is there to ask" in result.message
    assert "Information" in result.out
    assert "bins" in result.out
    assert not site.prepared.exists()


@methods
def test_a_site_s_rows_and_labels_are_read_in_the_agreement_s_order(tables, site_table, method):
    X, Y = read_rows(tables.save("labeled.csv", site_table), agreement(tables, method))
    assert_array_equal(X, site_table[list(tables.features)].to_numpy(float))
    assert_array_equal(Y, site_table[list(tables.labels)].to_numpy(float))
    assert Y.dtype == np.float64


def test_where_sites_need_no_labels_none_are_read(tables, site_table):
    _, Y = read_rows(tables.save("labeled.csv", site_table), agreement(tables, "SSFMLFS"))
    assert Y is None


@methods
def test_the_server_s_single_label_stays_one(tables, method):
    one = tables.server.drop(columns=["label_b", "label_c"])
    text = agreement_text("f", "h:1", ["a", "b"], list(tables.features), ["label_a"], method=method)
    assert read_labeled(tables.save("one.csv", one), parse_agreement(text)).Y.shape == (18, 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"label_b": [0, 1, 2] + [0] * 9},
            "label 'label_b' must be 0 or 1; got another number in data row 3",
        ),
        ({"label_a": [None, 1] * 6}, "label 'label_a' must be 0 or 1; got a missing value in data row 1 and in 5"),
        ({"label_c": [-1] * 12}, "label 'label_c' must be 0 or 1; got another number in data row 1 and in 11 others."),
        ({"age": [None] + [1.0] * 11}, "1 missing (NaN) value in column 'age'."),
    ],
    ids=["2", "missing label", "unlabeled", "missing value"],
)
def test_bad_values_in_a_site_s_table_are_named_with_file_and_place(tables, site_table, change, said):
    file = tables.save("bad.csv", site_table.assign(**change))
    with pytest.raises(DataError) as refused:
        read_rows(file, agreement(tables))
    assert str(refused.value).startswith(f"{file}: {said}")


def test_a_site_of_too_few_rows_is_refused_with_its_labels_too(tables, site_table):
    file = tables.save("few.csv", site_table[:9])
    with pytest.raises(DataError, match=r"few\.csv: has 9 rows; .* at least 10 \(min_rows\)\. Wait for more\.$"):
        read_rows(file, agreement(tables))
