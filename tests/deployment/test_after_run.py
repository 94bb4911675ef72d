"""The section [after] of an agreement: all is off, what is on changes the fingerprint, what is wrong is said."""

import pytest

from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.differences import differences
from fedsieve.errors import ParameterError


def text(**more):
    return agreement_text("fed", "h:1", ["a", "b", "c"], ["x", "z"], ["y"], **more)


def without_section(whole):
    start = whole.index("[after]")
    return whole[:start] + whole[whole.index("[members", start) :]


def test_nothing_follows_a_run_unless_it_is_said():
    agreement = parse_agreement(text())
    assert agreement.after == {"collect": False, "label": False}
    older = parse_agreement(without_section(text()))
    assert older.after == agreement.after
    assert older.fingerprint == agreement.fingerprint  # agreements of before stay what they are


def test_what_is_allowed_is_part_of_what_all_agree_on():
    allowed = [parse_agreement(text(after=after)) for after in ((), ("collect",), ("label",), ("collect", "label"))]
    assert len({agreement.fingerprint for agreement in allowed}) == 4
    assert differences(allowed[0], allowed[1]) == ["after of 'collect': False, now True"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ("collect = 1", r"\[after\] collect must be true or false; got 1"),
        ('collect = "yes"', r"\[after\] collect must be true or false; got 'yes'"),
        ("publish = true", r"\[after\] has unknown 'publish'; it knows 'collect', 'label'"),
    ],
)
def test_what_is_wrong_is_said(changed, said):
    whole = text()
    line = next(line for line in whole.splitlines() if line.startswith("collect = false"))
    with pytest.raises(ParameterError, match=said):
        parse_agreement(whole.replace(line, changed))


def test_a_section_that_is_none_is_said():
    whole = without_section(text())
    with pytest.raises(ParameterError, match=r"\[after\] must be a section; got True"):
        parse_agreement(f"after = true\n{whole}")
