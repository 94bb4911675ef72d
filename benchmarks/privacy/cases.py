"""One honest run, one attack on one of its sites, and the share of the site's rows that it reads: for every message.

Each case draws a table of n rows and d columns, runs the method with it as one of three sites, and hands the attack
nothing but that site's replies. Where the site's policy refuses, the run's own error comes out.
"""

from dataclasses import replace

import numpy as np

from fedsieve.arrays import Float
from fedsieve.audit.attacks.binary_rows import rows_from_products
from fedsieve.audit.attacks.bounded_rows import rows_within_extremes
from fedsieve.audit.attacks.few_rows import few_rows
from fedsieve.audit.attacks.gram import gram_of
from fedsieve.audit.attacks.information import gram_of_information
from fedsieve.audit.attacks.lone_values import disagreeing_rows, distinct, lone_rows
from fedsieve.audit.attacks.pair_sums import gram_of_pair_sums
from fedsieve.audit.attacks.patterns import certain_rows
from fedsieve.audit.attacks.products import gram_of_products
from fedsieve.audit.attacks.projections import weighted_lone_rows
from fedsieve.audit.attacks.told_moments import moments_told
from fedsieve.audit.score import share_of_rows
from fedsieve.audit.sites import Seen, first_of, honest_run
from fedsieve.messages.covariances import AskCovariances
from fedsieve.messages.information import AskInformation
from fedsieve.messages.pair_sums import AskPairSums
from fedsieve.messages.products import AskProducts
from fedsieve.messages.projections import AskProjections
from fedsieve.messages.ranges import AskRanges
from fedsieve.messages.ranges_and_moments import AskRangesAndMoments
from fedsieve.methods import FedCMFSMethod, FMLFSMethod, SieveMethod, SSFMLFSMethod
from fedsieve.privacy import Policy
from fedsieve.protocol import Labeled, Method
from fedsieve.tables import ArrayTable

N_OTHERS, N_LABELED = 100, 60  # rows of the other site, and of the server
LABELS = ("first", "second", "third")
QUICK = {"n_trees": 5, "n_bootstraps": 0}  # what Sieve does with the answers plays no part here


def binary_table(n: int, d: int, rng: np.random.Generator, share: tuple[float, float] = (0.3, 0.7)) -> Float:
    """0/1 columns, each with its own share of ones."""
    return (rng.random((n, d)) < rng.uniform(*share, d)).astype(float)


def covariances_of_lone(n: int, d: int, policy: Policy, seed: int = 0, value: float = 1.0) -> float:
    """Sieve: one row of n holds the first column's only 1, or other count. The share is of this one row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 0], row = 0.0, int(rng.integers(n))
    X[row, 0] = value
    seen = _run(SieveMethod(features=_names(d), **QUICK), X, policy, rng)
    request, reply = first_of(seen, AskCovariances)
    ends = np.array([request.scaling.low, request.scaling.high])
    return share_of_rows(lone_rows(gram_of(request, reply), ends), X[[row]])


def covariances_of_lone_count(n: int, d: int, policy: Policy, seed: int = 0) -> float:
    """Sieve: in one row of n the first column, a count, is not 0."""
    return covariances_of_lone(n, d, policy, seed, value=37.0)


def covariances_of_lone_code(n: int, d: int, policy: Policy, seed: int = 0) -> float:
    """Sieve: one row of n has the third code of the first column. The share is of this one row, in encoded columns."""
    rng = np.random.default_rng(seed)
    X, row = rng.normal(size=(n, d)), int(rng.integers(n))
    X[:, 0] = rng.integers(0, 2, n)
    X[row, 0] = 2.0
    names = _names(d)
    seen = _run(SieveMethod(features=names, nominal=names[:1], **QUICK), X, policy, rng)
    gram = gram_of(*first_of(seen, AskCovariances))
    encoded = np.hstack([X[:, :1] == np.arange(3), X[:, 1:]])
    return share_of_rows(lone_rows(gram, np.zeros((1, len(gram.names)))), encoded[[row]])


def covariances_of_disagreement(n: int, d: int, policy: Policy, seed: int = 0) -> float:
    """Sieve: the first two columns differ in one row of n. The share is of this one row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 0], row = rng.random(n) < 0.5, int(rng.integers(n))
    X[:, 1] = X[:, 0]
    X[row, 1] = 1 - X[row, 0]
    seen = _run(SieveMethod(features=_names(d), **QUICK), X, policy, rng)
    return share_of_rows(disagreeing_rows(gram_of(*first_of(seen, AskCovariances))), X[[row]])


