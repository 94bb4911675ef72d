"""The progress of a `fit`: one printed line per round, and one for the ranking that follows the last."""

import time

from fedsieve.checks import check_count
from fedsieve.protocol import Question
from fedsieve.text import counted


class RoundLines:
    """Says what each round asked, of how many clients, and how long it took; runtimes call `asked` and `answered`.

    `verbose` is 0 or False for nothing at all, scikit-learn's habit. Lines go to standard output.
    """

    def __init__(self, owner: str, verbose: int, *, federated: bool) -> None:
        if not isinstance(verbose, bool):
            check_count(owner, "verbose", verbose, 0)
        self._owner, self._speaks, self._federated = owner, bool(verbose), federated
        self._since = time.perf_counter()

    def asked(self, question: Question) -> None:  # noqa: ARG002 (what was asked is told with its answers)
        """A question is about to be asked."""
        self._since = time.perf_counter()

    def answered(self, question: Question) -> None:
        """Its answers are here."""
        clients = f", {counted(len(question.clients), 'client')}" * self._federated
        self._say(f"round {question.round}: {question.request.title}{clients}")

    def ranked(self, n_selected: int, n_features: int) -> None:
        """The server has made its ranking of the last answers."""
        self._say(f"ranked {counted(n_features, 'feature')}, selected {n_selected}")

    def _say(self, what: str) -> None:
        now = time.perf_counter()
        if self._speaks:
            print(f"[{self._owner}] {what}, {now - self._since:.1f} s", flush=True)
        self._since = now
