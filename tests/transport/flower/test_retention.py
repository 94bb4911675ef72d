"""All sites' replies lie at the server no longer than a run needs them."""

import pytest

from fedsieve.deployment.runs import RunFolder
from transport.flower.consortium import sabotage
from transport.flower.test_leading import DiesBeforeDelivery


def test_at_the_end_of_a_run_the_replies_are_gone_and_the_result_is_there(consortium):
    run = consortium.lead()
    assert run.result()["scores"] == consortium.expected()["scores"]
    assert not run.replies.exists()
    assert run.events()[-1]["event"] == "finished"


def test_replies_are_kept_on_purpose(consortium):
    run = consortium.start()
    run.keep_replies()
    consortium.lead(run)
    assert len(list(run.replies.iterdir())) == 2


def test_the_result_is_delivered_before_the_replies_are_deleted(consortium, monkeypatch):
    run, seen = consortium.start(), []
    real = RunFolder.end_replies

    def look(self):
        results = [(consortium.folder.site(name).results / run.id).exists() for name in consortium.case.clients]
        seen.append((run.result() is not None, all(results), self.replies.is_dir()))
        real(self)

    monkeypatch.setattr(RunFolder, "end_replies", look)
    consortium.lead(run)
    assert seen == [(True, True, True)]


def test_a_run_that_failed_or_died_keeps_its_replies(consortium):
    def death(_message, _honest):
        raise KeyboardInterrupt

    run = consortium.start()
    sabotage(consortium, "site-1", "AskPairSums", death)
    with pytest.raises(KeyboardInterrupt):
        consortium.lead(run)
    assert len(list(run.replies.iterdir())) == 1
    failed = consortium.start()
    sabotage(consortium, "site-0", "AskPairSums", lambda _message, _honest: None)
    sabotage(consortium, "site-1", "AskPairSums", lambda _message, _honest: None)
    consortium.lead(failed)
    assert failed.failure() is not None
    assert failed.replies.is_dir()


def test_a_finished_run_that_is_led_again_asks_nobody_for_anything(consortium):
    run = consortium.lead()
    before, n_events = run.result(), len(run.events())
    consortium.lead(run)
    assert run.result() == before
    told = [event["event"] for event in run.events()[n_events:]]
    assert "round" not in told
    assert "finished" in told


def test_a_run_that_died_before_delivery_still_has_its_replies(consortium):
    run = consortium.start()
    with pytest.raises(KeyboardInterrupt):
        consortium.lead(run, consortium.grid(DiesBeforeDelivery))
    assert run.replies.is_dir()
    consortium.lead(run)
    assert not run.replies.exists()
