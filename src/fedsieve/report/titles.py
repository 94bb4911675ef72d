"""What a method is called wherever it is shown."""

from fedsieve.catalog import registry
from fedsieve.experiments.config import Method


def shown_title(method: Method) -> str:
    """The title of a table's row; where only the idea of a method is certain, it says so.

    >>> shown_title(Method("SCFC", "SCFC"))
    'SCFC (our reading)'
    """
    entry = registry().get(method.name)
    return f"{method.title} (our reading)" if entry and entry.fidelity == "our reading" else method.title
