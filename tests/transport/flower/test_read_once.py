"""Agreement and keys are read once per process, however many messages it meets; a changed file is read again."""

import tomllib
from collections import Counter

import pytest
from cryptography.hazmat.primitives import serialization

from fedsieve.deployment import keys
from fedsieve.deployment.folders import AGREEMENT


@pytest.fixture
def reads(consortium, monkeypatch):
    """How often each parser is called; the files count as new, whatever of them was read before."""
    for file in consortium.folder.path.rglob("*"):
        file.touch()
    keys.public_key.cache_clear()
    counts = Counter()
    parsers = ((tomllib, "loads"), (serialization, "load_ssh_private_key"), (serialization, "load_ssh_public_key"))
    for module, name in parsers:
        parse = getattr(module, name)

        def counted(*args, genuine=parse, name=name, **options):
            counts[name] += 1
            return genuine(*args, **options)

        monkeypatch.setattr(module, name, counted)
    return counts


def test_a_run_reads_every_partys_agreement_and_keys_once(consortium, reads):
    assert consortium.lead().failure() is None
    n_sites = len(consortium.case.clients)
    assert reads["loads"] == 2 * n_sites + 1  # of each site agreement and rules, and the operator's agreement
    assert reads["load_ssh_private_key"] == n_sites + 1
    assert reads["load_ssh_public_key"] == 2 * n_sites  # the server knows every site's, every site the operator's


def test_a_changed_file_is_read_again(consortium, reads):
    folder = consortium.folder
    first = folder.agreement()
    assert folder.agreement() is first
    file = folder.path / AGREEMENT
    file.write_text(file.read_text().replace('name = "fed"', 'name = "another"'))
    assert folder.agreement().name == "another"
    assert reads["loads"] == 2
