"""Filters whose values are quoted and never spliced in."""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Iterable, List, Tuple, Union

from causeway_client._call import instant

WhereScalar = Union[str, int, float, Decimal, bool, date, datetime]
WhereValue = Union[WhereScalar, "Where", Iterable[WhereScalar]]

#: A text, a quoted name, a placeholder, or anything else. Quoted parts contain no placeholders.
_PARTS = re.compile(r"'(?:[^']|'')*'|`[^`]*`|['`]|\?|[^'`?]+")


class Where(str):
    """A filter in the query language, created by `where`. As a value of another filter it is put in parentheses."""

    __slots__ = ()


def where(template: str, *values: WhereValue) -> Where:
    """Returns a filter with a value for each `?`: `where("status = ? AND department IN (?)", status, departments)`.

    :raises ValueError: when the numbers of values and placeholders differ, and for a quote that is never closed
    :raises TypeError: for a value that has no literal
    """
    parts: List[str] = _PARTS.findall(template)
    if any(part in ("'", "`") for part in parts):
        raise ValueError("A quote in the template of a where is never closed. Give values for `?` rather than quoting them.")
    places = parts.count("?")
    if places != len(values):
        raise ValueError(f"The template of a where has {places} places for values, and {len(values)} were given.")
    rest = iter(values)
    texts: List[str] = []
    for index, part in enumerate(parts):
        texts.append(_literal(next(rest), _in_parentheses(parts, index)) if part == "?" else part)
    return Where("".join(texts))


def escape_like(text: str) -> str:
    """Escapes a text so that `LIKE` finds it literally: `where("name LIKE ?", f"%{escape_like(word)}%")`."""
    return re.sub(r"[\\%_]", r"\\\g<0>", text)


def _in_parentheses(parts: List[str], index: int) -> bool:
    before = parts[index - 1] if index > 0 else ""
    after = parts[index + 1] if index + 1 < len(parts) else ""
    return before.rstrip().endswith("(") and after.lstrip().startswith(")")


def _literal(value: Any, in_parentheses: bool) -> str:
    if isinstance(value, Where):
        return str(value) if in_parentheses else f"({value})"
    if isinstance(value, (list, tuple, set, frozenset)):
        return _list(value, in_parentheses)
    return _scalar(value)


def _list(values: Iterable[Any], in_parentheses: bool) -> str:
    literals: Tuple[str, ...] = tuple(_scalar(value) for value in values)
    if not literals:
        raise TypeError("A where accepts no empty list: IN needs at least one value.")
    joined = ", ".join(literals)
    return joined if in_parentheses else f"({joined})"


def _scalar(value: Any) -> str:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, Where):
        raise TypeError("A list in a where can contain only texts, numbers, booleans and dates.")
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, (float, Decimal)):
        return _number(value)
    if isinstance(value, datetime):
        return instant(value)
    if isinstance(value, date):
        return value.isoformat()
    if value is None:
        raise TypeError("A where accepts no None, because a comparison with it is never true. Write IS NULL or IS NOT NULL.")
    raise TypeError(
        f"A where accepts texts, numbers, booleans, dates, lists of these and other wheres, not {type(value).__name__}."
    )


def _number(value: Union[float, Decimal]) -> str:
    if not math.isfinite(value):
        raise TypeError("A number in a where is finite.")
    return repr(float(value)) if isinstance(value, float) else str(value)


def _quoted(text: str) -> str:
    """Returns a text as a literal. Half of a surrogate pair is rejected, because it would become another character."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise TypeError("A text in a where contains half of a surrogate pair, which is not a character.")
    return "'" + text.replace("'", "''") + "'"
