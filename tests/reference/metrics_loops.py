"""The multi-label metrics from their definitions, row by row and label by label.

"paper": of equal scores the higher label index ranks first; rows with no or all labels are left out, but not in
coverage. "sklearn": equal scores share the worst rank; no row is left out.
"""

from collections.abc import Sequence

Table = Sequence[Sequence[float]]


def rank(scores: Sequence[float], label: int, convention: str) -> int:
    """1 for the first label."""
    position = 1
    for other, score in enumerate(scores):
        if other == label:
            continue
        behind_equals = score == scores[label] and (convention == "sklearn" or other > label)
        if score > scores[label] or behind_equals:
            position += 1
    return position


def relevant(y: Sequence[float]) -> list[int]:
    return [label for label, on in enumerate(y) if on]


def cannot_be_wrong(y: Sequence[float]) -> bool:
    return sum(1 for on in y if on) in (0, len(y))


def average_precision(Y: Table, scores: Table, convention: str) -> float:
    terms = []
    for y, row in zip(Y, scores, strict=True):
        if cannot_be_wrong(y):
            if convention == "sklearn":
                terms.append(1.0)
            continue
        ranks = [rank(row, label, convention) for label in relevant(y)]
        precisions = [sum(1 for other in ranks if other <= mine) / mine for mine in ranks]
        terms.append(sum(precisions) / len(precisions))
    return sum(terms) / len(terms)


def coverage(Y: Table, scores: Table, convention: str) -> float:
    depths = []
    for y, row in zip(Y, scores, strict=True):
        depths.append(max((rank(row, label, convention) for label in relevant(y)), default=0))
    return sum(depths) / len(depths) - 1


def ranking_loss(Y: Table, scores: Table, convention: str) -> float:
    terms = []
    for y, row in zip(Y, scores, strict=True):
        if cannot_be_wrong(y):
            if convention == "sklearn":
                terms.append(0.0)
            continue
        pairs = [(a, b) for a in relevant(y) for b in range(len(y)) if not y[b]]
        terms.append(sum(1 for a, b in pairs if row[a] <= row[b]) / len(pairs))
    return sum(terms) / len(terms)


def one_error(Y: Table, scores: Table) -> float:
    wrong = []
    for y, row in zip(Y, scores, strict=True):
        if not cannot_be_wrong(y):
            first = next(label for label in range(len(y)) if rank(row, label, "paper") == 1)
            wrong.append(0 if y[first] else 1)
    return sum(wrong) / len(wrong)


def hamming_loss(Y: Table, predictions: Table) -> float:
    wrong = [a != b for y, row in zip(Y, predictions, strict=True) for a, b in zip(y, row, strict=True)]
    return sum(wrong) / len(wrong)


def f1(truth: Sequence[float], guess: Sequence[float]) -> float:
    both = sum(1 for a, b in zip(truth, guess, strict=True) if a and b)
    if both == 0:
        return 0.0
    precision, recall = both / sum(guess), both / sum(truth)
    return 2 * precision * recall / (precision + recall)


def micro_f1(Y: Table, predictions: Table) -> float:
    return f1([a for y in Y for a in y], [b for row in predictions for b in row])


def macro_f1(Y: Table, predictions: Table) -> float:
    columns = list(zip(zip(*Y, strict=True), zip(*predictions, strict=True), strict=True))
    return sum(f1(truth, guess) for truth, guess in columns) / len(columns)
