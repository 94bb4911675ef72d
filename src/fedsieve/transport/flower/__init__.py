"""A federation on Flower: a normal ServerApp and ClientApp, and the engine's processes behind our commands."""

from importlib.util import find_spec

# The commands' side loads the engine only when it speaks to it, which takes long; that it is missing is said at once.
if find_spec("flwr") is None:
    raise ModuleNotFoundError("No module named 'flwr'", name="flwr")
