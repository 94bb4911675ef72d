"""A site that leaves and joins again with other rows: what two answers give away by subtraction, through a real `join`.

The command checks, consents and writes down as ever; only the network is left out: the operator's signed requests are
handed to the site's own endpoint.
"""

import shutil
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from fedsieve.audit.attacks.binary_rows import rows_from_products
from fedsieve.audit.attacks.gram import Gram, gram_of
from fedsieve.audit.attacks.lone_values import lone_rows
from fedsieve.audit.score import share_of_rows
from fedsieve.deployment.agreement import parse_agreement
from fedsieve.deployment.agreement_template import agreement_text
from fedsieve.deployment.membership import create
from fedsieve.errors import ProtocolError
from fedsieve.messages import Refusal, Scaling
from fedsieve.messages.columns import DECLARED, Columns
from fedsieve.messages.covariances import AskCovariances
from fedsieve.privacy import SITE, rows_needed
from fedsieve.tables import ArrayTable
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.operator import Operator
from fedsieve.transport.site import JoinedSite
from policies import LENIENT, write_rules

SITES, ADDRESS = ["siteA", "siteB", "siteC"], "127.0.0.1:9443"
FEATURES = tuple("abcdef")
RNG = np.random.default_rng(5)
ROWS = pd.DataFrame(RNG.uniform(-3, 3, (80, len(FEATURES))), columns=list(FEATURES))
MORE = pd.DataFrame(RNG.uniform(-3, 3, (20, len(FEATURES))), columns=list(FEATURES))
LOW, HIGH = np.full(len(FEATURES), -4.0), np.full(len(FEATURES), 4.0)
REFUSED = r"differ from those it answered for before in 1; .*min_difference_rows.*join --as-of answers for the earlier"


class Site:
    """A site's folder, and an operator who asks it whenever it has joined."""

    def __init__(self, place, monkeypatch):
        ranges = dict.fromkeys(FEATURES, (-4.0, 4.0))
        text = agreement_text("fed", ADDRESS, SITES, list(FEATURES), ["y"], method="Sieve", ranges=ranges)
        self.server = create(place / "fed", text, SITES, ADDRESS)
        self.folder, self.n_runs, self.answers = self.server.site("siteA"), 0, []
        self.command = import_module("fedsieve.cli.federation.join")
        monkeypatch.setattr(self.command, "_take_part", self._answer_one_run)

    def join(self, rows, *, as_of=False):
        """What the operator is answered in a run with these rows."""
        data = self.folder.path.parent / "rows.csv"
        rows.to_csv(data, index=False)
        chosen = {"by": "", "for_runs": None, "for_days": None, "init_policy": False, "dry_run": False, "output": None}
        self.command.join(self.folder.path, data, yes=True, as_of=as_of, log_file=None, log_level="info", **chosen)
        return self.answers[-1]

    def _answer_one_run(self, site, _agreement, rows, _log, _show):
        site.write_table(rows)
        self.ask()

    def ask(self):
        self.n_runs += 1
        operator = Operator.of(self.server, f"run-{self.n_runs}")
        request = AskCovariances(self.folder.agreement().method.columns, Scaling(LOW, HIGH, DECLARED))
        sealed = operator.seal(1, "siteA", encode(request), cohort=SITES)
        reply = decode(operator.open(JoinedSite(self.folder).answer(sealed), "siteA", 1, sealed).payload)
        if isinstance(reply, Refusal):
            raise ProtocolError(reply.reason)
        self.answers.append(reply)


@pytest.fixture
def site(tmp_path, monkeypatch):
    return Site(tmp_path, monkeypatch)


def with_more(n_rows):
    return pd.concat([ROWS, MORE[:n_rows]])


def subtracted(before, after):
    """The rows by which a table grew, as one sum."""
    n_rows = after.n_rows - before.n_rows
    return (after.sums - before.sums) * (HIGH - LOW) + n_rows * (LOW + HIGH) / 2


def test_without_the_rule_one_row_more_is_given_by_subtraction(site):
    write_rules(site.folder.path)
    before, after = site.join(ROWS), site.join(with_more(1))
    assert_allclose(subtracted(before, after), MORE.iloc[0], atol=1e-9)


def test_one_row_more_is_refused_when_joining_and_as_of_answers_for_the_earlier_ones(site):
    before = site.join(ROWS)
    with pytest.raises(ProtocolError, match=REFUSED):
        site.join(with_more(1))
    assert len(site.answers) == 1
    after = site.join(with_more(1), as_of=True)
    assert after.n_rows == before.n_rows
    assert not subtracted(before, after).any()
    assert np.array_equal(before.upper, after.upper)


