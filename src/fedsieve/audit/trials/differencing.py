"""Differencing of two runs: a table that grew by one row gives this row away by subtraction."""

import tempfile
from pathlib import Path

import numpy as np

from fedsieve.audit.attacks.subtraction import row_by_subtraction
from fedsieve.audit.attacks.usual_values import usual_row
from fedsieve.audit.curves import share_with_interval
from fedsieve.audit.finding import Finding
from fedsieve.audit.score import share_of_values
from fedsieve.audit.setting import Setting
from fedsieve.audit.sites import Overheard, RememberingState
from fedsieve.transport.site_state import TransientState

ASKED = "Which row joined the site between two runs, from the difference of what was told?"
N_ROWS = 5  # that join, one at a time


def difference_of_two_runs(setting: Setting) -> Finding:
    """The share of a new row's values that follow; of a row that is nowhere, and as the server would guess them."""
    parties = setting.parties
    what = ("differencing", ASKED, "of the new row's values")
    own = setting.columns_of(parties.server)
    guesses, truths, told = [], [], Overheard()
    for number in range(min(N_ROWS, len(parties.members) - 2)):
        before, told = _two_runs(setting, number)
        row = row_by_subtraction(before.seen, told.seen, own)
        if row is None:
            refused = told.ended or before.ended
            return setting.finding(
                *what, refused=refused, note="" if refused else "our attack reads none of the messages"
            )
        guesses.append(row)
        truths.append(setting.columns_of(parties.members)[number])
    guess, truth = np.array(guesses), np.array(truths)
    others = setting.columns_of(parties.outside)[: len(truth)]
    return setting.finding(
        *what,
        read=share_with_interval(share_of_values(guess, truth), truth.size),
        control=share_of_values(others, truth[: len(others)]),
        server_alone=share_of_values(np.tile(usual_row(own), (len(truth), 1)), truth),
        refused=told.ended,
    )


def _two_runs(setting: Setting, number: int) -> tuple[Overheard, Overheard]:
    """A run without one row of the site, and one with it, at a site whose ledger remembers."""
    members = setting.parties.members
    without = setting.parties.with_site(members.only(np.delete(np.arange(len(members)), number)))
    attacked = setting.parties.attacked
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        state = RememberingState(ledger, setting.policy) if setting.policy.keeps_story else TransientState()
        found = []
        for run, parties in (("first", without), ("second", setting.parties)):
            states: dict[str, TransientState] = {name: TransientState() for name in parties.sites}
            states[attacked] = state
            if isinstance(state, RememberingState):
                state.table = parties.tables(setting.method)[attacked]
            found.append(setting.run(parties, states, run))
    return found[0], found[1]
