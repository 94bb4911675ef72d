"""What `label` lets a server learn: counts of one model's scores, never of sets of rows that differ in a few.

Through the site's own endpoint, by the operator's signed requests.
"""

import csv
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from after_a_run import FEATURES, LABELED, LABELS, ROWS, AfterARun
from fedsieve import tables
from fedsieve.deployment import site_folder
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.stored_rows import StoredRows
from fedsieve.deployment.what_left import WhatLeft
from fedsieve.errors import ParameterError
from fedsieve.learning.label_models import label_model
from fedsieve.messages.columns import Columns
from fedsieve.messages.label_model import LabelModel
from fedsieve.messages.score_counts import AskScoreCounts, ScoreCounts, ScoreCountsTerms
from fedsieve.messages.scored import Scored
from fedsieve.methods.collecting import Collecting
from fedsieve.methods.labeling import Labeling
from fedsieve.privacy import SITE
from fedsieve.tables import ArrayTable
from fedsieve.transport.codec import encode
from policies import write_rules

RUN, LEAST = "20261117-100000-first", 5
KNOWN = {
    name: np.column_stack([X[:, 0] > 0.5, X[:, 1] > 0.4]).astype(float) for name, X in ROWS.items() if name != "siteC"
}
KNOWN["siteB"][::3] = np.nan  # two of three rows


@pytest.fixture(scope="module")
def founded(tmp_path_factory):
    made = AfterARun(tmp_path_factory.mktemp("after"), policy=SITE, after=["label"])
    for name, known in KNOWN.items():
        made.site(name).write_known_labels(known)
    return made, made.run(RUN)["selected"]


@pytest.fixture
def asked(founded, tmp_path):
    return founded[0].copy(tmp_path)


@pytest.fixture
def method(founded):
    made, selected = founded
    return labeling(made, selected)


def labeling(made, selected, kind="logistic", least=LEAST, n_neighbors=5):
    places = [FEATURES.index(name) for name in selected]
    model = label_model(kind, LABELED.X[:, places], LABELED.Y, np.zeros(len(selected), dtype=bool), n_neighbors)
    return Labeling.after(made.method, selected, LABELS, model=model, least=least)


def chosen_model(columns, edge, sharpness=1e9):
    """What no honest server learns: for all labels, on which side of an edge the first column lies."""
    n = len(columns)
    weights = np.zeros((len(LABELS), n))
    weights[:, 0] = sharpness
    plain = (np.zeros(n), np.arange(n), np.full(n, np.nan), np.zeros(n), np.ones(n))
    return LabelModel("logistic", *plain, weights=weights, intercept=np.full(len(LABELS), -sharpness * edge))


def ask(asked, site, request):
    return asked.after(RUN, site, request, "label")


def scores_csv(asked, site):
    with (asked.site(site).results / RUN / "scores.csv").open(encoding="utf-8") as file:
        return list(csv.reader(file))


def test_each_site_gets_its_scores_and_tells_the_number_of_its_rows(asked, method):
    for name, X in ROWS.items():
        reply = ask(asked, name, method.scoring())
        assert isinstance(reply, Scored)
        assert reply.n_rows == len(X)
        table = scores_csv(asked, name)
        assert table[0] == ["row", *LABELS]
        places = [FEATURES.index(column) for column in method.features]
        found = np.array(table[1:], dtype=float)
        assert_array_equal(found[:, 1:], method.model.scores(X[:, places]))
        assert found[:, 0].tolist() == list(range(1, len(X) + 1))
        file = asked.site(name).results / RUN / "scores.csv"
        assert file.stat().st_mode & 0o077 == 0


def test_sites_that_know_labels_count_and_others_send_zeros(asked, method):
    counts = {}
    for name in ROWS:
        assert isinstance(ask(asked, name, method.scoring()), Scored)
        counts[name] = ask(asked, name, method.counting())
        assert isinstance(counts[name], ScoreCounts)
    assert not counts["siteC"].counts.any()
    assert not counts["siteC"].ranked.any()
    for name, known in KNOWN.items():
        for label in range(2):
            assert counts[name].counts[label, 1].sum() == (known[:, label] == 1).sum()
            assert counts[name].counts[label, 0].sum() == (known[:, label] == 0).sum()
        assert all(count == 0 or count >= LEAST for count in counts[name].counts.ravel())
        assert all(count == 0 or count >= LEAST for count in counts[name].ranked.ravel())
    (line,) = [one for one in WhatLeft(asked.site("siteA").path).chain.entries() if one["reply"] == "ScoreCounts"]
    assert line["rule"] == "agreed on ([after] label), within policy.toml"