def covariances_of_lone_label(n: int, d: int, policy: Policy, seed: int = 0) -> float:
    """FedCMFS: one row of n holds a label. The share is of this one row, with its labels."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), binary_table(n, len(LABELS), rng)
    Y[:, 0], row = 0.0, int(rng.integers(n))
    Y[row, 0] = 1.0
    method = FedCMFSMethod(features=_names(d), labels=LABELS, combine="pooled", max_conditioning=0)
    seen = _run(method, X, policy, rng, Y)
    gram = gram_of(*first_of(seen, AskCovariances))
    return share_of_rows(lone_rows(gram, np.zeros((1, d + len(LABELS)))), np.hstack([X, Y])[[row]])


def covariances_of_disagreeing_labels(n: int, d: int, policy: Policy, seed: int = 0) -> float:
    """FedCMFS: two labels differ in one row of n. The share is of this one row, with its labels."""
    rng = np.random.default_rng(seed)
    X, Y, row = rng.normal(size=(n, d)), binary_table(n, len(LABELS), rng), int(rng.integers(n))
    Y[:, 1] = Y[:, 0]
    Y[row, 1] = 1 - Y[row, 0]
    method = FedCMFSMethod(features=_names(d), labels=LABELS, combine="pooled", max_conditioning=0)
    gram = gram_of(*first_of(_run(method, X, policy, rng, Y), AskCovariances))
    return share_of_rows(disagreeing_rows(gram), np.hstack([X, Y])[[row]])


def covariances_of_binary(n: int, d: int, policy: Policy, seed: int = 0, n_shuffles: int = 0) -> float:
    """Sieve: all rows of 0/1 columns, by lattice reduction."""
    rng = np.random.default_rng(seed)
    X = binary_table(n, d, rng)
    seen = _run(SieveMethod(features=_names(d), **QUICK), X, policy, rng)
    return share_of_rows(rows_from_products(gram_of(*first_of(seen, AskCovariances)), n_shuffles), X)


def covariances_of_continuous(n: int, d: int, policy: Policy, seed: int = 0) -> float:
    """Sieve: all rows of continuous columns, with the help of the exact ranges."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    seen = _run(SieveMethod(features=_names(d), ranges="federated", **QUICK), X, policy, rng, with_extremes=True)
    ranges = first_of(seen, AskRanges)[1]
    gram = gram_of(*first_of(seen, AskCovariances))
    return share_of_rows(rows_within_extremes(gram, ranges.low, ranges.high), X)


def pair_sums_of_binary(n: int, d: int, policy: Policy, seed: int = 0) -> float:
    """SSFMLFS, statistics: all rows of 0/1 columns."""
    rng = np.random.default_rng(seed)
    X = binary_table(n, d, rng)
    seen = _run(SSFMLFSMethod(features=_names(d), wire="statistics"), X, policy, rng)
    reply = first_of(seen, AskPairSums)[1]
    gram = gram_of_pair_sums(moments_told(seen), reply)
    return share_of_rows(rows_from_products(gram), X[:, _places(reply.features)])


