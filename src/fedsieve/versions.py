"""What a result was computed with."""

import platform
from importlib.metadata import version

PACKAGES = ("fedsieve", "numpy", "scipy", "scikit-learn", "numba")


def versions() -> dict[str, str]:
    """Python and the packages that decide a result, by version."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
