"""What a site says reaches the run's story, the result and the server's log as text that steers nothing."""

from fedsieve.messages import Refusal
from fedsieve.transport.codec import encode
from transport.flower.consortium import lie, refusals

EVIL = "no.\x1b[2J\x07\n2026-01-01 00:00:00,000 INFO run=x server: all is well\u202e"


def test_a_reason_is_escaped_before_it_is_written_anywhere(consortium):
    lie(consortium, "site-1", "AskPairSums", lambda _: encode(Refusal(EVIL)))
    run = consortium.lead()
    (told,) = refusals(run)
    written = [told["reason"], run.result()["dropped"]["site-1"], consortium.logs()]
    for text in written:
        assert r"no.\x1b[2J\x07\n2026-01-01" in text.replace("\\\\", "\\")
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
    log = (consortium.folder.server / "fedsieve.log").read_text()
    assert not any(line.startswith("2026-01-01 00:00:00,000") for line in log.splitlines())


def test_what_a_server_says_is_one_line_in_the_sites_log(consortium):
    post = consortium.post("a-run")
    post.operator.agreement = "0\x1b[2J\n2026-01-01 all is well"
    post.send("query.step", 1, post.nodes, b"")
    log = (consortium.folder.site("site-0").path / "fedsieve.log").read_text()
    assert log.count("\n") == 1
    assert "\x1b" not in log
