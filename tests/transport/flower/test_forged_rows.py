"""Rows on their way to the server, by somebody who signs, keeps or cuts what is not theirs: no file comes of it."""

from dataclasses import replace

import pytest
from flwr.app import Message

from fedsieve.cli.federation.status import status
from fedsieve.deployment.keys import new_key
from fedsieve.transport.flower.contents import unwrap, wrap
from transport.flower.consortium import forge, sabotage
from transport.flower.following import approve, collect

CHUNK, AFTER = "AskRowsChunk", "query.after"


@pytest.fixture
def chunks(after, monkeypatch):
    """All sites consented, to rows in several chunks."""
    monkeypatch.setattr("fedsieve.methods.collecting.CHUNK_BYTES", 5 * 3 * 8)
    approve(after, *after.nodes)
    return after


def bytes_changed(consortium, site, change):
    """Let a site change the sealed bytes of its replies, which it cannot sign anew."""

    def act(message, honest):
        return Message(wrap(change(unwrap(honest(message)))), reply_to=message)

    sabotage(consortium, site, CHUNK, act, kind_of=AFTER)


def kept_from(consortium, site, nth):
    """What a site's n-th reply with rows was, once it was sent."""
    kept = []

    def act(message, honest):
        reply = honest(message)
        kept.append(unwrap(reply))
        return reply

    sabotage(consortium, site, CHUNK, act, kind_of=AFTER)
    return lambda: kept[nth]


def refused(consortium, capsys):
    """Why there are no rows of site-1; those of the others are there, and none of it is kept as rows."""
    place = collect(consortium)
    assert sorted(path.name for path in place.glob("*.parquet")) == ["site-0.parquet", "site-2.parquet"]
    return " ".join(capsys.readouterr().err.split())


def test_rows_that_another_key_signed(chunks, capsys):
    forge(chunks, "site-1", CHUNK, lambda genuine: genuine, key=new_key(), kind_of=AFTER)
    assert "the signature is not that of 'site-1'" in refused(chunks, capsys)


def test_rows_of_another_site_under_its_own_name_or_that_ones(chunks, capsys):
    of_another = kept_from(chunks, "site-0", 0)
    bytes_changed(chunks, "site-1", lambda _own: of_another())
    assert "signed as 'site-0', but its key is registered for 'site-1'" in refused(chunks, capsys)


@pytest.mark.parametrize("name", ["../site-0", "/etc/passwd", "site-0"])
def test_rows_under_a_name_that_is_not_the_senders(chunks, capsys, name):
    forge(chunks, "site-1", CHUNK, lambda genuine: replace(genuine, sender=name), kind_of=AFTER)
    words = refused(chunks, capsys)
    assert f"signed as '{name}', for whom no key is registered" in words or f"not that of '{name}'" in words
    assert not list(chunks.folder.path.rglob("passwd*"))


def test_a_chunk_that_was_sent_before(chunks, capsys):
    """The same signed bytes once more, instead of the next rows."""
    first = []

    def again(own):
        first.append(own)
        return first[0]

    bytes_changed(chunks, "site-1", again)
    assert "an old message sent again" in refused(chunks, capsys)


def test_the_same_rows_once_more_signed_anew(chunks, capsys):
    """A genuine reply to this request that repeats what answered the first."""
    first = []

    def again(genuine):
        first.append(genuine.payload)
        return replace(genuine, payload=first[0])

    forge(chunks, "site-1", CHUNK, again, kind_of=AFTER)
    assert "sent rows from number 0 on; asked for were those from 5 on" in refused(chunks, capsys)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda own: own[:-9], "the content does not match what was signed"),
        (lambda own: own[:40], "the envelope is cut"),
        (lambda _own: b"", "no envelope"),
        (lambda own: own + b"one more row", "the content does not match what was signed"),
    ],
    ids=["cut", "cut in its header", "nothing", "longer"],
)
def test_a_stream_that_is_cut_or_longer(chunks, capsys, change, said):
    bytes_changed(chunks, "site-1", change)
    assert said in refused(chunks, capsys)


def test_after_the_forgery_an_honest_site_goes_on_where_it_was(chunks, capsys):
    honest = dict(chunks.nodes)
    bytes_changed(chunks, "site-1", lambda own: own[:-9])
    refused(chunks, capsys)
    status(chunks.folder.path)
    said = " ".join(capsys.readouterr().out.split())
    assert "no rows: sent a reply that is refused" in said
    chunks.nodes.update(honest)
    assert len(list(collect(chunks).glob("*.parquet"))) == 3
