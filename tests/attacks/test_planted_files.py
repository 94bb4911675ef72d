"""The operator's tar brings along rules that forbid nothing and a ledger that counted nothing.

Unpacked by `tar` it makes them the site's own; `fedsieve federation unpack` takes none of it.
"""

import io
import tarfile

import numpy as np
import pytest
from typer.testing import CliRunner

from fedsieve.cli.app import app
from fedsieve.deployment.admission import approve, make_request, read_request
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.ledger import Ledger
from fedsieve.deployment.membership import create
from fedsieve.deployment.policy_file import read_policy
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.privacy import SITE
from fedsieve.tables import ArrayTable

FEATURES, SITES = tuple("abcdef"), ["siteA", "siteB", "siteC"]
X = np.random.default_rng(0).uniform(0, 1, (80, len(FEATURES)))
PLANTED = {
    "policy.toml": b"min_cell = 0\nmin_difference_rows = 0\n",
    "ledger/runs.json": b'{"runs": []}\n',
    "consent.jsonl": b"",
    "prepared/held-back.json": b"{}",
}


@pytest.fixture
def handed_over(tmp_path):
    """A site that has answered one run, and the operator's next tar."""
    text = agreement_text("fed", "127.0.0.1:9443", SITES, list(FEATURES), ["y"], method="Sieve")
    server = create(tmp_path / "fed", text, SITES, "127.0.0.1:9443", with_keys=False)
    _, request = make_request(tmp_path / "siteA", "siteA")
    approve(server, [read_request(request)])
    site, honest, tar = SiteFolder(tmp_path / "siteA"), server.sites / "siteA.tar", tmp_path / "siteA.tar"
    Ledger(site.ledger).admit("run-1", "agreement", SITE, ArrayTable(FEATURES, X))
    with tarfile.open(honest) as before, tarfile.open(tar, "w") as after:
        for member in before:
            after.addfile(member, before.extractfile(member) if member.isfile() else None)
        for name, content in PLANTED.items():
            entry = tarfile.TarInfo(f"siteA/{name}")
            entry.size, entry.mode = len(content), 0o600
            after.addfile(entry, io.BytesIO(content))
    return site, tar, honest


def test_unpacked_by_tar_the_operator_writes_the_sites_rules_and_records(handed_over):
    site, tar, _ = handed_over
    with tarfile.open(tar) as archive:
        archive.extractall(site.path.parent, filter="data")
    assert (read_policy(site).min_cell, Ledger(site.ledger).runs()) == (0, [])


def test_our_own_command_takes_the_operators_files_only(handed_over):
    site, tar, honest = handed_over
    refused = CliRunner().invoke(app, ["federation", "unpack", str(tar), str(site.path)])
    assert refused.exit_code != 0
    assert not (site.path / "federation.toml").exists()
    taken = CliRunner().invoke(app, ["federation", "unpack", str(honest), str(site.path)])
    assert taken.exit_code == 0
    assert (read_policy(site), len(Ledger(site.ledger).runs())) == (SITE, 1)
    assert site.agreement().approved == ("siteA",)
