"""Our bytes inside Flower's messages."""

from flwr.app import ConfigRecord, Message, RecordDict

from fedsieve.errors import CodecError
from fedsieve.transport import envelope

RECORD, FIELD = "fedsieve", "envelope"
QUERY = "query."  # of the engine's kinds of messages the one that asks
KINDS = (envelope.STEP, envelope.RESULT, envelope.HELLO, envelope.AFTER)
STEP, RESULT, HELLO, AFTER = (QUERY + kind for kind in KINDS)


def wrap(data: bytes) -> RecordDict:
    """The content of a message that carries these bytes and nothing else."""
    return RecordDict({RECORD: ConfigRecord({FIELD: data})})


def unwrap(message: Message) -> bytes:
    """The bytes that a message carries; refuses any other content."""
    content = message.content
    records = list(content.config_records) if content is not None else []
    if records != [RECORD] or len(content) != 1 or list(content.config_records[RECORD]) != [FIELD]:
        raise CodecError("a message of another app than ours.")
    data = content.config_records[RECORD][FIELD]
    if not isinstance(data, bytes):
        raise CodecError(f"a message whose content is {type(data).__name__}, no bytes.")
    return data
