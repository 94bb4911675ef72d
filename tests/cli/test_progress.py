"""Progress has words for every question that any method asks."""

from fedsieve.cli.progress import PHASES
from fedsieve.protocol import messages as m


def test_every_kind_of_question_has_a_phase():
    assert set(PHASES) == {kind.__name__ for kind in m.REPLY_TO}
