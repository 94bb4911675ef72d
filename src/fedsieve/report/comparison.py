"""Two methods over the same seeds, in words."""

from fedsieve.experiments.significance import HIGHER_IS_BETTER
from fedsieve.experiments.summary import Number

OURS = "SSFMLFS"  # the paper's method, which it compares with all others
VERDICTS = ("better than", "no different from", "worse than")


def compare_by_seed(ours: Number, theirs: Number, metric: str) -> str:
    """Say "better than", "worse than" or "no different from": the mean difference against its standard error."""
    shared = sorted(set(ours.by_seed) & set(theirs.by_seed))
    if len(shared) < 2:
        return "no different from"  # one seed has no error to compare with
    sign = 1 if HIGHER_IS_BETTER[metric] else -1
    differences = [sign * (ours.by_seed[seed] - theirs.by_seed[seed]) for seed in shared]
    mean = sum(differences) / len(differences)
    spread = sum((d - mean) ** 2 for d in differences) / (len(differences) - 1)
    error = (spread / len(differences)) ** 0.5
    return "no different from" if abs(mean) <= error else "better than" if mean > 0 else "worse than"
