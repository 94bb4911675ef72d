"""MLFRS: what it makes of planted labels, by its formula."""

from fedsieve.rivals.mlfrs import MLFRS


def order(X, Y, **parameters):
    return MLFRS(**parameters).fit(X, Y).order_.tolist()


def test_noisy_copies_of_one_label_are_on_top(rng):
    X, y = rng.random((200, 10)), rng.integers(0, 2, (200, 1))
    X[:, [1, 4, 8]] = y + 0.2 * rng.random((200, 3))
    assert set(order(X, y)[:3]) == {1, 4, 8}


def test_a_copy_of_one_of_several_labels_is_behind_noise(rng):
    """Samples with other labels may agree in this one, so alone it keeps the nearest of them no distance apart."""
    X, Y = rng.random((200, 10)), rng.integers(0, 2, (200, 3))
    X[:, [1, 4, 8]] = Y
    assert order(X, Y)[0] not in {1, 4, 8}
    X[:, [1, 4]] = rng.random((200, 2))
    assert order(X, Y, gain=1.0)[-1] == 8


def test_0_1_features_are_told_apart_only_if_one_of_them_is_enough(rng):
    X, Y = rng.integers(0, 2, (200, 20)).astype(float), rng.integers(0, 2, (200, 3))
    X[:, [2, 7, 15]] = Y
    assert order(X, Y) == list(range(20))
    assert order(X, Y[:, [1]])[0] == 7
