"""`scores.csv`: a site's own rows, scored by the server's model; it lies beside the result and leaves no site."""

import csv
from collections.abc import Sequence
from pathlib import Path

from fedsieve.arrays import Float
from fedsieve.deployment.folders import make_private
from fedsieve.deployment.keys import PRIVATE
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.files import write_atomically

FILE = "scores.csv"
ROW = "row"  # the place of a row in the table that the site joined with, from 1 on


def write_scores(folder: Path, labels: Sequence[str], scores: Float, number: str = "") -> Path:
    """One line for each row of the site, in the order of its table; further models of a run have a number."""

    def write(path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow((ROW, *labels))
            writer.writerows((number, *map(repr, row)) for number, row in enumerate(scores.tolist(), start=1))

    file = make_private(folder) / (f"scores-{number}.csv" if number else FILE)
    write_atomically(file, write, mode=PRIVATE)
    return file


def what_stays(site: SiteFolder) -> str:
    """What a site that leaves keeps of its rows, for people."""
    scored = any(site.results.glob("*/scores*.csv"))
    return "keyed hashes (ledger/)" + " and the scores of 'label' (results/*/scores*.csv)" * scored