def test_rows_that_change_after_joining_are_refused_by_the_endpoint_itself(site, monkeypatch):
    """The rows that are answered for are hashed when a run begins, not those that `join` was shown."""
    site.join(ROWS)

    def exchange_the_rows(folder, agreement, rows, _log, _show):
        folder.write_rows(agreement.method.features, np.vstack([rows.whole(FEATURES), MORE[:1]]))
        site.ask()

    monkeypatch.setattr(site.command, "_take_part", exchange_the_rows)
    with pytest.raises(ProtocolError, match=r"before in 1; .* by subtraction\. join --as-of"):
        site.join(ROWS)


def test_one_row_exchanged_for_another_is_refused(site):
    site.join(ROWS)
    with pytest.raises(ProtocolError, match=REFUSED):
        site.join(pd.concat([ROWS[1:], MORE[:1]]))


def test_many_rows_more_in_between_do_not_help(site):
    """Of three tables, the first and the third must differ enough too."""
    site.join(ROWS)
    site.join(with_more(20))
    with pytest.raises(ProtocolError, match=REFUSED):
        site.join(with_more(1))
    with pytest.raises(ProtocolError, match=REFUSED):
        site.join(with_more(19))


def test_five_rows_more_twice_are_refused_where_second_moments_would_give_them(site, capsys):
    """Subtraction makes an answer about the new rows, which must be as many as any table's; `join` says so before."""
    site.join(ROWS)
    for n_rows in (5, 10):
        too_few = rf"before in {n_rows}; every run compares 6 columns, which need 18 or none \(rows_per_column = 3\)"
        with pytest.raises(ProtocolError, match=rf"{too_few}.*--as-of answers for the earlier"):
            site.join(with_more(n_rows))
        assert len(site.answers) == 1
    assert site.join(with_more(20)).n_rows == 100
    assert "will be refused" not in capsys.readouterr().err


def test_the_endpoint_itself_refuses_second_moments_of_a_few_changed_rows(site, monkeypatch):
    site.join(ROWS)

    def exchange_the_rows(folder, agreement, rows, _log, _show):
        folder.write_rows(agreement.method.features, np.vstack([rows.whole(FEATURES), MORE[:10]]))
        site.ask()

    monkeypatch.setattr(site.command, "_take_part", exchange_the_rows)
    too_few = r"before in 10; covariances of 6 columns need 18 or none \(rows_per_column = 3\).*--as-of"
    with pytest.raises(ProtocolError, match=too_few):
        site.join(ROWS)


def test_a_run_that_would_be_refused_in_the_middle_does_not_begin_so_that_as_of_finds_the_earlier_rows(site):
    """Its first round would make the new rows the last that were answered for, and leave no way back."""
    before = site.join(ROWS)
    with pytest.raises(ProtocolError, match="every run compares 6 columns"):
        site.join(with_more(10))
    after = site.join(with_more(10), as_of=True)
    assert np.array_equal(before.upper, after.upper)
    assert site.join(ROWS).n_rows == 80


def test_as_of_says_where_the_last_rows_cannot_be_answered_for_either(site):
    """They were answered for while the site had no such rule."""
    write_rules(site.folder.path)
    site.join(ROWS)
    site.join(with_more(10))
    (site.folder.path / "policy.toml").unlink()
    with pytest.raises(
        ProtocolError, match=r"before in 10; every run compares 6.* Wait until more rows have changed\.$"
    ):
        site.join(with_more(10), as_of=True)
    assert len(site.answers) == 2


def test_each_code_of_a_nominal_column_counts_as_one_that_is_compared():
    text = agreement_text("fed", ADDRESS, SITES, list(FEATURES), ["y"], method="Sieve", nominal=["a"], ranges="robust")
    X = ROWS.to_numpy(copy=True)
    X[:, 0] = np.arange(len(X)) % 4
    X[:2, 0] = 9  # a code that two rows have is not told
    assert rows_needed(parse_agreement(text).method, SITE, ArrayTable(FEATURES, X)) == (6 + 3, 27)


def test_too_few_rows_for_the_columns_are_told_before_consent(site, capsys):
    write_rules(site.folder.path, replace(SITE, rows_per_column=20))
    with pytest.raises(ProtocolError, match="every run compares 6 columns, which need 120 rows at one site"):
        site.join(ROWS)
    warned = " ".join(capsys.readouterr().err.split())
    assert (
        "rows.csv: has 80 rows; every run compares 6 columns, which need 120 rows at one site (rows_per_col" in warned
    )
    assert "Wait for more rows, agree on fewer columns, or on secure sums. Every run will go on without" in warned


def words(n_rows, lone=None):
    """0/1 rows; in the first column either about half of them have a 1, or one alone."""
    rows = (RNG.random((n_rows, len(FEATURES))) < 0.5).astype(float)
    if lone is not None:
        rows[:, 0] = np.arange(n_rows) == lone
    return pd.DataFrame(rows, columns=list(FEATURES))


