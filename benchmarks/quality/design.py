"""What was fixed beforehand: datasets, seeds, and by which key a run is known."""

from benchmarks.quality.contenders import SERVER, Contender

DATASETS = ("emotions", "yeast", "cal500", "enron", "corel5k")
SEEDS = tuple(range(100, 110))  # fixed before the first of them was looked at; the design used 0 to 23
OURS = Contender("Sieve", SERVER)


def key(dataset: str, seed: int, contender: Contender) -> str:
    """By which a run is known."""
    options = "".join(f" {name}={value}" for name, value in contender.parameters)
    return f"{dataset}/{seed}/{contender.labels}/{contender.name}{options}"
