"""Records of an experiment about quality, drawn at random, for tests of gains and of the page."""

import numpy as np

from fedsieve.experiments.config import Contender, Experiment
from fedsieve.experiments.evaluation import Evaluation

ROWS = (
    Contender("Sieve", "Sieve"),
    Contender("random", "random"),
    Contender("RLSR", "RLSR"),
    Contender("extra-trees", "extra-trees", labels="server"),
    Contender("extra-trees", "extra-trees", labels="all"),
)
SMALL = Experiment(
    name="small",
    title="Small",
    kind="quality",
    datasets=("yeast", "design/scene"),
    contenders=ROWS,
    seeds=(0, 1, 2, 3),
    evaluations=tuple(Evaluation(c, share=s) for c in ("ML-kNN", "logistic") for s in (1.0, 0.5)),
)


def drawn(experiment, bonus=()):
    """Records of random numbers; some rows are better in everything, by so much."""
    rng, records = np.random.default_rng(0), {}
    for contender in experiment.contenders:
        more = dict(bonus).get(contender, 0.0)
        for trial in experiment.trials(contender):
            metrics = {}
            for evaluation in experiment.evaluations:
                ap, cv, rl = rng.random(3)
                metrics[evaluation.name] = {
                    "average_precision": ap + more,
                    "coverage": cv - more,
                    "ranking_loss": rl - more,
                }
            records[trial.key()] = {"metrics": metrics, "cpu_seconds": {"select": 1.0 + trial.seed}}
    return records
