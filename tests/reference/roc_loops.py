"""Areas and shares under a ROC curve, pair by pair and threshold by threshold."""


def area_by_pairs(of_members, of_others):
    won = sum(1.0 if a > b else 0.5 if a == b else 0.0 for a in of_members for b in of_others)
    return won / (len(of_members) * len(of_others))


def most_found(rate, of_members, of_others):
    """The largest share of members above any threshold with at most this share of the others above it."""
    best = 0.0
    for threshold in [*of_members, *of_others, float("-inf")]:
        false = sum(score > threshold for score in of_others) / len(of_others)
        if false <= rate + 1e-12:
            best = max(best, sum(score > threshold for score in of_members) / len(of_members))
    return best
