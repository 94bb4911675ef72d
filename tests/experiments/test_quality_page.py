"""`docs/selection-quality.md` says what the records say, and mean ranks are what they are called."""

import numpy as np
import pytest
from benchmarks.quality import page
from benchmarks.quality.contenders import ALL, NONE, SERVER, TOO_SLOW, Contender, contenders
from benchmarks.quality.design import DATASETS, OURS, SEEDS, key
from benchmarks.quality.running import RECORDS

from fedsieve import registry


def drawn(better=None):
    """Records in which one contender is better than all others in everything, by a little noise."""
    rng = np.random.default_rng(0)
    records = {}
    for dataset in DATASETS:
        for seed in SEEDS:
            for contender in contenders():
                bonus = 1.0 if contender == better else 0.0
                ap, cv, rl = rng.random(3)
                values = [ap + bonus, cv - bonus, rl - bonus]
                records[key(dataset, seed, contender)] = {
                    "metrics": {"ML-kNN": values, "logistic": values},
                    "seconds": 1.0,
                }
    return records


def test_the_page_shows_the_records():
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.with_tables(text, RECORDS.read()) == text


def test_every_method_is_compared_and_sees_what_it_may_see():
    seen = {(contender.name, contender.labels) for contender in contenders()}
    for entry in registry().values():
        expected = {"none": {NONE}, "semi-supervised": {SERVER}, "supervised": {SERVER, ALL}}[entry.supervision]
        expected = expected - {ALL} if entry.name in TOO_SLOW else expected
        assert {labels for name, labels in seen if name == entry.name} == expected


@pytest.mark.parametrize("best", [OURS, Contender("MGFS", ALL), Contender("random", NONE)])
def test_what_is_best_in_everything_has_rank_one(best):
    ranks = page.Results(drawn(best), "logistic").mean_ranks((best.labels,))
    assert next(iter(ranks.items())) == (best, 1.0)
    n_ranked = sum(contender.labels == best.labels for contender in contenders())
    assert np.mean(list(ranks.values())) == pytest.approx((n_ranked + 1) / 2)


def test_a_target_is_reached_by_more_than_one_standard_error():
    text = "\n".join(page._against_random(page.Results(drawn(OURS), "ML-kNN")))
    assert text.count("| yes |") == len(DATASETS) * 3
    text = "\n".join(page._against_random(page.Results(drawn(page.CONTROLS["random"]), "ML-kNN")))
    assert text.count("| no |") == len(DATASETS) * 3
