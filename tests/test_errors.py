"""Every error of ours comes out of a worker's process as it went in: a table or a sweep runs on several."""

import importlib
import pickle
import pkgutil
from collections.abc import Iterator

import fedsieve
from fedsieve.errors import FedSieveError
from fedsieve.protocol.cohort import BadReplyError


def all_errors(of: type[FedSieveError]) -> Iterator[type[FedSieveError]]:
    yield of
    for kind in of.__subclasses__():
        yield from all_errors(kind)


def test_errors_survive_the_way_out_of_a_worker() -> None:
    """One that cannot be made anew there breaks the pool, and the user sees that instead of the message."""
    for module in pkgutil.walk_packages(fedsieve.__path__, "fedsieve."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for kind in set(all_errors(FedSieveError)):
        said = {"client-03": "sent no rows."} if issubclass(kind, BadReplyError) else "said why."
        error = kind(said)
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy), vars(copy)) == (kind, str(error), vars(error))
