"""Settings that all tests share."""

import os

import numpy as np
import pytest
from hypothesis import settings

# Compiling a kernel takes seconds, so no deadline. In CI the same examples are drawn every time.
settings.register_profile("fedsieve", deadline=None, max_examples=40, derandomize=bool(os.environ.get("CI")))
settings.load_profile("fedsieve")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240611)
