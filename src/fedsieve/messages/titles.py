"""Messages in words, for people who know no class."""

from fedsieve.messages.base import REPLIES, REQUESTS, Refusal
from fedsieve.text import visible


def request_for(reply: str) -> str:
    """The request that a kind of reply answers; the reply itself where there is none."""
    kind = REPLIES.get(reply)
    return next((name for name, request in REQUESTS.items() if request.reply is kind), reply)


def message_title(kind: str) -> str:
    """What a request asks for, or a reply brings.

    >>> message_title("Covariances"), message_title("AskCovariances"), message_title("Refusal")
    ('covariances of the columns', 'covariances of the columns', 'a refusal')
    """
    if kind == Refusal.__name__:
        return "a refusal"
    asked = kind if kind in REQUESTS else request_for(kind)
    return REQUESTS[asked].title if asked in REQUESTS else visible(kind)
