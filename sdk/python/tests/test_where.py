from __future__ import annotations

import random
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Tuple

import pytest
from literals import hostile_texts, texts_in

from causeway_client import ErrorCode, Where, escape_like, where


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        ("active = TRUE", (), "active = TRUE"),
        ("name = ?", ("O'Neil",), "name = 'O''Neil'"),
        ("name=?", ("",), "name=''"),
        ("a = ? AND b > ?", (True, 1), "a = TRUE AND b > 1"),
        ("a IN ?", (["x", "y"],), "a IN ('x', 'y')"),
        ("a IN ( ? )", (("x", 2, True),), "a IN ( 'x', 2, TRUE )"),
        ("a IN (?, ?)", ("x", "y"), "a IN ('x', 'y')"),
        ("a > ?", (-12.5,), "a > -12.5"),
        ("a > ?", (1e300,), "a > 1e+300"),
        ("a > ?", (9007199254740993,), "a > 9007199254740993"),
        ("a > ?", (Decimal("12.340"),), "a > 12.340"),
        ("a = ?", (date(2026, 1, 31),), "a = 2026-01-31"),
        ("a = ?", (datetime(2026, 1, 31, 8, 30, tzinfo=timezone.utc),), "a = 2026-01-31T08:30:00Z"),
        ("a = ?", (datetime(2026, 1, 31, 0, 30, 0, 5, tzinfo=timezone(timedelta(hours=2))),), "a = 2026-01-30T22:30:00.000005Z"),
        ("code = ?", (ErrorCode.NOT_FOUND,), "code = 'NOT_FOUND'"),
        ("a = '?' AND `b?` LIKE 'it''s ?' AND c = ?", ("?",), "a = '?' AND `b?` LIKE 'it''s ?' AND c = '?'"),
        ("? AND c = ?", (where("a = ? OR b = ?", 1, "x"), 2), "(a = 1 OR b = 'x') AND c = 2"),
        ("NOT (?)", (where("a = ?", 1),), "NOT (a = 1)"),
        ("name LIKE ?", (f"%{escape_like('50%_off')}%",), "name LIKE '%50\\%\\_off%'"),
    ],
)
def test_values_become_literals(template: str, values: Tuple[Any, ...], text: str) -> None:
    made = where(template, *values)
    assert made == text
    assert isinstance(made, Where)


@pytest.mark.parametrize(
    ("template", "values", "error", "message"),
    [
        ("a = ?", (), ValueError, "1 places for values, and 0 were given"),
        ("a = 1", (1,), ValueError, "0 places for values, and 1 were given"),
        ("a = '?'", (1,), ValueError, "0 places"),
        ("a = 'x AND b = ?", (1,), ValueError, "never closed"),
        ("a = `x AND b = ?", (1,), ValueError, "never closed"),
        ("a = ?", (None,), TypeError, "IS NULL"),
        ("a IN ?", ([],), TypeError, "empty list"),
        ("a IN ?", ([["x"]],), TypeError, "not list"),
        ("a IN ?", ([None],), TypeError, "IS NULL"),
        ("a IN ?", ([where("a = 1")],), TypeError, "A list in a where"),
        ("a = ?", (float("nan"),), TypeError, "finite"),
        ("a = ?", (float("inf"),), TypeError, "finite"),
        ("a = ?", (datetime(2026, 1, 31),), ValueError, "time zone"),
        ("a = ?", ({"a": 1},), TypeError, "not dict"),
        ("a = ?", (b"x",), TypeError, "not bytes"),
        ("a = ?", ("\ud800",), TypeError, "surrogate"),
    ],
)
def test_what_is_no_value_is_refused(template: str, values: Tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        where(template, *values)


def test_hostile_texts_stay_texts() -> None:
    texts = hostile_texts(10_000, random.Random(17))
    for text in texts:
        assert texts_in(where("a = ? OR b = ?", text, "end")) == [text, "end"]
