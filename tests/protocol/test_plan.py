"""Every parameter has one rule, checked once, with one sentence."""

import numpy as np
import pytest

from fedsieve.errors import ParameterError
from fedsieve.protocol import SSFMLFSPlan

FEATURES = ("a", "b", "c")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"lam": 0.39}, r"lam must be in \[0.4, 2\]; got 0.39"),
        ({"lam": 2.01}, r"lam must be in \[0.4, 2\]"),
        ({"lam": "x"}, r"lam must be in \[0.4, 2\]; got 'x'"),
        ({"lam": float("nan")}, "got nan"),
        ({"damping": 1.0}, r"damping must be in \[0, 1\); got 1.0"),
        ({"damping": -0.1}, "damping"),
        ({"tol": 0.0}, "tol must be above 0"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1; got 0"),
        ({"n_neighbors": 2.5}, "got 2.5"),
        ({"n_neighbors": True}, "got True"),
        ({"max_iter": 0}, "max_iter"),
        ({"max_message_bytes": 0}, "max_message_bytes"),
        ({"n_features_to_select": 0}, r"n_features_to_select must be a whole number in \[1, n_features=3\]; got 0"),
        ({"n_features_to_select": 4}, r"in \[1, n_features=3\]; got 4"),
        ({"relation": "near"}, "relation must be one of 'distance', 'similarity'; got 'near'"),
        ({"irrelevant": "x"}, "irrelevant must be one of"),
        ({"decisions": "x"}, "decisions must be one of 'crisp', 'soft'"),
        ({"spread": "x"}, "spread must be one of"),
        ({"wire": "pigeon"}, "wire must be one of 'auto', 'matrices', 'statistics', 'vectors'"),
        ({"missing": "drop"}, "missing must be one of 'error', 'unrelated'"),
        ({"constant": "x"}, "constant must be one of"),
        ({"on_bad_client": "x"}, "on_bad_client must be one of 'raise', 'drop'"),
        ({"nominal": ("z",)}, "nominal names no such feature: 'z'"),
        ({"ranges": "global"}, "ranges must be 'federated', 'local' or"),
        ({"ranges": {"a": (0, 1)}}, "ranges declares no range for 'b', 'c'"),
        ({"ranges": {"a": (0, 1), "b": (1, 0), "c": (0, 1)}}, r"ranges\['b'\] must be finite with low <= high"),
        ({"ranges": {"a": (0, 1), "b": (0, np.inf), "c": (0, 1)}}, r"ranges\['b'\] must be finite"),
        ({"features": ()}, "at least one feature"),
        ({"features": ("a", "a")}, "feature names must differ; 'a' occur twice"),
    ],
)
def test_a_parameter_outside_its_rule_is_named(wrong, message):
    with pytest.raises(ParameterError, match=message):
        SSFMLFSPlan(**{"features": FEATURES, **wrong})


def test_numpy_numbers_are_numbers():
    plan = SSFMLFSPlan(FEATURES, lam=np.float32(1.5), n_neighbors=np.int64(2), n_features_to_select=np.int32(2))
    assert plan.k == 2


def test_auto_takes_statistics_up_to_two_thousand_features():
    assert SSFMLFSPlan(tuple(map(str, range(2000)))).wire_form == "statistics"
    assert SSFMLFSPlan(tuple(map(str, range(2001)))).wire_form == "vectors"
    assert SSFMLFSPlan(FEATURES, wire="matrices").wire_form == "matrices"
