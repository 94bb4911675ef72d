"""Methods whose sites hold labels, over grids with real folders, keys and envelopes: what one process finds."""

import dataclasses
import stat
from itertools import count

import numpy as np
import pytest

from fedsieve import messages as m
from fedsieve.protocol import Question
from transport.flower.consortium import LABELS, changed, is_silent, lie, sabotage

METHODS = {
    "FMLFS": {"method": "FMLFS"},
    "FMLFS, other parameters": {"method": "FMLFS", "parameters": {"n_bins": 4, "weighting": "plain"}},
    "FedCMFS": {"method": "FedCMFS"},
    "FedCMFS, pooled": {"method": "FedCMFS", "parameters": {"combine": "pooled", "alpha": 0.2}},
    "FedCMFS, tests": {"method": "FedCMFS", "parameters": {"wire": "tests", "alpha": 0.3}},
}
RUN = "20260101-000000-abcdef"
NUMBERS = count(1)  # of runs
methods = pytest.mark.parametrize("sections", METHODS.values(), ids=METHODS)


@pytest.fixture
def consortium(consortium):
    """The same sites, whose first features follow labels of their own."""
    rng = np.random.default_rng(8)
    for name, X in consortium.case.clients.items():
        consortium.labels[name] = rng.integers(0, 2, (len(X), len(LABELS))).astype(float)
        X[:, 3:5] += 4 * consortium.labels[name][:, :2]
    return consortium


def plain(record):
    return {name: value for name, value in record.items() if name != "federation"}


@methods
def test_a_federations_record_is_that_of_one_process(consortium, sections):
    consortium.agree(**sections)
    run = consortium.lead()
    assert run.failure() is None
    assert plain(run.result()) == plain(consortium.expected())
    for name in consortium.case.clients:
        told = consortium.folder.site(name).results / run.id / "selection.json"
        assert told.read_bytes() == (run.path / "selection.json").read_bytes()


@methods
def test_the_record_names_the_method_its_parameters_and_what_it_found(consortium, sections):
    consortium.agree(**sections)
    record = consortium.lead().result()
    assert (record["method"], record["labels"]) == (sections["method"], LABELS)
    assert record["parameters"].items() >= {**sections.get("parameters", {}), "labels": LABELS}.items()
    more = {"FMLFS": ["apart", "front"], "FedCMFS": ["n_labels"]}[sections["method"]]
    assert record["columns"] == ["scores", "relevance", *more]
    assert all(list(record[column]) == [f"f{p}" for p in range(6)] for column in record["columns"])
    assert ("n_kept" in record) == (sections["method"] == "FedCMFS")


@pytest.mark.parametrize(
    ("case", "kind", "nth"), [("FMLFS", "Information", 1), ("FedCMFS, tests", "PartialCorrelations", 2)]
)
def test_a_run_whose_server_died_goes_on_to_the_same_bits(consortium, case, kind, nth):
    consortium.agree(**METHODS[case])
    honest = consortium.nodes["site-1"]

    def death(_message, _honest):
        raise KeyboardInterrupt

    sabotage(consortium, "site-1", f"Ask{kind}", death, nth)
    run = consortium.start()
    with pytest.raises(KeyboardInterrupt):
        consortium.lead(run)
    consortium.nodes["site-1"] = honest
    consortium.lead(run)
    assert plain(run.result()) == plain(consortium.expected())
    assert run.result()["federation"]["rounds_from_checkpoint"] == 1


@pytest.mark.parametrize(
    ("case", "kind", "fields", "said"),
    [
        ("FMLFS", "Information", {"relevance": lambda r: r.relevance + 1}, "sent information outside [0, 1] bits"),
        ("FedCMFS", "Covariances", {"sums": lambda r: r.sums + 0.01}, "sent means of labels that no 0/1 labels have."),
        ("FedCMFS, tests", "PartialCorrelations", {"values": lambda r: r.values + 2}, "sent correlations outside"),
    ],
)
def test_a_site_that_lies_is_dropped_and_the_result_is_that_of_the_others(consortium, case, kind, fields, said):
    consortium.agree(**METHODS[case])
    lie(consortium, "site-1", f"Ask{kind}", changed(**fields))
    record, expected = consortium.lead().result(), consortium.expected(without=("site-1",))
    assert record["dropped"]["site-1"].startswith(said)
    assert (record["scores"], record["order"]) == (expected["scores"], expected["order"])


