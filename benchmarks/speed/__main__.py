"""Run the speed benchmarks, say what got worse since the committed run, and keep the new one: `make bench`.

Ratios are against a peer in the same run, best of several, by the clock.
"""

from pathlib import Path

from benchmarks.committed import Comparison
from benchmarks.speed import learning, pair_sums, sieve, whole_selection
from fedsieve.kernels import warm_up

RESULTS = Path(__file__).with_name("results")
TOPICS = {"pair_sums": pair_sums, "whole_selection": whole_selection, "learning": learning, "sieve": sieve}


def main() -> None:
    warm_up()
    comparison = Comparison()
    for name, topic in TOPICS.items():
        comparison.add(name, topic.rows(), RESULTS / f"{name}.json")
    comparison.conclude()


if __name__ == "__main__":
    main()
