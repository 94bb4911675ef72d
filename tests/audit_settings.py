"""Small settings for tests of the audit: rows with something to read, and rows of pure chance."""

import numpy as np

from fedsieve.audit import Setting
from fedsieve.audit.parties import Rows, dealt_out
from fedsieve.methods import METHODS

LABELS = ("first", "second", "third")


def grey(rng, n_rows=600, d=8):
    """Whole numbers that go together."""
    common = rng.normal(size=(n_rows, 2))
    return np.round(4 * common @ rng.normal(size=(2, d)) + 3 * rng.normal(size=(n_rows, d)))


def ink(rng, n_rows=600):
    """0/1 columns, some of them rare: in a site of some dozens a few rows have a 1 alone."""
    share = np.append(np.full(18, 0.4), np.full(10, 0.015))
    return (rng.random((n_rows, len(share))) < share).astype(float)


def parties(X, rng, n_sites=4, seed=0):
    Y = (X[:, :3] > np.median(X[:, :3], axis=0)) | (rng.random((len(X), 3)) < 0.2)
    return dealt_out(
        "made up", tuple(f"x{p}" for p in range(X.shape[1])), LABELS, Rows(X, Y.astype(float)), n_sites, seed
    )


def setting(name, rows, guard, **parameters):
    """A method by name on these parties, with robust ranges unless said otherwise."""
    of_method = METHODS[name]
    held = {"labels": LABELS} if of_method.sites_hold_labels else {}
    return Setting.of(of_method(rows.features, **{"ranges": "robust", **held, **parameters}), rows, guard)
