"""The gain over random features, to the letter of its definition, one metric after another."""

import math

HIGHER = {"average_precision": True, "coverage": False, "ranking_loss": False}


def gain(values, method, random, ours, share=None):
    """The mean over metrics of G; `values[method][seed][share][metric]`, without a share the mean of all."""

    def mean(name, metric):
        of_seeds = []
        for by_share in values[name].values():
            shares = list(by_share) if share is None else [share]
            of_seeds.append(sum(by_share[s][metric] for s in shares) / len(shares))
        average = sum(of_seeds) / len(of_seeds)
        return average if HIGHER[metric] else -average

    found = []
    for metric in HIGHER:
        best = max(mean(name, metric) for name in values if name != ours) - mean(random, metric)
        if best > 0:
            g = (mean(method, metric) - mean(random, metric)) / best
            found.append(min(max(g, -2.0), 2.0))
    return sum(found) / len(found) if found else math.nan


def error(by_dataset, method, random, ours, share=None):
    """The jackknife error of the mean gain: a seed is left out of all classifiers of a dataset at once, since all of
    them see the same splits; datasets are independent. `by_dataset[dataset][classifier]` has values as above."""
    variances, n_parts = 0.0, 0
    for by_classifier in by_dataset.values():
        n_parts += len(by_classifier)
        seeds = {seed for values in by_classifier.values() for seed in values[method]}
        sums = []
        for left_out in seeds:
            total = 0.0
            for values in by_classifier.values():
                others = {name: {s: v for s, v in of.items() if s != left_out} for name, of in values.items()}
                total += gain(others, method, random, ours, share)
            sums.append(total)
        mean = sum(sums) / len(sums)
        variances += (len(sums) - 1) / len(sums) * sum((value - mean) ** 2 for value in sums)
    return math.sqrt(variances) / n_parts


def cells_below(values, method, random):
    """Cells (share, metric) in which a method is below random features by more than a standard error over the seeds."""
    seeds = list(values[method])
    shares = list(values[method][seeds[0]])
    below = 0
    for share in shares:
        for metric, higher in HIGHER.items():
            sign = 1 if higher else -1
            differences = [sign * (values[method][s][share][metric] - values[random][s][share][metric]) for s in seeds]
            mean = sum(differences) / len(seeds)
            variance = sum((d - mean) ** 2 for d in differences) / (len(seeds) - 1)
            below += mean < -math.sqrt(variance / len(seeds))
    return below, len(shares) * len(HIGHER)