def pair_sums_of_continuous(n: int, d: int, policy: Policy, seed: int = 0) -> float:
    """SSFMLFS, statistics, in a wide radius: all rows of continuous columns, with the help of ranges and moments."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    seen = _run(SSFMLFSMethod(features=_names(d), wire="statistics", lam=0.4), X, policy, rng, with_extremes=True)
    ranges = first_of(seen, AskRangesAndMoments)[1].ranges
    return share_of_rows(few_rows(ranges, moments_told(seen), *first_of(seen, AskPairSums)), X)


def products_of_binary(n: int, d: int, policy: Policy, seed: int = 0) -> float:
    """SSFMLFS, vectors: the share of the pairs of 0/1 columns whose count of common ones is read."""
    rng = np.random.default_rng(seed)
    X = binary_table(n, d, rng)
    seen = _run(SSFMLFSMethod(features=_names(d), wire="vectors"), X, policy, rng)
    rounds = [(request.vector, reply.values) for request, reply in seen if isinstance(request, AskProducts)]
    vectors, products = (np.array(part) for part in zip(*rounds, strict=True))
    features = first_of(seen, AskProducts)[0].relation.columns.features
    gram = gram_of_products(moments_told(seen), features, vectors, products)
    X = X[:, _places(features)]
    pairs = np.triu_indices(X.shape[1], 1)
    return float(np.mean(gram.products[1:, 1:][pairs] == (X.T @ X)[pairs]))


def information_of_binary(n: int, d: int, policy: Policy, seed: int = 0) -> float:
    """FMLFS: all rows of 0/1 columns, each turned to be 1 in most rows, which the server guesses from its own."""
    rng = np.random.default_rng(seed)
    X, Y = binary_table(n, d, rng), binary_table(n, len(LABELS), rng)
    seen = _run(FMLFSMethod(features=_names(d), labels=LABELS), X, policy, rng, Y)
    gram = gram_of_information(first_of(seen, AskInformation)[1])
    turned = np.where(2 * X.sum(axis=0) >= n, X, 1 - X)
    return 0.0 if gram is None else share_of_rows(rows_from_products(gram), turned)


def projections_of_lone(n: int, d: int, policy: Policy, seed: int = 0) -> float:
    """Sieve, wide: one row of n holds the first column's only 1. The share is of this row's weighted sums."""
    rng = np.random.default_rng(seed)
    X, row = binary_table(n, d, rng), int(rng.integers(n))
    X[:, 0] = 0.0
    X[row, 0] = 1.0
    method = SieveMethod(features=_names(d), screen=d // 2, n_features_to_select=d // 4, **QUICK)
    request, reply = first_of(_run(method, X, policy, rng), AskProjections)
    weighted, lone = weighted_lone_rows(request, reply)
    return share_of_rows(weighted[lone == 0], (X[[row]] @ request.weights))


def certain_rows_of(n: int, d: int, policy: Policy, seed: int = 0) -> float:
    """Sieve: the share of 0/1 rows that every table with the same covariances holds."""
    rng = np.random.default_rng(seed)
    X = binary_table(n, d, rng)
    gram = gram_of(*first_of(_run(SieveMethod(features=_names(d), **QUICK), X, policy, rng), AskCovariances))
    return share_of_rows(certain_rows(np.round(gram.products), X), X)


def lone_values_of(X: Float, policy: Policy) -> float:
    """Sieve: the share of a real 0/1 table's rows that lone values and disagreements of two columns give away."""
    method = SieveMethod(features=_names(X.shape[1]), **QUICK)
    request, reply = first_of(_run(method, X, policy, np.random.default_rng(0)), AskCovariances)
    gram = gram_of(request, reply)
    ends = np.array([request.scaling.low, request.scaling.high])
    return share_of_rows(distinct(np.vstack([lone_rows(gram, ends), disagreeing_rows(gram)])), X)


def _names(d: int) -> tuple[str, ...]:
    return tuple(f"column {i}" for i in range(d))


def _places(names: tuple[str, ...]) -> list[int]:
    """Which columns take part: constant ones do not."""
    return [int(name.split()[1]) for name in names]


def _run(
    method: Method,
    X: Float,
    policy: Policy,
    rng: np.random.Generator,
    Y: Float | None = None,
    *,
    with_extremes: bool = False,
) -> Seen:
    """An honest run with this table as one of three sites; the server and the other sites hold rows of the same kind.

    Where a policy does not let exact extremes leave, they are declared, so that the attack lacks nothing.
    """

    def likewise(table: Float, n: int) -> Float:
        rows = np.column_stack([rng.choice(column, n) for column in table.T])
        rows[:2] = table.min(axis=0), table.max(axis=0)
        return rows

    labels = LABELS if Y is not None else ()
    tables = {"site": ArrayTable(method.features, X, labels, Y)}
    for name in ("other", "third"):
        Y_other = binary_table(N_OTHERS, len(LABELS), rng) if labels else None
        tables[name] = ArrayTable(method.features, likewise(X, N_OTHERS), labels, Y_other)
    labeled = Labeled(likewise(X, N_LABELED), binary_table(N_LABELED, len(LABELS), rng))
    if not policy.allow_exact_ranges and not with_extremes:
        ends = zip(X.min(axis=0).tolist(), X.max(axis=0).tolist(), strict=True)
        method = replace(method, ranges=dict(zip(method.features, ends, strict=True)))
    return honest_run(method, labeled, tables, policy, "site")
