"""Here kernels work on several threads, which other tests go without."""

import pytest

from fedsieve.kernels.threads import VARIABLE


@pytest.fixture(scope="module", autouse=True)
def two_threads():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "2")
        yield
