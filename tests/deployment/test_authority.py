"""The authority that a site trusts is the operator's: one that was put in its place on the way is noticed."""

import shutil

import pytest

from fedsieve.deployment import keys, membership
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.authority import check_authority
from fedsieve.deployment.folders import SIGNATURE
from fedsieve.errors import ProtocolError

SITES = ["north", "south"]


@pytest.fixture
def make(tmp_path):
    def make(name):
        return membership.create(tmp_path / name, agreement_text("fed", "h:1", SITES, ["f0"], ["y"]), SITES, "h:1")

    return make


@pytest.fixture
def fed(make):
    return make("fed")


def check(site):
    check_authority(site, site.agreement())


def test_what_the_operator_hands_over_is_good_and_stays_so(fed):
    check(fed.site("north"))
    membership.renew_certificate(fed, 30)  # of the same authority
    membership.renew_site(fed, "south")  # a new agreement
    for name in SITES:
        check(fed.site(name))


def test_another_authority_is_refused(fed):
    site = fed.site("north")
    keys.write_certificate(keys.new_authority("fed", 10)[1], site.path / "ca.crt")
    with pytest.raises(ProtocolError, match=r"north's folder: ca\.crt is not the one that the operator vouches for"):
        check(site)


def test_so_is_one_that_another_operator_signed(fed, make):
    site, other = fed.site("north"), make("other").site("north")
    for file in ("ca.crt", SIGNATURE):
        shutil.copy(other.path / file, site.path / file)
    with pytest.raises(ProtocolError, match="vouches for"):
        check(site)


@pytest.mark.parametrize("content", [b"", b"no base64", b"\xff\xfe", b"QUJD", b"A" * 100_000], ids=len)
def test_what_is_no_signature_is_refused(fed, content):
    site = fed.site("north")
    (site.path / SIGNATURE).write_bytes(content)
    with pytest.raises(ProtocolError, match="vouches for"):
        check(site)


def test_a_certificate_beside_the_right_one_is_refused(fed):
    """Who trusts a file trusts every certificate in it."""
    site = fed.site("north")
    more = keys.new_authority("fed", 10)[1]
    keys.write_certificate(more, site.path / "more.crt")
    with (site.path / "ca.crt").open("ab") as file:
        file.write((site.path / "more.crt").read_bytes())
    with pytest.raises(ProtocolError, match="vouches for"):
        check(site)


def test_a_folder_of_an_earlier_version_says_what_to_do(fed):
    site = fed.site("north")
    (site.path / SIGNATURE).unlink()
    with pytest.raises(ProtocolError, match=r"has no ca\.sig.*an earlier version.*fedsieve federation pack.*unpack"):
        check(site)
    (fed.server / SIGNATURE).unlink()
    membership.hand_over_all(fed)  # as `pack` does
    check(site)