def test_a_second_model_is_scored_but_its_counts_stay(asked, method):
    """Two that differ in a threshold would tell the label of the row between."""
    first, second = (replace(method, model=chosen_model(method.features, edge)) for edge in (0.5, 0.501))
    for request in (first.scoring(), first.counting()):
        ask(asked, "siteA", request)
    assert isinstance(asked.send(f"{RUN}.label.1", "siteA", encode(second.scoring()), kind="after"), Scored)
    refused = asked.send(f"{RUN}.label.1", "siteA", encode(second.counting()), kind="after")
    changed = "was told another story than before: the model whose scores are counted changed."
    assert refused.reason == f"{changed} Under one agreement all runs have the same."


def test_the_same_numbers_with_another_least_or_of_other_columns_are_another_model(asked, method):
    """Cuts that one `least` leaves out another may tell; and a model of numbers alone says not of which columns."""
    changed = "was told another story than before: the model whose scores are counted changed."
    for request in (method.scoring(), method.counting()):
        ask(asked, "siteA", request)
    later, coarser = f"{RUN}.label.1", replace(method, least=LEAST + 1)
    asked.send(later, "siteA", encode(coarser.scoring()), kind="after")
    assert asked.send(later, "siteA", encode(coarser.counting()), kind="after").reason.startswith(changed)
    second = "20261117-110000-second"
    record = asked.run(second)
    others = [name for name in FEATURES if name not in method.features][:2]
    order = [*others, *(name for name in record["order"] if name not in others)]
    asked.deliver(second, "siteA", {**record, "selected": others, "order": order})
    moved = Labeling.after(asked.method, others, LABELS, model=method.model, least=LEAST)
    assert isinstance(asked.after(second, "siteA", moved.scoring(), "label"), Scored)
    assert asked.after(second, "siteA", moved.counting(), "label").startswith(changed)


@pytest.mark.parametrize("is_there", [False, True])
def test_what_is_left_sums_of_several_sets_tell_whether_a_guessed_row_is_there(is_there):
    """Sets are held apart two by two: one label counts A and B, the other one A, B and the guess together."""
    rng, guess = np.random.default_rng(0), 5.0
    X = np.append(rng.random(200), guess if is_there else 0.99)[:, None]
    table = ArrayTable(("x",), X, ("u", "v"), rng.integers(0, 2, (201, 2)).astype(float))
    at = np.array([0.125, 0.375, 0.625, 0.875, guess])  # A, between, B, the rest, the guess
    n_voting = {"u": [3, 2, 1, 0, 0], "v": [3, 0, 3, 0, 3]}  # of three equal rows at each place
    votes = np.array([[[place < n for n in one] for one in zip(*n_voting.values(), strict=True)] for place in range(3)])
    plain = (np.zeros(1), np.zeros(1, dtype=np.int64), np.full(1, np.nan), np.zeros(1), np.ones(1))
    rows = {"rows": np.tile(at, 3)[:, None], "has_label": votes.reshape(-1, 2).astype(np.int64)}
    model = LabelModel("ML-kNN", *plain, **rows, posterior=np.tile([0.0, 0.3, 0.6, 0.9], (2, 1)))
    terms = ScoreCountsTerms(Columns(("x",), (), "error"), ("u", "v"))
    request = AskScoreCounts(terms.columns, terms.labels, model, LEAST)
    terms.check(request)
    u, v = request.answer(table).counts.sum(axis=1)
    assert v[18] - u[18] - u[6] == is_there  # bins of 0.9 and 0.3
    assert "whether a row that it guessed is there" in terms.reveals()


def test_a_model_whose_numbers_overflow_is_answered_like_any_other(asked, method):
    """A refusal would tell on which side of a value of the server's choice a site's largest one lies."""
    n = len(method.features)
    weights = np.tile([1.0, -1.0], (len(LABELS), 1))
    plain = (np.zeros(n), np.zeros(2, dtype=np.int64), np.full(2, np.nan), np.zeros(2), np.full(2, 1e-310))
    model = LabelModel("logistic", *plain, weights=weights, intercept=np.zeros(len(LABELS)))
    for request in (replace(method, model=model).scoring(), replace(method, model=model).counting()):
        assert not isinstance(ask(asked, "siteA", request), str)
    assert set(np.array(scores_csv(asked, "siteA")[1:], dtype=float)[:, 1:].ravel()) == {0.5}


def test_the_same_model_again_tells_the_same(asked, method):
    ask(asked, "siteA", method.scoring())
    first = ask(asked, "siteA", method.counting())
    asked.send(f"{RUN}.label.1", "siteA", encode(method.scoring()), kind="after")
    again = asked.send(f"{RUN}.label.1", "siteA", encode(method.counting()), kind="after")
    assert_array_equal(first.counts, again.counts)


