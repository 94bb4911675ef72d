"""Sums of products from whatever a server was told: covariances say them openly, pair sums and information in disguise.

Pair sums and information give away 0/1 columns only; the server knows from its own rows which these are.
"""

from dataclasses import dataclass, replace

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.audit.attacks.gram import Gram, gram_of
from fedsieve.audit.attacks.information import gram_of_information
from fedsieve.audit.attacks.pair_sums import gram_of_pair_sums
from fedsieve.audit.attacks.told_moments import moments_told
from fedsieve.audit.sites import Seen, asked_for, first_of
from fedsieve.messages.columns import square
from fedsieve.messages.covariances import AskCovariances
from fedsieve.messages.information import AskInformation, Information
from fedsieve.messages.pair_sums import AskPairSums, PairSums

LEAST_COLUMNS = 4  # 0/1 columns, below which nothing can be read
MOST_ROWS = 150  # up to which all possible entropies of counts are tried


@dataclass(frozen=True, eq=False)
class KnownMoments:
    """The sums of products that a server knows, and of which of its columns (labels last)."""

    gram: Gram
    columns: Int
    turned: bool = False  # whether columns are 1 in most rows, whatever they were


def known_moments(seen: Seen, own: Float, names: tuple[str, ...]) -> KnownMoments | str:
    """Sums of products from all that was seen; or, in words, why there are none. `own` are the server's rows."""
    if asked_for(seen, AskCovariances):
        told = gram_of(*first_of(seen, AskCovariances))
        kept = [place for place, name in enumerate(told.names) if name in names]  # codes have columns of their own
        lines = [0, *(place + 1 for place in kept)]
        gram = Gram(tuple(told.names[place] for place in kept), told.products[np.ix_(lines, lines)])
        return KnownMoments(gram, np.array([names.index(name) for name in gram.names]))
    binary = [name for name, column in zip(names, own.T, strict=True) if np.isin(column, (0.0, 1.0)).all()]
    if asked_for(seen, AskPairSums):
        reply = _only_pair_sums(first_of(seen, AskPairSums)[1], binary)
        if len(reply.features) < LEAST_COLUMNS:
            return "pair sums give rows of 0/1 columns only, and there are none"
        gram = gram_of_pair_sums(moments_told(seen), reply)
        return KnownMoments(gram, np.array([names.index(name) for name in reply.features]))
    if asked_for(seen, AskInformation):
        information = _only_information(first_of(seen, AskInformation)[1], binary)
        if len(information.features) < LEAST_COLUMNS:
            return "information gives rows of 0/1 columns only, and there are none"
        if information.n_rows > MOST_ROWS:
            return f"counts of more than {MOST_ROWS} rows are too many to try"
        counted = gram_of_information(information)
        if counted is None:
            return "entropies left some counts open"
        return KnownMoments(counted, np.array([names.index(name) for name in information.features]), turned=True)
    return "our attacks read rows from none of the messages"


def _only_pair_sums(reply: PairSums, names: list[str]) -> PairSums:
    kept = [place for place, name in enumerate(reply.features) if name in set(names)]
    matrix = reply.matrix()[np.ix_(kept, kept)]
    return PairSums.of(reply.n_rows, tuple(reply.features[place] for place in kept), matrix)


def _only_information(reply: Information, names: list[str]) -> Information:
    kept = [place for place, name in enumerate(reply.features) if name in set(names)]
    apart = square(reply.apart, len(reply.features), 1)[np.ix_(kept, kept)]
    upper = apart[np.triu_indices(len(kept), 1)]
    features = tuple(reply.features[place] for place in kept)
    return replace(reply, features=features, relevance=reply.relevance[kept], apart=upper)
