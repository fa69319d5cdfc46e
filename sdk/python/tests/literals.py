"""Values for filters, and a reader of them that shares nothing with the builder."""

from __future__ import annotations

import random
from typing import List

HOSTILE: List[str] = [
    "", " ", "  both ends  ", "'", "''", "'''", "\\", "\\'", "?", "%", "_", "100%", "--", "/* */", ";", "(", ")", ",", "`", '"',
    "${x}", "{0}", "%s", "' OR ''='", "x' OR 1=1 --", "'; DROP TABLE incident; --", "') OR ('a'='a", "\n", "\r\n", "\t", "\x01",
    "\x1f", "\x7f", "12", "-0.5", "1e3", "2026-01-31", "2026-01-31T08:30:00Z", "NULL", "TRUE", "false", "e\u0301", "\u00e9", "ﬀ",
    "ß", "İ", "\u202e", "\u200b", "\ufeff", "😀", "👩‍👩‍👧", "𝒳", "日本語", "\u2028", "\u2029", "‘’“”", "&", "#", "+", "=", "/",
    "%27", "%2527", "a=b&where=c",
]  # fmt: skip
PIECES = [*HOSTILE, "a", "Z", "7", "word", "O\u2019Neil", "d'Arc"]
LONGEST = 80


def hostile_texts(count: int, chance: random.Random) -> List[str]:
    """The first are the hostile ones themselves; then come texts made of them."""
    made = ("".join(chance.choices(PIECES, k=chance.randrange(12)))[:LONGEST] for _ in range(count - len(HOSTILE)))
    return [*HOSTILE, *made]


def texts_in(filter: str) -> List[str]:
    """The texts between quotes in a filter, in their order."""
    texts: List[str] = []
    at = filter.find("'")
    while at >= 0:
        text = ""
        at += 1
        while filter[at] != "'" or filter[at + 1 : at + 2] == "'":
            text += filter[at]
            at += 2 if filter[at] == "'" else 1
        texts.append(text)
        at = filter.find("'", at + 1)
    return texts