def test_rows_in_a_large_file_are_read_in_batches_and_tell_the_same(asked, founded, method, tmp_path, monkeypatch):
    large, sizes, read = founded[0].copy(tmp_path / "large"), [], StoredRows.read

    def seen(table, columns, start, stop):
        sizes.append(len(columns) * (stop - start))
        return read(table, columns, start, stop)

    monkeypatch.setattr(StoredRows, "read", seen)
    monkeypatch.setattr(tables, "STREAMED_VALUES", 60)  # of the 480 that there are
    for made, least in ((asked, site_folder.LARGE), (large, 0)):
        monkeypatch.setattr(site_folder, "LARGE", least)
        made.site("siteA").write_rows(FEATURES, ROWS["siteA"])
        ask(made, "siteA", method.scoring())
    assert_array_equal(scores_csv(large, "siteA"), scores_csv(asked, "siteA"))
    told = ask(large, "siteA", method.counting())
    assert 0 < max(sizes) <= len(ROWS["siteA"])  # a column at most
    monkeypatch.setattr(site_folder, "LARGE", 1 << 28)
    assert_array_equal(told.counts, ask(asked, "siteA", method.counting()).counts)


def test_without_the_rule_a_model_of_choice_tells_one_rows_label_and_with_it_nothing(founded):
    """The edge lies below the largest value of a column alone: one row is above, and the counts tell its label."""
    made, selected = founded
    place = FEATURES.index(selected[0])
    X = ROWS["siteA"]
    highest = np.sort(X[:, place])
    model = chosen_model(selected, (highest[-1] + highest[-2]) / 2)
    table = made.site("siteA").rows_with_labels()
    free = Labeling.after(made.method, selected, LABELS, model=model, least=0).counting().answer(table)
    row = int(np.argmax(X[:, place]))
    told = [int(np.argmax(free.counts[label, :, -1])) for label in range(2)]
    assert told == KNOWN["siteA"][row].tolist()  # read
    held = Labeling.after(made.method, selected, LABELS, model=model, least=LEAST).counting().answer(table)
    for label in range(2):
        assert (held.counts[label] > 0).sum(axis=1).tolist() == [1, 1]  # all rows in one bin


def test_counts_of_fewer_rows_than_the_policy_allows_are_refused(asked, founded):
    few = labeling(*founded, least=LEAST - 1)
    ask(asked, "siteA", few.scoring())
    said = ask(asked, "siteA", few.counting())
    assert said.startswith("was asked for counts of 4 rows and more; its policy asks for 5 (min_cell).")


def test_rows_must_be_enough_for_what_is_compared(asked, method):
    write_rules(asked.site("siteA").path, replace(SITE, rows_per_column=8))
    ask(asked, "siteA", method.scoring())
    said = ask(asked, "siteA", method.counting())
    assert "counts of scores of 8 columns" in said
    assert "(rows_per_column = 8)" in said


def test_other_columns_and_what_is_no_model_are_refused(asked, method):
    others = [name for name in FEATURES if name not in method.features][:2]
    wrong = Labeling.after(asked.method, others, LABELS, model=method.model, least=LEAST)
    for request in (wrong.scoring(), wrong.counting()):
        assert "not agreed on" in ask(asked, "siteA", request)
    broken = replace(method, model=replace(method.model, owner=np.array([0, 5])))
    assert "about columns that were not selected" in ask(asked, "siteA", broken.scoring())
    assert "before AskScored" in ask(asked, "siteA", method.counting())
    assert not (asked.site("siteA").results / RUN / "scores.csv").exists()


def test_rows_do_not_leave_by_this_name(asked, method):
    offer = Collecting.after(asked.method, method.features).terms()[0].request(method.columns)
    assert "AskRowsOffer, which was not agreed on" in ask(asked, "siteA", offer)
    assert "does not allow 'collect'" in asked.after(RUN, "siteA", offer, "collect")


def test_labels_that_changed_in_a_few_rows_are_not_counted_again(asked, method):
    ask(asked, "siteA", method.scoring())
    ask(asked, "siteA", method.counting())
    changed = KNOWN["siteA"].copy()
    changed[0, 0] = 1 - changed[0, 0]
    asked.site("siteA").write_known_labels(changed)
    later = f"{RUN}.label.1"
    reply = asked.send(later, "siteA", encode(method.scoring()), kind="after")
    assert "its rows differ from those it answered for before in 1" in reply.reason


def test_neighbors_are_the_labeled_rows_and_the_message_says_so(founded):
    neighbors = labeling(*founded, kind="mlknn")
    assert_array_equal(neighbors.model.rows.shape, (len(LABELED.X), 2))
    assert "the server's labeled rows themselves" in type(neighbors.scoring()).__doc__.replace("\n    ", " ")


def test_no_agreement_has_it_beside_noise():
    sections = {"after": ["label"], "parameters": {"epsilon": 1.0, "delta": 1e-6}}
    text = agreement_text("fed", "h:1", ["a", "b", "c"], ["x"], ["y"], keys={}, **sections)
    with pytest.raises(ParameterError, match="counts of scores have no noise"):
        parse_agreement(text)