def test_a_site_that_falls_silent_is_dropped(consortium):
    consortium.agree(**METHODS["FMLFS"])
    sabotage(consortium, "site-2", "AskInformation", is_silent)
    record = consortium.lead().result()
    assert list(record["dropped"]) == ["site-2"]
    assert record["scores"] == consortium.expected(without=("site-2",))["scores"]


def test_labels_are_kept_for_their_owner_s_eyes_only(consortium):
    consortium.agree(**METHODS["FMLFS"])
    file = consortium.folder.site("site-0").prepared / "labels.npy"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    np.testing.assert_array_equal(np.load(file), consortium.labels["site-0"])


def test_a_site_whose_labels_are_gone_is_dropped(consortium):
    consortium.agree(**METHODS["FedCMFS"])
    (consortium.folder.site("site-1").prepared / "labels.npy").unlink()
    assert list(consortium.lead().result()["dropped"]) == ["site-1"]


def test_under_a_method_that_needs_no_labels_a_site_s_labels_are_not_even_read(consortium):
    consortium.agree()
    (consortium.folder.site("site-1").prepared / "labels.npy").write_bytes(b"nothing")
    assert consortium.lead().result()["dropped"] == {}


def answers(consortium, *requests):
    """What sites say to the last of these, asked in turn in a run of their own; of a refusal the reason."""
    post = consortium.post(f"{RUN}.{next(NUMBERS)}")
    for number, request in enumerate(requests, 1):
        asked = post.ask(Question(number, tuple(consortium.case.clients), request))
    return {answer.reply.reason if isinstance(answer.reply, m.Refusal) else "" for answer in asked.values()}


@pytest.fixture
def asked(consortium):
    """What an honest server of FMLFS asks."""
    consortium.agree(**METHODS["FMLFS"])
    return m.AskInformation(consortium.plan.columns, tuple(LABELS), m.Scaling(np.full(6, -99.0), np.full(6, 99.0)), 3)


def test_what_was_agreed_on_is_answered(consortium, asked):
    assert answers(consortium, m.AskRanges(asked.columns), asked) == {""}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"labels": ("y0", "diagnosis")}, "was asked for other labels than agreed, or in another order."),
        ({"n_bins": 50}, "was asked for 50 bins; agreed: 3."),
        (
            {"scaling": m.Scaling(np.full(6, 0.5), np.full(6, 99.0))},
            "was sent ranges that do not hold its own values; federated ranges hold those of all.",
        ),
        (
            {"scaling": m.Scaling(None, None)},
            "was asked to scale its columns by other ranges than agreed: 'federated' ones, or not as declared; "
            "agreed: 'federated'.",
        ),
    ],
    ids=["labels", "bins", "ranges", "no ranges"],
)
def test_what_was_not_agreed_on_is_refused_though_the_operator_signed_it(consortium, asked, change, said):
    assert answers(consortium, m.AskRanges(asked.columns), dataclasses.replace(asked, **change)) == {said}


def test_another_method_s_question_is_refused_though_the_operator_signed_it(consortium, asked):
    (said,) = answers(consortium, m.AskCovariances(asked.columns, asked.scaling, asked.labels))
    assert said == "was asked AskCovariances, which was not agreed on; agreed: AskRanges, AskInformation."


def test_a_site_does_not_answer_about_ever_new_bins(consortium):
    consortium.agree(method="FMLFS")
    columns = consortium.plan.columns
    low, high = (np.full(6, end) for end in (-1e3, 1e3))
    post = consortium.post(RUN)
    post.ask(Question(1, ("site-1",), m.AskRanges(columns)))
    replies = []
    for wider in range(4):
        request = m.AskInformation(columns, tuple(LABELS), m.Scaling(low - wider, high), 3)
        replies.append(post.ask(Question(2, ("site-1",), request))["site-1"].reply)
    assert [type(reply) for reply in replies] == [m.Information] + [m.Refusal] * 3
    assert {reply.reason for reply in replies[1:]} == {
        "was asked AskInformation more often than a run of the method does."
    }
    again = m.AskInformation(columns, tuple(LABELS), m.Scaling(low, high), 3)
    assert isinstance(post.ask(Question(2, ("site-1",), again))["site-1"].reply, m.Information)
