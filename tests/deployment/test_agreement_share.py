"""A share of the features in an agreement: stored as given, the same number at all parties."""

import pytest

from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.errors import ParameterError
from fedsieve.methods import METHODS

FEATURES = [f"f{i}" for i in range(10)]


def text(method, share):
    parameters = {"n_features_to_select": share}
    return agreement_text(
        "trial", "host:1", ["a", "b", "c"], FEATURES, ["y", "z"], method=method, parameters=parameters
    )


@pytest.mark.parametrize("method", METHODS)
def test_every_party_derives_the_same_number(method):
    written = text(method, 0.39)
    assert "n_features_to_select = 0.39" in written
    server, site = parse_agreement(written), parse_agreement(written)
    assert server.method.n_features_to_select == 0.39
    assert server.method.k == site.method.k == 3
    assert server.fingerprint == site.fingerprint
    assert server.fingerprint != parse_agreement(text(method, 3)).fingerprint


@pytest.mark.parametrize("share", [1.0, 1.5, 0.0])
def test_what_is_no_share_is_refused(share):
    with pytest.raises(ParameterError, match=r"in \[1, n_features=10\], a share between 0 and 1, or \"auto\"; got"):
        parse_agreement(text("Sieve", share))
