"""Everything that server and clients say to each other, as frozen values; each says what it reveals.

Requests are named `Ask...`; a reply has the name of what it carries, and lists the columns it is about. Summaries of
different clients add up where that has a meaning: `a + b` is the summary of both clients' rows. How a message travels,
and how many bytes that takes, is decided elsewhere.
"""

from typing import TypeAlias

from fedsieve.protocol.messages.fuzzy import (
    AskMoments,
    AskPairSums,
    AskProducts,
    AskRanges,
    AskRelations,
    Moments,
    PairSums,
    Products,
    Ranges,
    Relation,
    Relations,
)
from fedsieve.protocol.messages.labeled import (
    AskCovariances,
    AskInformation,
    AskPartialCorrelations,
    Covariances,
    Information,
    PartialCorrelations,
)
from fedsieve.protocol.messages.parts import Columns, Refusal, Scaling, column_means
from fedsieve.protocol.messages.scaled import AskProjections, AskScaledCovariances, Projections

Request: TypeAlias = (
    AskRanges
    | AskMoments
    | AskRelations
    | AskPairSums
    | AskProducts
    | AskInformation
    | AskCovariances
    | AskPartialCorrelations
    | AskScaledCovariances
    | AskProjections
)
Reply: TypeAlias = (
    Ranges
    | Moments
    | Relations
    | PairSums
    | Products
    | Information
    | Covariances
    | PartialCorrelations
    | Projections
    | Refusal
)
Message: TypeAlias = Request | Reply
MESSAGES: tuple[type[Message], ...] = (*Request.__args__, *Reply.__args__)
PARTS: tuple[type, ...] = (Columns, Scaling, Relation)
REPLY_TO: dict[type[Request], type[Reply]] = {
    AskRanges: Ranges,
    AskMoments: Moments,
    AskRelations: Relations,
    AskPairSums: PairSums,
    AskProducts: Products,
    AskInformation: Information,
    AskCovariances: Covariances,
    AskPartialCorrelations: PartialCorrelations,
    AskScaledCovariances: Covariances,
    AskProjections: Projections,
}

__all__ = [
    "MESSAGES",
    "PARTS",
    "REPLY_TO",
    "AskCovariances",
    "AskInformation",
    "AskMoments",
    "AskPairSums",
    "AskPartialCorrelations",
    "AskProducts",
    "AskProjections",
    "AskRanges",
    "AskRelations",
    "AskScaledCovariances",
    "Columns",
    "Covariances",
    "Information",
    "Message",
    "Moments",
    "PairSums",
    "PartialCorrelations",
    "Products",
    "Projections",
    "Ranges",
    "Refusal",
    "Relation",
    "Relations",
    "Reply",
    "Request",
    "Scaling",
    "column_means",
]
