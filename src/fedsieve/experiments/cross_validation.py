"""Is a selection worth it on my labeled rows? Repeated cross-validation in which each fold selects anew."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fedsieve.arrays import Float, Int
from fedsieve.catalog import ALL_FEATURES, RANDOM
from fedsieve.checks import check_count, check_unique, plain
from fedsieve.datasets import partition
from fedsieve.errors import DataError, ParameterError, SiteShiftWarning, not_one_of, shown
from fedsieve.experiments.assessment import OF_PREDICTIONS, OWN, Assessment
from fedsieve.experiments.classifiers import CLASSIFIERS, USUAL, Classifier
from fedsieve.experiments.evaluation import MEASURES, any_classifier, label_scores, learned
from fedsieve.experiments.labeled_rows import ClassifierInput, LabeledRows, read_labeled_rows
from fedsieve.experiments.rankers import (
    OWNER,
    Ranked,
    fitted,
    given,
    instance,
    is_given,
    name_of,
    others,
    sees_no_clients,
)
from fedsieve.selectors import LoadedSelection
from fedsieve.text import counted

CONTROLS = (RANDOM, ALL_FEATURES)  # beside every selection
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
SAME_ROWS = (
    "The order was given, not found anew in each fold: the rows that it was found on may be the same as these, and "
    "then it looks better than it is. To judge the method, let it select in every fold."
)
NO_CLIENTS = "{}: its clients hold labels, and these have none, so that it selected from the labeled rows alone."
Tell = Callable[[int, int], None]
"""Hears how many folds are done, of how many."""


def evaluate(
    selector: Any,
    X: Any,
    Y: Any,
    clients: Any = None,
    *,
    sizes: Sequence[int] | None = None,
    against: Any = (),
    classifiers: Any = USUAL,
    n_folds: int = 5,
    n_repeats: int = 3,
    n_draws: int = 5,
    random_state: int = 0,
    verbose: int = 0,
) -> Assessment:
    """Judge a selector, or an order, on labeled rows that it has not seen.

    The labeled rows are dealt out to folds with every label as frequent in each. In each fold the selector is fitted
    anew on the other folds (with all `clients`, or the unlabeled rows of X), classifiers learn from its best features
    on the same rows, and are measured on the fold: average precision, coverage, ranking loss and micro F1, beside all
    features, random ones and the methods in `against`.

    Parameters
    ----------
    selector : a selector, fitted or not, or an order
        An order is a list of features, best first, by name or index, or what `load_selection` returns. It is judged as
        it is; fewer features than all are a selection, of all the default number is.
    X, Y, clients : as in `fit`
        Rows of Y that are all -1 are unlabeled; no fold tests them. Single labels must be known.
    sizes : sequence of int, the numbers of features to try besides the selector's own; by default six shares of all
    against : names of methods in `fedsieve.registry()`, or a dict of selectors by name
    classifiers : sequence of "ML-kNN", "logistic" and scikit-learn classifiers, or a dict of these by name
        They see columns scaled to [0, 1] by the training rows, codes as 0/1 columns, missing values as the mean.
    n_folds, n_repeats, n_draws : int
        How many folds, how often rows are dealt out anew, and how many random orders each fold is compared with.
    random_state : int
    verbose : int, 1 prints a line per fold

    Examples
    --------
    >>> import numpy as np
    >>> import fedsieve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((120, 12))
    >>> Y = np.column_stack([X[:, 3] > 0.5, X[:, 3] + X[:, 6] > 1, X[:, 6] > 0.7])
    >>> found = fedsieve.evaluate(fedsieve.Sieve(2), X, Y, sizes=[4], n_folds=3, n_repeats=2)
    >>> print(found.verdict[-1])
    Worth it: better than as many random features, and not worse than all features.
    >>> found.chosen["x3"]
    1.0
    """
    loaded = selector.record_["parameters"] if isinstance(selector, LoadedSelection) else {}
    nominal, dates = (getattr(selector, key, loaded.get(key, ())) for key in ("nominal", "dates"))
    rows = read_labeled_rows(OWNER, X, Y, clients, nominal, dates)

    def tell(done: int, of: int) -> None:
        if verbose:
            print(f"[evaluate] fold {done} of {of}")

    return assess(
        selector,
        rows,
        sizes=sizes,
        against=against,
        classifiers=classifiers,
        n_folds=n_folds,
        n_repeats=n_repeats,
        n_draws=n_draws,
        seed=random_state,
        tell=tell,
    )


def assess(
    selector: Any,
    rows: LabeledRows,
    *,
    sizes: Sequence[int] | None = None,
    against: Any = (),
    classifiers: Any = USUAL,
    n_folds: int = 5,
    n_repeats: int = 3,
    n_draws: int = 5,
    seed: int = 0,
    tell: Tell = lambda _done, _of: None,
) -> Assessment:
    """The same for rows that were read before."""
    n_features, labeled = len(rows.usable), np.flatnonzero(rows.labeled)
    check_count(OWNER, "n_folds", n_folds, 2, len(labeled), "labeled rows=")
    check_count(OWNER, "n_repeats", n_repeats)
    check_count(OWNER, "n_draws", n_draws)
    check_count(OWNER, "random_state", seed, 0)
    judges = _classifiers(classifiers)
    main = given(selector, rows.names) if is_given(instance(selector)) else fitted(selector)
    name, compared = name_of(selector), others(against, seed)
    if name in CONTROLS:
        raise ParameterError(f"{OWNER}: {name!r} is what a selection is compared with anyway; judge another method.")
    for taken in (name, *CONTROLS):
        if taken in compared:
            way_out = "Give it a name of its own: against={'name': selector}."
            raise ParameterError(f"{OWNER}: against has a second {taken!r}. {way_out}")
    rankers = {name: main, **{other: fitted(one) for other, one in compared.items()}}
    notes = [SAME_ROWS] if is_given(selector) else []
    notes += [NO_CLIENTS.format(n) for n, one in {name: selector, **compared}.items() if sees_no_clients(one, rows)]
    tried = _sizes(sizes, n_features)
    values: list[dict[str, Any]] = []
    times_chosen = np.zeros(len(rows.names))
    with _each_warning_once():
        for repeat in range(n_repeats):
            folds = partition.stratified_folds(rows.Y[labeled], n_folds, [seed, repeat])
            for number, fold in enumerate(folds):
                train, test = np.delete(labeled, fold), labeled[fold]
                orders = {other: [rank(rows, train)] for other, rank in rankers.items()}
                orders[RANDOM] = [
                    Ranked(np.random.default_rng([seed, repeat, number, draw]).permutation(rows.usable), 0)
                    for draw in range(n_draws)
                ]
                own = orders[name][0]
                times_chosen[own.order[: own.n_selected]] += 1
                at = {"repeat": repeat, "fold": number}
                fold_sizes = sorted({*tried, own.n_selected})
                values += _measured(rows, train, test, orders, fold_sizes, own.n_selected, judges, at)
                tell(repeat * n_folds + number + 1, n_repeats * n_folds)
    reached = {row["n_features"] for row in values if row["method"] == name}
    shares = times_chosen / (n_folds * n_repeats)
    return Assessment(
        method=name,
        others=(*CONTROLS, *compared),
        classifiers=tuple(judges),
        sizes=tuple(size for size in tried if size in reached),
        n_features=n_features,
        n_rows=len(labeled),
        n_labels=rows.Y.shape[1],
        n_folds=n_folds,
        n_repeats=n_repeats,
        rows=tuple(values),
        chosen=dict(zip(rows.names, shares.tolist(), strict=True)),
        notes=tuple(notes),
    )


def _measured(
    rows: LabeledRows,
    train: Int,
    test: Int,
    orders: Mapping[str, Sequence[Ranked]],
    sizes: Sequence[int],
    own: int,
    judges: Mapping[str, Classifier],
    at: dict[str, int],
) -> Iterator[dict[str, Any]]:
    """A dict per classifier, method and number of features; several orders of one method are averaged."""
    seen = ClassifierInput(rows, train)
    everything = [Ranked(rows.usable, 0)]
    for title, classifier in judges.items():
        for method, found in {**orders, ALL_FEATURES: everything}.items():
            for size in [len(rows.usable)] if method == ALL_FEATURES else sizes:
                if size > len(found[0].order):  # of an order that was given in part
                    continue
                columns = [seen.columns(ranked.order[:size]) for ranked in found]
                scores = np.mean([_values(classifier, seen.table[:, c], rows.Y, train, test) for c in columns], axis=0)
                told = dict(zip((*MEASURES, *OF_PREDICTIONS), scores.tolist(), strict=True))
                yield {**at, "method": method, "classifier": title, "n_features": size, OWN: size == own, **told}


def _values(classifier: Classifier, table: Float, Y: Int, train: Int, test: Int) -> list[float]:
    try:
        model = learned(classifier, table[train], Y[train])
    except ParameterError as error:  # ML-kNN needs more rows than neighbors
        way_out = "In more folds each learns from more rows; or choose other classifiers."
        n_rows = counted(len(train), "row")
        raise ParameterError(f"{OWNER}: {n_rows} to learn from are too few: {error} {way_out}") from None
    scores, predictions = label_scores(model, table[test]), np.asarray(model.predict(table[test]))
    try:
        ranked = [metric(Y[test], scores) for metric in MEASURES.values()]
    except DataError as error:
        n_rows = counted(len(test), "row")
        raise DataError(f"{OWNER}: a fold of {n_rows} is too small: {error} Take fewer folds.") from None
    return [*ranked, *(metric(Y[test], predictions) for metric in OF_PREDICTIONS.values())]


def _sizes(sizes: Any, n_features: int) -> list[int]:
    if sizes is None:
        return sorted({max(1, round(share * n_features)) for share in SHARES})
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise ParameterError(f"{OWNER}: sizes must be a list of numbers of features; got {shown(sizes)}.")
    for size in sizes:
        check_count(OWNER, "each of sizes", size, 1, n_features, "n_features=")
    return sorted({int(size) for size in plain(list(sizes))})


def _classifiers(classifiers: Any) -> dict[str, Classifier]:
    """Classifiers by name, of our own or scikit-learn's."""
    if isinstance(classifiers, str) or not isinstance(classifiers, Iterable):
        raise ParameterError(f"{OWNER}: classifiers must be a list or a dict by name; got {shown(classifiers)}.")
    if isinstance(classifiers, Mapping):
        named = {str(name): entry for name, entry in classifiers.items()}
    else:
        entries = list(classifiers)
        names = [entry if isinstance(entry, str) else type(entry).__name__ for entry in entries]
        check_unique(OWNER, "classifiers must have different names", names, "Give a dict, by a name for each.")
        named = dict(zip(names, entries, strict=True))
    if not named:
        raise ParameterError(f"{OWNER}: needs a classifier; there are {', '.join(map(repr, CLASSIFIERS))}.")
    found = {}
    for name, entry in named.items():
        if isinstance(entry, str) and entry not in CLASSIFIERS:
            raise not_one_of(OWNER, "a classifier", CLASSIFIERS, entry)
        found[name] = CLASSIFIERS[entry] if isinstance(entry, str) else any_classifier(OWNER, entry)
    return found


@contextmanager
def _each_warning_once() -> Iterator[None]:
    """What the folds warn of, each thing once, when all are done; units of sites are for `fit` to warn of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", SiteShiftWarning)
        yield
    for words, kind in dict.fromkeys((str(warning.message), warning.category) for warning in caught):
        warnings.warn(words, kind, stacklevel=4)
