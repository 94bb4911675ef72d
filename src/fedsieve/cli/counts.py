"""How many features, as it is typed."""

from fedsieve.errors import ParameterError
from fedsieve.protocol.sieve.plan import AUTO


def number_or_auto(text: str) -> int | str:
    """The value of -k.

    >>> number_or_auto("30"), number_or_auto("auto")
    (30, 'auto')
    """
    if text == AUTO:
        return text
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f'-k must be a whole number, or "{AUTO}"; got {text!r}.') from None
