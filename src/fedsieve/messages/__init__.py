"""Everything that server and clients say to each other: one file per message, all of them declared by importing this.

Requests are named `Ask...`; a reply has the name of what it carries.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from fedsieve.messages.base import REPLIES, REQUESTS, Known, Refusal, Reply, Request, Terms
from fedsieve.messages.columns import PARTS, Columns, Scaling
from fedsieve.messages.site_view import Memory
from fedsieve.messages.titles import message_title, request_for

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "PARTS",
    "REPLIES",
    "REQUESTS",
    "Columns",
    "Known",
    "Memory",
    "Refusal",
    "Reply",
    "Request",
    "Scaling",
    "Terms",
    "message_title",
    "request_for",
]


def __getattr__(name: str) -> Any:
    for declared in (REQUESTS, REPLIES, PARTS):
        if name in declared:
            return declared[name]
    raise AttributeError(f"module 'fedsieve.messages' has no attribute {name!r}")
