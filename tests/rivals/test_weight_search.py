"""The search for weights: its grid, folds, ties and errors, and that the methods use it on labeled rows only."""

from itertools import product

import numpy as np
import pytest

from fedsieve.errors import DataError
from fedsieve.learning.metrics import ranking_loss
from fedsieve.rivals import CSFS, SFAM, SFSS
from fedsieve.rivals.semi_supervised import GRID, chosen_weights


@pytest.fixture
def rows(rng):
    Y = np.eye(4)[rng.integers(0, 4, 13)]
    return rng.random((13, 3)), Y


def refuse(*_):
    raise AssertionError("nothing is to be predicted")


def test_numbers_stay_and_nothing_is_predicted(rows):
    assert chosen_weights("A", {"mu": 3, "gamma": 0.5}, *rows, refuse) == {"mu": 3.0, "gamma": 0.5}
    assert chosen_weights("A", {"mu": 3}, rows[0][:1], rows[1][:1], refuse) == {"mu": 3.0}


@pytest.mark.parametrize("best", list(product(GRID, GRID)))
def test_the_least_loss_wins(rows, best):
    """Scores are the labels plus more noise the farther the weights are from the best ones."""
    noise = np.random.default_rng(0).normal(size=rows[1].shape)

    def predict(_X, Y, _labeled, weights):
        distance = sum(abs(np.log(weights[name] / value)) for name, value in zip(("mu", "gamma"), best, strict=True))
        return Y + distance * noise

    weights = {"mu": "auto", "nu": 7.0, "gamma": "auto"}
    assert chosen_weights("A", weights, *rows, predict) == {"mu": best[0], "nu": 7.0, "gamma": best[1]}


def test_equal_losses_go_to_the_first_combination_tried(rows):
    tried = []

    def predict(_X, Y, _labeled, weights):
        tried.append(tuple(weights.values()))
        return Y + (np.random.default_rng(0).normal(size=Y.shape) if weights["mu"] == 1 else 0.0)

    assert chosen_weights("A", {"mu": "auto", "gamma": "auto"}, *rows, predict) == {"mu": 0.01, "gamma": 1.0}
    assert tried[::3] == list(product(GRID, GRID))


def test_every_third_row_is_hidden_in_turn(rows):
    hidden = []

    def predict(X, Y, labeled, _weights):
        assert X is rows[0]
        hidden.append(np.flatnonzero(~labeled).tolist())
        return Y

    chosen_weights("A", {"mu": "auto"}, *rows, predict)
    assert hidden == 3 * [[0, 3, 6, 9, 12], [1, 4, 7, 10], [2, 5, 8, 11]]


def test_too_few_labeled_rows(rows):
    X, Y = rows
    message = r'^A: mu, gamma="auto" needs at least 6 labeled rows; got 5\. Give numbers\.$'
    with pytest.raises(DataError, match=message):
        chosen_weights("A", {"mu": "auto", "gamma": "auto"}, X[:5], Y[:5], refuse)


def test_six_labeled_rows_are_enough(rows):
    X, Y = rows
    assert chosen_weights("A", {"mu": "auto"}, X[:6], Y[:6], lambda _X, Y, _labeled, _weights: Y) == {"mu": 1.0}


def test_folds_in_which_no_ranking_can_be_wrong(rows):
    X, Y = rows[0], rows[1].copy()
    Y[1::3] = 1.0
    with pytest.raises(DataError, match=r'^A: mu="auto" needs rows with some but not all labels in each of 3 folds'):
        chosen_weights("A", {"mu": "auto"}, X, Y, refuse)


@pytest.fixture
def partly(rng):
    Y = rng.integers(0, 2, (60, 3))
    Y[:, 0] = 1 - Y[:, 1]
    X = np.hstack([rng.random((60, 5)), Y + rng.normal(size=Y.shape)])
    known = Y.copy()
    known[rng.permutation(60)[:36]] = -1
    return X, known


def test_a_method_finds_its_weights_on_its_labeled_rows(partly):
    X, known = partly
    fitted = CSFS(alpha="auto").fit(X, known)
    labeled = known[:, 0] >= 0
    X, known = X[labeled], known[labeled]
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    losses = []
    for alpha in GRID:
        of_fold = []
        for fold in range(3):
            hidden = np.arange(len(X)) % 3 == fold
            model = CSFS(alpha=alpha).fit(X, np.where(hidden[:, None], -1, known))
            scores = (scaled - scaled.mean(axis=0)) @ model.coef_ + model.intercept_
            of_fold.append(ranking_loss(known[hidden], scores[hidden]))
        losses.append(np.mean(of_fold))
    assert len(set(losses)) == 3
    assert fitted.weights_ == {"alpha": GRID[int(np.argmin(losses))]}


@pytest.mark.parametrize("method", [SFSS(mu="auto", gamma="auto"), SFAM(alpha="auto", gamma="auto")])
def test_the_fit_is_that_of_the_weights_found(partly, method):
    fitted = method.fit(*partly)
    again = type(method)(**fitted.weights_).fit(*partly)
    assert fitted.weights_ == again.weights_
    assert fitted.scores_.tolist() == again.scores_.tolist()


def test_the_error_names_the_method(partly):
    X, known = partly
    few = np.flatnonzero(known[:, 0] >= 0)[5:]
    known[few] = -1
    with pytest.raises(DataError, match=r'^SFSS: gamma="auto" needs at least 6 labeled rows; got 5\.'):
        SFSS(gamma="auto").fit(X, known)
