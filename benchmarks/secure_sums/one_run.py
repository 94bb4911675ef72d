"""Ten sites add up half a million numbers; three are lost after they shared their secrets."""

import hashlib
import time
from collections import defaultdict

import numpy as np

from fedsieve.messages.columns import Columns, Scaling
from fedsieve.messages.covariances import AskCovariances
from fedsieve.methods import SieveMethod
from fedsieve.privacy.secure_sum.cohort import SecureCohort, n_sums
from fedsieve.privacy.secure_sum.signatures import new_key
from fedsieve.privacy.secure_sum.site import Identity, Summand, SumSite
from fedsieve.privacy.secure_sum.vectors import ring_of
from fedsieve.protocol import Labeled
from fedsieve.tables import ArrayTable
from fedsieve.transport.codec import decode, encode
from fedsieve.transport.site_state import DictVault

N_SITES, N_LOST, N_COLUMNS, N_ROWS = 10, 3, 999, 1000  # of 999 columns there are 999 sums and 499,500 products


class Unchecked(SecureCohort):
    """Whether the total breaks a rule is asked in a plain run as well, so it is no cost of secure sums."""

    def _believed(self, _request, total, _n_sites):
        return total


def measured() -> dict[str, float]:
    """Seconds of computing (CPU) and bytes, beside those of a plain sum."""
    rng = np.random.default_rng(0)
    names = tuple(f"site-{i}" for i in range(N_SITES))
    features = tuple(f"x{i}" for i in range(N_COLUMNS))
    method = SieveMethod(
        features,
        ranges=dict.fromkeys(features, (-6.0, 6.0)),
        secure=True,
        missing="error",
        on_bad_client="drop",
        max_rows=N_ROWS,
    )
    low = np.full(N_COLUMNS, -6.0)
    request = AskCovariances(Columns(features, (), "error"), Scaling(low, -low, "declared"))
    replies = {name: request.answer(ArrayTable(features, rng.normal(size=(N_ROWS, N_COLUMNS)))) for name in names}
    keys = {name: new_key() for name in names}
    members = {name: key.public_key() for name, key in keys.items()}
    sites = {
        name: SumSite(Identity(name, keys[name], members, "agreed"), "run", names, n_sums(method), DictVault())
        for name in names
    }
    cohort = Unchecked(method, names, "run", "agreed", members, encode)
    at_site, n_bytes = defaultdict(float), defaultdict(int)

    def numbers(name, number):
        if number == 0:  # cells: all rows but one differ from any value, and none misses one
            return np.array([N_ROWS] + [N_ROWS - 1] * N_COLUMNS + [0] * N_COLUMNS, dtype=np.int64).view(np.uint64)
        return ring_of(request, replies[name], N_ROWS * N_SITES)

    def scaled_by(number):
        return "" if number == 0 else hashlib.sha256(encode(cohort._cells)).hexdigest()

    def answered(name, question):
        sent = encode(question.request_to(name))
        start = time.process_time()
        asked = decode(sent)
        payload = sites[name].answer_once(
            sent,
            asked,
            lambda: encode(
                sites[name].answer(
                    asked,
                    lambda masked: Summand(numbers(name, masked.number), str(masked.number), scaled_by(masked.number)),
                )
            ),
        )
        at_site[name] += time.process_time() - start
        n_bytes[name] += len(sent) + len(payload)
        return decode(payload)

    def steps():
        yield from cohort.begin(method, Labeled(np.zeros((2, N_COLUMNS)), np.eye(2)))
        return (yield from cohort.total(request))

    run, at_server, lost = steps(), 0.0, set()
    question = next(run)
    while True:
        if getattr(question.request, "number", 0) == 1:
            lost = set(names[:N_LOST])
        came = {name: answered(name, question) for name in question.clients if name not in lost}
        start = time.process_time()
        try:
            question = run.send(came)
        except StopIteration as finished:
            at_server += time.process_time() - start
            total = finished.value
            break
        at_server += time.process_time() - start
    plain = replies[names[-1]]
    for name in names[N_LOST:-1]:
        plain = plain + replies[name]
    assert np.abs(total.upper - plain.upper).max() < 1e-9
    in_plain = len(encode(request)) + len(encode(replies[names[-1]]))
    return {
        "numbers": len(total.sums) + len(total.upper),
        "seconds per site": max(at_site.values()),
        "seconds at the server, three of ten lost": at_server,
        "bytes per site, times a plain run's": n_bytes[names[-1]] / in_plain,
    }
