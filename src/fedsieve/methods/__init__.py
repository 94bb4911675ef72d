"""The methods that can be run as a federation, by name. A new one is a file here and a line below."""

from fedsieve.checks import check_choice
from fedsieve.methods.fedcmfs import FedCMFSMethod
from fedsieve.methods.fmlfs import FMLFSMethod
from fedsieve.methods.sieve import SieveMethod
from fedsieve.methods.ssfmlfs import SSFMLFSMethod
from fedsieve.protocol.method import Method

METHODS: dict[str, type[Method]] = {
    method.name: method for method in (SieveMethod, SSFMLFSMethod, FMLFSMethod, FedCMFSMethod)
}
DEFAULT_METHOD = SieveMethod.name


def method_named(name: object, owner: str) -> type[Method]:
    """The method of that name; `owner` begins the error where there is none."""
    check_choice(owner, "method", name, tuple(METHODS))  # a tuple can be asked about anything
    return METHODS[str(name)]


__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "FMLFSMethod",
    "FedCMFSMethod",
    "Method",
    "SSFMLFSMethod",
    "SieveMethod",
    "method_named",
]
