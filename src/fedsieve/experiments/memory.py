"""The peak memory of a stretch of work in this process, where the system can tell."""

import resource
import sys
from pathlib import Path

_PEAK, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def reset_peak() -> None:
    """Begin a new stretch; elsewhere than on Linux the peak stays that of the whole process."""
    if _RESET.exists():
        _RESET.write_text("5")


def peak_megabytes() -> float:
    """The largest resident size since `reset_peak`."""
    if _PEAK.exists():
        line = next(line for line in _PEAK.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1000
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