def gram_of_new_rows(before, after):
    """What subtraction leaves, in raw units, with a column of ones before the others."""
    request = AskCovariances(Columns(FEATURES, (), "mean"), Scaling(LOW, HIGH, DECLARED))
    return Gram(FEATURES, gram_of(request, after).products - gram_of(request, before).products)


@pytest.mark.parametrize("policy", [LENIENT, SITE], ids=["without rules", "site"])
def test_all_of_five_new_rows_follow_from_two_answers_without_rules_and_none_at_a_site(site, policy):
    write_rules(site.folder.path, policy)
    old, new = words(80), words(5)
    before = site.join(old)
    if policy is SITE:
        with pytest.raises(ProtocolError, match="by subtraction"):
            site.join(pd.concat([old, new]))
    else:
        after = site.join(pd.concat([old, new]))
        assert share_of_rows(rows_from_products(gram_of_new_rows(before, after)), new.to_numpy()) == 1.0


@pytest.mark.parametrize(("policy", "share"), [(LENIENT, 1.0), (SITE, 0.0)], ids=["without rules", "site"])
def test_a_value_that_is_lone_among_the_new_rows_is_held_back(site, policy, share):
    """Among all rows many have it, and the new ones are enough for second moments."""
    write_rules(site.folder.path, policy)
    old, new = words(80), words(30, lone=7)
    gram = gram_of_new_rows(site.join(old), site.join(pd.concat([old, new])))
    found = lone_rows(gram, np.zeros((1, len(FEATURES))))
    assert share_of_rows(found, new.to_numpy()[[7]]) == share


@pytest.mark.parametrize(
    "again", [ROWS.sample(frac=1, random_state=0), ROWS[list("fdbace")]], ids=["shuffled", "columns"]
)
def test_the_same_rows_in_another_order_are_answered_and_tell_nothing(site, again):
    before, after = site.join(ROWS), site.join(again)
    assert_allclose(subtracted(before, after), 0, atol=1e-9)
    assert_allclose(before.upper, after.upper, atol=1e-9)


def test_the_same_question_in_ever_new_runs_is_answered_24_times_a_day(site, monkeypatch):
    """Leaving and joining in between changes nothing."""

    def ask_in_many_runs(folder, _agreement, rows, _log, _show):
        folder.write_table(rows)
        for _ in range(20):
            site.ask()

    monkeypatch.setattr(site.command, "_take_part", ask_in_many_runs)
    site.join(ROWS)
    with pytest.raises(ProtocolError, match=r"has answered 24 runs within a day.*\(max_runs_per_day\)"):
        site.join(ROWS)
    assert len(site.answers) == 24


def with_a_lone_row(n_rows=80):
    """All but one row have 0 in the first column: its line of any matrix of products is that row."""
    rows = pd.DataFrame(RNG.uniform(-3, 3, (n_rows, len(FEATURES))), columns=list(FEATURES))
    rows["a"] = 0.0
    rows.loc[17, "a"] = 1.0
    return rows


@pytest.mark.parametrize(("policy", "share"), [(LENIENT, 1.0), (SITE, 0.0)], ids=["without rules", "site"])
def test_what_a_power_cut_leaves_of_other_rows_does_not_decide_what_is_held_back(site, policy, share):
    """Nothing was rare among the rows before; whoever believes that of the rows now answers for a lone one."""
    write_rules(site.folder.path, policy)
    site.join(ROWS)
    answer, left = site.ask, site.folder.path.parent / "left by the power cut"

    def answer_until_the_power_is_cut():
        answer()
        shutil.copytree(site.folder.prepared, left)

    site.ask = answer_until_the_power_is_cut
    site.join(pd.DataFrame(RNG.uniform(-3, 3, (80, len(FEATURES))), columns=list(FEATURES)))
    site.ask = answer
    left.rename(site.folder.prepared)
    rows = with_a_lone_row()
    gram = gram_of(AskCovariances(Columns(FEATURES, (), "mean"), Scaling(LOW, HIGH, DECLARED)), site.join(rows))
    assert share_of_rows(lone_rows(gram, np.zeros((1, len(FEATURES)))), rows.to_numpy()[[17]]) == share
    assert not site.folder.prepared.exists()


def test_nothing_that_lay_in_prepared_before_is_there_when_a_site_answers(site):
    """Whoever put it there: an earlier `join`, or a tar that was unpacked by hand."""
    answer, planted = site.ask, site.folder.prepared / "held-back.json"
    planted.parent.mkdir()
    planted.write_text("{}")

    def answer_without_it():
        assert not planted.exists()
        answer()

    site.ask = answer_without_it
    assert site.join(ROWS).n_rows == len(ROWS)
