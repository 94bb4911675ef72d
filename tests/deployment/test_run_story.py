"""Events of a run in words: one site is no sites."""

import pytest

from fedsieve.deployment.run_story import event_words


@pytest.mark.parametrize(("sites", "words"), [(["a"], "1 site"), (["a", "b"], "2 sites")])
def test_sites_are_counted(sites, words):
    asked = event_words({"event": "round", "round": 2, "kind": "AskRowsChunk", "sites": sites})
    assert asked.endswith(f", asked of {words}")
    assert event_words({"event": "delivery", "sites": sites}) == f"the result goes to {words}"
