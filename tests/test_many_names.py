"""Checks of names take time in proportion to the number of names: forty thousand columns are no attack."""

import gc
import time

import numpy as np
import pandas as pd
import pyarrow
import pytest

from fedsieve.categories import named_like_an_id
from fedsieve.cli import tables as cli_tables
from fedsieve.datasets.columns import feature_columns, label_columns, unique_name
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.messages.columns import Columns, Scaling
from fedsieve.messages.moments import AskMoments, MomentsTerms
from fedsieve.messages.reply_rules import names_rule
from fedsieve.methods import SSFMLFSMethod
from fedsieve.selectors.inputs import read_clients

FEW, MANY = 2_500, 20_000
MOST = 24  # times the time of an eighth of the names; it is 8 in theory, and 64 where each is compared with all


def names(n):
    return [f"feature-{i:06d}" for i in range(n)]


def columns(n):
    return Columns(tuple(names(n)), tuple(names(n)[::2]), "error")


def agreement_of(n):
    declared = dict.fromkeys(names(n)[1::2], (0.0, 1.0))
    labels = [f"label-{i:06d}" for i in range(n)]
    text = agreement_text(
        "fed", "h:1", ["a", "b"], names(n), labels, nominal=names(n)[::2], method="SSFMLFS", ranges=declared
    )
    return lambda: parse_agreement(text)


def method_of(n):
    declared = dict.fromkeys(names(n)[1::2], (0.0, 1.0))
    return lambda: SSFMLFSMethod(tuple(names(n)), nominal=tuple(names(n)[::2]), ranges=declared)


def terms_of(n):
    scaling = Scaling(np.zeros(n), np.ones(n), "declared")
    terms, request = MomentsTerms(columns(n), "declared", scaling), AskMoments(columns(n), scaling)
    return lambda: terms.check(request)


def mask_of(n):
    some = columns(n)
    return lambda: some.nominal_mask


def refusal_of(n):
    return lambda: list(names_rule(tuple(reversed(names(n))), tuple(names(n))))


def clients_of(n):
    frame = pd.DataFrame(np.zeros((2, n)), columns=list(reversed(names(n))))
    return lambda: read_clients({"a": frame}, names(n), named=True)


def labels_of(n):
    return lambda: feature_columns(names(n), label_columns(names(n)[::2], names(n)), names(n)[1::4], "table")


def numbered(n):
    used = {}
    return lambda: [unique_name("same", used) for _ in range(n)]


def common_of(n):
    table = pyarrow.table([[1.0]] * n, names=names(n))
    return lambda: cli_tables._common(names(n), [], {"a": table, "b": table}, {}, False, named_like_an_id)


@pytest.mark.parametrize(
    "work",
    [agreement_of, method_of, terms_of, mask_of, refusal_of, clients_of, labels_of, numbered, common_of],
)
def test_eight_times_the_names_take_about_eight_times_the_time(work):
    def spent(n):
        do = work(n)
        gc.disable()  # it looks at all that other tests left in memory
        try:
            start = time.process_time()  # no other process counts
            do()
            return time.process_time() - start
        finally:
            gc.enable()

    most = MOST * max(min(spent(FEW) for _ in range(3)), 0.05)
    assert any(spent(MANY) < most for _ in range(5))  # once is enough: others make it slower, never faster


def test_one_long_name_does_not_make_all_names_long():
    """As an array of text, these would take 8 GB."""
    features = ("x" * 100_000, *names(MANY))
    assert Columns(features, ("x" * 100_000,), "error").nominal_mask.sum() == 1
