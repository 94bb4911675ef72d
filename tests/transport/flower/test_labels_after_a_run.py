"""What `label` does after a run, by the real apps on a grid in this process: scores at the sites, metrics of all."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fedsieve.deployment.runs import FOUND, RunFolder
from fedsieve.errors import ProtocolError
from fedsieve.learning import metrics
from fedsieve.learning.label_models import label_model
from fedsieve.selection_file import selection_text, write_selection_json
from fedsieve.transport import follow_up
from transport.flower.consortium import LABELS
from transport.flower.following import QUICK, collect, label

SECURE = {"min_rows": 10, "secure": True, "min_cell": 0, "rows_per_column": 0}


class Died(BaseException):
    """The server's process."""


def with_labels(consortium, *names):
    rng, known = np.random.default_rng(4), {}
    for name in names:
        X = consortium.case.clients[name]
        Y = rng.integers(0, 2, (len(X), len(LABELS))).astype(float)
        consortium.folder.site(name).write_known_labels(Y)
        known[name] = Y
    return known


def scores_at(consortium, name, file="scores.csv"):
    file = consortium.folder.site(name).results / consortium.run.id / file
    with file.open(encoding="utf-8") as stream:
        return np.array(list(csv.reader(stream))[1:], dtype=float)[:, 1:]


def model_of(consortium, kind, n_neighbors=3):
    selected = consortium.run.result()["selected"]
    places = [consortium.case.features.index(name) for name in selected]
    X, Y = consortium.case.X[:, places], consortium.case.Y.astype(float)
    return label_model(kind, X, Y, np.zeros(len(selected), dtype=bool), n_neighbors), places


@pytest.mark.parametrize("kind", ["mlknn", "logistic"])
@pytest.mark.parametrize("privacy", [{"min_rows": 10}, SECURE], ids=["plain", "secure"])
def test_scores_at_the_sites_and_metrics_of_all_are_those_of_one_process(after, kind, privacy):
    allowed = ["label"] if privacy is SECURE else ["collect", "label"]
    after.agree("Sieve", parameters=QUICK, ranges="robust", after=allowed, privacy=privacy)
    known = with_labels(after, "site-0", "site-1")
    after.run = after.lead()
    assert after.run.failure() is None
    found = label(after, model=kind)
    model, places = model_of(after, kind)
    scores = {name: model.scores(X[:, places]) for name, X in after.case.clients.items()}
    for name in after.nodes:
        assert_array_equal(scores_at(after, name), scores[name])
    assert found["rows"] == sum(map(len, scores.values()))
    assert (found["not_scored"], found["not_counted"]) == ({}, {})
    truth, given = (np.vstack([some[name] for name in known]) for some in (known, scores))
    for place, name in enumerate(LABELS):
        assert found["metrics"]["labels"][name]["n_with"] == truth[:, place].sum()
    low, high = found["metrics"]["ranked"][0]
    assert low <= metrics.average_precision(truth, given) <= high + 1e-12
    assert high - low == pytest.approx(1 / 50)


def test_a_site_without_labels_or_that_refuses_holds_up_nobody(after, capsys):
    (after.folder.site("site-2").path / "policy.toml").write_text("min_rows = 'many'", encoding="utf-8")
    found = label(after)
    assert list(found["not_scored"]) == ["site-2"]
    assert found["metrics"] == {}
    captured = capsys.readouterr()
    assert "your labeled rows: all" in " ".join(captured.err.split())
    assert "No site knows labels" in " ".join(captured.out.split())


def test_the_operator_is_asked_before_labeled_rows_go_to_the_sites(after):
    with pytest.raises(ProtocolError, match="the model was not sent: nobody is there to ask"):
        label(after, yes=False)
    assert not (after.folder.server / "after").exists()


def test_a_second_model_is_scored_by_all_and_counted_by_none(after, capsys):
    with_labels(after, "site-0", "site-1")
    assert label(after)["metrics"]
    second = label(after, model="logistic", force=True)
    assert second["metrics"] == {}
    assert set(second["not_counted"]) == set(after.nodes)
    said = " ".join(capsys.readouterr().out.split())
    assert "No counts came, so that nothing is known" in said
    assert "No site knows labels" not in said
    assert scores_at(after, "site-2", "scores-1.csv") == pytest.approx(
        model_of(after, "logistic")[0].scores(after.case.clients["site-2"][:, model_of(after, "logistic")[1]])
    )


def test_a_label_whose_server_died_goes_on_and_leaves_no_replies(after, monkeypatch):
    with_labels(after, "site-0")

    def dies(*_):
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(follow_up, "metrics_of", dies)
        with pytest.raises(Died):
            label(after)
    this = RunFolder(after.folder.server / "after" / f"{after.run.id}.label")
    assert not (this.path / FOUND).exists()
    after.lead(this)
    assert this.aside(FOUND, {"metrics": dict})["metrics"]
    assert not this.replies.exists()


def test_scores_of_a_second_model_leave_those_of_the_first_as_they_are(after):
    label(after, model="mlknn")
    first = {name: scores_at(after, name) for name in after.nodes}
    label(after, model="logistic", force=True)
    model, places = model_of(after, "logistic")
    for name, X in after.case.clients.items():
        assert_array_equal(scores_at(after, name), first[name])
        assert_array_equal(scores_at(after, name, "scores-1.csv"), model.scores(X[:, places]))


def test_nothing_follows_a_run_that_selected_nothing(after):
    text = selection_text({**after.run.result(), "selected": []})
    write_selection_json(text, after.run.path)
    for command in (collect, label):
        with pytest.raises(ProtocolError, match=rf"run {after.run.id} selected no feature, so that nothing can follow"):
            command(after)
