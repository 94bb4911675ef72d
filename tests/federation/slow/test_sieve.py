"""Sieve between real processes: the result is that of one process, and sites are told what they consent to."""

import pytest

from federation.consortium import RUN_SECONDS, Consortium
from fedsieve.deployment.what_left import WhatLeft

pytestmark = pytest.mark.federation


@pytest.mark.parametrize("k", ["auto", "2"])
def test_sieve_over_the_network_is_sieve_in_one_process(tmp_path, k):
    # A screen of two columns makes the table wide, so that products with the server's model travel as well.
    changes = {} if k == "auto" else {"screen = 2000": "screen = 2"}
    with Consortium(tmp_path).init("--method", "sieve", "-k", k, changes=changes) as consortium:
        consortium.serve()
        joins = consortium.join_all()
        if k == "auto":  # a check before it, with the same processes
            said = consortium.call("check", consortium.fed, seconds=RUN_SECONDS).text
            assert "No columns were compared. Nothing looks wrong." in " ".join(said.split())
            left = [entry["reply"] for entry in WhatLeft(consortium.site(consortium.names[0])).chain.entries()]
            assert left == ["Ranges"]
        record, expected = consortium.run().result(), consortium.expected()
        assert record["method"] == "Sieve"
        for key in ("selected", "order", "columns", "redundant_with", "parameters", "bytes", "transcript"):
            assert record[key] == expected[key], key
        for key in ("scores", "relevance", "stability", "redundancy"):  # products differ in the last bit by threads
            for name, value in expected[key].items():
                assert record[key][name] == (value if value is None else pytest.approx(value, abs=1e-9)), (key, name)
        assert "Covariances" in joins[consortium.names[0]].text
        assert ("Projections" in record["bytes"]) == (k == "2")
