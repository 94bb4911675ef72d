"""How much noise a promise (epsilon, delta) takes, and what has been promised away by several noisy answers.

By Rényi differential privacy, composed and converted by the package dp-accounting. The discrete Gaussian obeys the same
Rényi bounds as the continuous one (Canonne, Kamath, Steinke 2020, theorem 4), so that these figures hold for the noise
that is drawn; tighter ones of the continuous Gaussian (privacy loss distributions, some 5 % less noise) need not.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

from fedsieve.errors import ParameterError, extra_needed

SMALLEST, LARGEST = 0.01, 100.0  # of an epsilon that means something


def noise_multiplier(epsilon: float, delta: float) -> float:
    """The standard deviation of the noise in units of what one row can change, for one answer."""
    return _calibrated(float(epsilon), float(delta))


def epsilon_spent(multipliers: Iterable[float], delta: float) -> float:
    """The epsilon of all answers together, at this delta; 0 for none."""
    counted = Counter(float(multiplier) for multiplier in multipliers)
    if not counted:
        return 0.0
    accounting = dp_accounting()
    accountant = accounting.rdp.RdpAccountant()
    for multiplier, times in counted.items():
        accountant.compose(accounting.GaussianDpEvent(multiplier), times)
    return float(accountant.get_epsilon(delta))


def check_promise(owner: str, epsilon: float, delta: float) -> None:
    """Refuse a promise that means nothing, and one that nobody here can calculate with."""
    if not SMALLEST <= epsilon <= LARGEST:
        raise ParameterError(f"{owner}: epsilon must be in [{SMALLEST}, {LARGEST:g}], or None; got {epsilon!r}.")
    if not 0 < delta <= 0.01:
        raise ParameterError(f"{owner}: delta must be above 0 and at most 0.01; got {delta!r}.")
    dp_accounting(owner)


def dp_accounting(owner: str = "noise (epsilon)") -> Any:
    """The package; imported when it is first needed, since it takes a second."""
    try:
        import dp_accounting
        import dp_accounting.rdp
    except ImportError:
        raise extra_needed(owner, "dp-accounting", "private") from None
    return dp_accounting


@cache
def _calibrated(epsilon: float, delta: float) -> float:
    accounting = dp_accounting()
    found = accounting.calibrate_dp_mechanism(
        accounting.rdp.RdpAccountant, accounting.GaussianDpEvent, epsilon, delta, tol=1e-6
    )
    return float(found)
