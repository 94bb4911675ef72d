"""`[above]` of an agreement: what it must be, and that it belongs to what sites consent to."""

import pytest

from fedsieve.deployment.above import Above
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.errors import ParameterError

ABOVE = Above("top", "edgeA", "709e 80c8", "0" * 64, 6)


def text(above=ABOVE, **sections):
    return agreement_text("own", "127.0.0.1:9443", ["a", "b", "c"], ["f", "g"], ["y"], above=above, **sections)


def test_it_is_read_as_it_was_written_and_is_part_of_what_was_agreed_on():
    agreement = parse_agreement(text())
    assert agreement.above == ABOVE
    others = [parse_agreement(text(above)) for above in (None, Above("top", "edgeA", "709e 80c8", "1" * 64, 6))]
    assert len({agreement.fingerprint, *(other.fingerprint for other in others)}) == 3


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('client = "edgeA"\n', "", "[above] must be a section with 'name', 'client', 'operator', 'agreement'"),
        ('client = "edgeA"', "client = 3", "[above] client must be text; got 3."),
        ("0" * 64, "0" * 63, "[above] agreement must be a fingerprint of 64 hexadecimal digits; got '000"),
        ("max_sites = 6", "max_sites = 0", "[above] max_sites must be a whole number, 1 or more; got 0."),
        ("max_sites = 6", "max_sites = true", "[above] max_sites must be a whole number, 1 or more; got True."),
    ],
)
def test_what_it_must_be(before, after, message):
    whole = text()
    assert whole.count(before) == 1
    with pytest.raises(ParameterError) as refused:
        parse_agreement(whole.replace(before, after))
    assert str(refused.value).startswith(message)


def test_secure_sums_are_not_agreed_on_below_an_edge_server():
    with pytest.raises(ParameterError) as refused:
        parse_agreement(text(privacy={"secure": True}))
    assert str(refused.value) == (
        "[privacy] secure = true takes sites themselves: an agreement with [above] must be plain."
    )


def test_nothing_follows_a_run_below_an_edge_server():
    with pytest.raises(ParameterError) as refused:
        parse_agreement(text(after=["label"]))
    assert str(refused.value) == (
        "[after] of an agreement with [above] must be false: an edge server passes on sums only."
    )
