"""One site among 10, 100 or 1,000, step by step; the others exist as keys only."""

import secrets
import time

import numpy as np

from fedsieve.messages.secure_sum import KEY, SHARE, AskKeys, AskMasked, AskShares, AskSignature, AskUnmasking
from fedsieve.privacy.secure_sum import masks
from fedsieve.privacy.secure_sum.signatures import new_key, sign
from fedsieve.privacy.secure_sum.site import Identity, Summand, SumSite
from fedsieve.privacy.secure_sum.statements import Run
from fedsieve.transport.codec import encode
from fedsieve.transport.site_state import DictVault

N_SUMS, SIZE = 3, 10_000


def measured(n_sites: int) -> dict[str, float]:
    """Seconds of computing (CPU) and bytes of the first site: the set-up of three sums, then one sum."""
    names = tuple(f"site-{i:04d}" for i in range(n_sites))
    keys = {name: new_key() for name in names}
    members = {name: key.public_key() for name, key in keys.items()}
    vaults = {name: DictVault() for name in names}
    sites = {
        name: SumSite(Identity(name, keys[name], members, "agreed"), "run", names, N_SUMS, vaults[name])
        for name in names
    }
    seconds, n_bytes, me = {}, {}, names[0]

    def timed(part, request):
        start = time.process_time()
        reply = sites[me].answer(request, lambda _: Summand(np.zeros(SIZE, dtype=np.uint64), "zeros"))
        seconds[part] = seconds.get(part, 0.0) + time.process_time() - start
        n_bytes[part] = n_bytes.get(part, 0) + len(encode(request)) + len(encode(reply))
        return reply

    ask = AskKeys(names, N_SUMS)
    told = [timed("set-up", ask), *(sites[name].answer(ask, None) for name in names[1:])]
    parts = [(reply.box, reply.masks, reply.signature) for reply in told]
    timed("set-up", AskShares(names, *(np.stack(part) for part in zip(*parts, strict=True))))
    mine = told[0].box.tobytes()
    shares = bytes(2 * SHARE * N_SUMS)
    sealed = [
        masks.seal(vaults[name].recall("box"), mine, "run", name, me, shares) if name != me else bytes(28 + len(shares))
        for name in names
    ]
    boxes = np.frombuffer(b"".join(sealed), dtype=np.uint8).reshape(n_sites, -1)
    request = np.frombuffer(secrets.token_bytes(KEY), dtype=np.uint8)
    timed("one sum", AskMasked(0, request, names, boxes))
    timed("one sum", AskSignature(0, names))
    this = Run("run", "agreed", names).sum(0, request.tobytes(), "", list(names))
    statement = this.signed_survivors(list(names))
    signatures = np.frombuffer(b"".join(sign(keys[name], statement) for name in names), dtype=np.uint8)
    timed("one sum", AskUnmasking(0, names, names, signatures.reshape(n_sites, -1)))
    return {
        **{f"{part}, seconds": value for part, value in seconds.items()},
        **{f"{part}, bytes": value for part, value in n_bytes.items()},
    }
