"""A site's moments as a server knows them, whichever message of SSFMLFS told them."""

from fedsieve.audit.sites import Seen, asked_for, first_of
from fedsieve.messages.moments import AskMoments, Moments
from fedsieve.messages.ranges_and_moments import AskRangesAndMoments, RangesAndMoments
from fedsieve.messages.relation import RelationRequest


def moments_told(seen: Seen) -> Moments:
    """In the run's ranges, of the columns that were compared or of all."""
    if asked_for(seen, AskMoments):
        told: Moments = first_of(seen, AskMoments)[1]
        return told
    both: RangesAndMoments = first_of(seen, AskRangesAndMoments)[1]
    asked = (request.relation for request, _ in seen if isinstance(request, RelationRequest))
    relation = next(one for one in asked if one is not None)
    return both.only(relation.columns.features).moments(relation.scaling, relation.columns.nominal_mask)
