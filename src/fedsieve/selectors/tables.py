"""Data frames at both ends: the names of their columns, and rows about features as plain dicts or as a frame."""

from typing import Any

from fedsieve.errors import MissingExtraError


def column_names(table: Any) -> tuple[str, ...] | None:
    """The column names of a data frame; `None` for arrays, and for frames whose columns are only numbered."""
    columns = getattr(table, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return tuple(columns)


def in_form(rows: list[dict[str, Any]], as_frame: bool) -> Any:
    """The rows themselves, or a pandas DataFrame of them."""
    if not as_frame:
        return rows
    try:
        from pandas import DataFrame
    except ImportError:
        raise MissingExtraError("as_frame=True needs the package 'pandas'. Install it: pip install pandas") from None
    return DataFrame(rows)
