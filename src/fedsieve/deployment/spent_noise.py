"""What a site's noisy answers have cost of its rows' privacy: all of them, over runs, agreements and restarts.

A line is added before noise is drawn, so that no answer leaves that is not counted. An answer that is sent again, the
same bytes, tells nothing new and costs nothing; noise that is drawn again does.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsieve.checks import is_number
from fedsieve.deployment.answered_rows import DAMAGED
from fedsieve.deployment.folders import make_private, write_json
from fedsieve.deployment.keys import PRIVATE
from fedsieve.errors import DataError, ProtocolError
from fedsieve.files import held_file
from fedsieve.privacy import Policy
from fedsieve.privacy.noise import epsilon_spent
from fedsieve.reading import read_json

FILE = "noise.json"


@dataclass(frozen=True)
class SpentNoise:
    """The part of a site's ledger that is about noise."""

    path: Path

    def spend(
        self, run: str, agreement: str, request: str, multiplier: float, policy: Policy, now: float | None = None
    ) -> None:
        """Enter one answer; raises `ProtocolError` where all of them would cost more than the policy allows."""
        make_private(self.path)
        with held_file(self.path / "lock"):
            answers = self.answers()
            entry = {
                "run": run,
                "time": time.time() if now is None else now,
                "agreement": agreement,
                "request": request,
                "noise_multiplier": multiplier,
            }
            if policy.max_epsilon:
                spent, cost = self.epsilon(policy), _epsilon([*answers, entry], policy)
                if cost > policy.max_epsilon:
                    raise ProtocolError(
                        f"has spent epsilon {spent:.2f} of {policy.max_epsilon:g} (max_epsilon, at delta "
                        f"{policy.max_delta:g}); with this answer it would be {cost:.2f}. Agree on a smaller epsilon, "
                        "or raise max_epsilon in policy.toml and give that up."
                    )
            write_json(self.path / FILE, {"answers": [*answers, entry]}, mode=PRIVATE)

    def answers(self) -> list[dict[str, Any]]:
        """The answers that were counted, the oldest first."""
        file = self.path / FILE
        if not file.is_file():
            return []
        content = read_json(file, way_out=DAMAGED)
        answers = content.get("answers") if isinstance(content, dict) else None
        if not isinstance(answers, list) or not all(_is_answer(answer) for answer in answers):
            raise DataError(f"{file}: is no part of a ledger. {DAMAGED}")
        return answers

    def epsilon(self, policy: Policy) -> float:
        """What they cost together, at the policy's delta."""
        return _epsilon(self.answers(), policy)

    def words(self, policy: Policy) -> str:
        """For people: what is spent, and what is left."""
        answers = self.answers()
        if not answers:
            return f"No noisy answer was given yet: all of epsilon {policy.max_epsilon:g} is left (max_epsilon)."
        limit = f"of {policy.max_epsilon:g}" if policy.max_epsilon else "and there is no limit"
        return (
            f"{len(answers)} noisy answer{'s' * (len(answers) > 1)} cost epsilon {self.epsilon(policy):.2f} {limit} "
            f"(max_epsilon, at delta {policy.max_delta:g})."
        )


def _epsilon(answers: list[dict[str, Any]], policy: Policy) -> float:
    return epsilon_spent([answer["noise_multiplier"] for answer in answers], policy.max_delta)


def _is_answer(answer: Any) -> bool:
    return isinstance(answer, dict) and is_number(answer.get("noise_multiplier")) and answer["noise_multiplier"] > 0
