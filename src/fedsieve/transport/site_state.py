"""What an endpoint remembers: of each run its story, answers and secrets, and of all runs together."""

from typing import TYPE_CHECKING, Protocol

from fedsieve.messages import Memory
from fedsieve.privacy import Pins, Story, Told, Views
from fedsieve.protocol.parties import RunMemory, secret_seed

if TYPE_CHECKING:
    from fedsieve.privacy.secure_sum.site import Vault


class SiteState(Protocol):
    """What a site remembers: of each run its story, its answers and values in between; and of all runs together."""

    def memory(self, run: str) -> Memory:
        """Values that later requests of a run need."""

    def story(self, run: str) -> Story:
        """What was asked in a run."""

    def keep_story(self, run: str, story: Story) -> None:
        """Remember it instead of any before."""

    def answer(self, run: str, digest: str) -> bytes | None:
        """What was answered to a request."""

    def keep_answer(self, run: str, digest: str, payload: bytes) -> None:
        """Remember it: the same request gets the same bytes."""

    def lasting(self) -> Pins:
        """What stays the same in all runs under the present agreement."""

    def keep_lasting(self, pins: Pins) -> None:
        """Add to it."""

    def views(self) -> Views:
        """How columns were seen by all requests so far."""

    def keep_views(self, views: Views) -> None:
        """Remember these instead."""

    def told(self) -> Told:
        """What all answers so far compared."""

    def keep_told(self, told: Told) -> None:
        """Remember this instead."""

    def n_changed(self) -> int:
        """By how many rows the table differs from the nearest that was answered for; 0: from none."""

    def vault(self, run: str) -> "Vault":
        """Secrets of a run's secure sums."""

    def check_cohort(self, run: str, sites: tuple[str, ...]) -> None:
        """Raise `ProtocolError` where totals over these sites and those of an earlier run tell of single ones."""

    def keep_cohort(self, run: str, sites: tuple[str, ...], told_of: str) -> None:
        """Remember that a total over these sites is told, and of what."""

    def end_other_sums(self, run: str) -> None:
        """Forget the secrets of all other runs, and answer nothing in these any more."""

    def check_consent(self, run: str) -> None:
        """Raise `ProtocolError` where nobody consents that this run is answered, or no longer."""

    def admit(self, run: str) -> None:
        """Count a run once; raises `ProtocolError` where it is one too many, or rows or consent forbid to go on."""

    def spend(self, run: str, digest: str, multiplier: float) -> None:
        """Count what fresh noise costs, before it is drawn; raises `ProtocolError` where too little is left."""


class TransientState:
    """A state that lives as long as the process; `secret` is the site's, from which it draws at random."""

    def __init__(self, secret: bytes = b"") -> None:
        self._secret = secret
        self._memories: dict[str, RunMemory] = {}
        self._stories: dict[str, Story] = {}
        self._answers: dict[tuple[str, str], bytes] = {}
        self._lasting: dict[str, str] = {}
        self._views: Views = {}
        self._told: Told = {}
        self._vaults: dict[str, DictVault] = {}

    def memory(self, run: str) -> Memory:
        """Made when first asked for."""
        return self._memories.setdefault(run, RunMemory(secret_seed(self._secret, run)))

    def story(self, run: str) -> Story:
        """Begins when first asked for."""
        return self._stories.get(run, Story())

    def keep_story(self, run: str, story: Story) -> None:
        """Held on to."""
        self._stories[run] = story

    def answer(self, run: str, digest: str) -> bytes | None:
        """What was kept."""
        return self._answers.get((run, digest))

    def keep_answer(self, run: str, digest: str, payload: bytes) -> None:
        """Held on to."""
        self._answers[run, digest] = payload

    def lasting(self) -> Pins:
        """What was kept."""
        return self._lasting

    def keep_lasting(self, pins: Pins) -> None:
        """Held on to."""
        self._lasting |= pins

    def views(self) -> Views:
        """What was kept."""
        return self._views

    def keep_views(self, views: Views) -> None:
        """Held on to."""
        self._views = views

    def told(self) -> Told:
        """What was kept."""
        return self._told

    def keep_told(self, told: Told) -> None:
        """Held on to."""
        self._told = told

    def n_changed(self) -> int:
        """In a process rows stay the same."""
        return 0

    def vault(self, run: str) -> "DictVault":
        """Made when first asked for."""
        return self._vaults.setdefault(run, DictVault())

    def check_cohort(self, run: str, sites: tuple[str, ...]) -> None:
        """A process remembers no run before."""

    def keep_cohort(self, run: str, sites: tuple[str, ...], told_of: str) -> None:
        """Nor this one after it."""

    def end_other_sums(self, run: str) -> None:
        """Nor has it secrets of any but this one."""

    def check_consent(self, run: str) -> None:
        """In a process nobody is asked."""

    def admit(self, run: str) -> None:
        """A process counts no runs."""

    def spend(self, run: str, digest: str, multiplier: float) -> None:
        """Nor what noise costs: it holds all rows anyway."""


class DictVault:
    """A vault that lives as long as the process."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def keep(self, name: str, data: bytes) -> None:
        """Held on to."""
        self.kept[name] = data

    def recall(self, name: str) -> bytes | None:
        """What was kept."""
        return self.kept.get(name)

    def remove(self, name: str) -> None:
        """Let go."""
        self.kept.pop(name, None)
