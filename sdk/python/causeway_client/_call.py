"""Calls of operations, which the synchronous and the asynchronous client share."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from enum import Enum
from functools import lru_cache
from typing import Any, Dict, Generic, Iterable, List, Mapping, Optional, Protocol, Tuple, TypeVar, cast
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError

from causeway_client._flow import Answer, Form
from causeway_client._model import Model
from causeway_client.errors import CausewayError

T = TypeVar("T")


class Page(List[T]):
    """One page of a list: its entries, with the data from the response headers."""

    def __init__(self, entries: Iterable[T] = (), headers: Optional[Mapping[str, str]] = None) -> None:
        super().__init__(entries)
        #: Response headers, with names in lower case.
        self.headers: Mapping[str, str] = headers or {}

    @property
    def next_page(self) -> Optional[str]:
        """Token of the next page, for the parameter of this name; None on the last page."""
        return self.headers.get("elements-next-page-token")

    @property
    def total_count(self) -> Optional[int]:
        """Number of entries on all pages, if it is known."""
        count = self.headers.get("elements-total-count")
        return None if count is None else int(count)

    @property
    def pushdown(self) -> Optional[str]:
        """How much of the filter the provider evaluated: full, partial or none."""
        return self.headers.get("elements-query-pushdown")

    @property
    def partial(self) -> Optional[str]:
        """Reason why the page ended early; None for a full page."""
        return self.headers.get("elements-partial-result")


@dataclass(frozen=True)
class Call(Generic[T]):
    """One call of an operation."""

    method: str
    path: str
    answer: Any
    authorization: str = "UserElement"
    segments: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    #: Sent instead of `body`.
    form: Optional[Form] = None

    @property
    def on_instance(self) -> bool:
        return self.authorization == "UserElement"

    def target(self) -> str:
        """Returns the path with its query."""
        path = self.path
        for name, value in self.segments.items():
            path = path.replace("{" + name + "}", segment(name, value))
        query = "&".join(f"{quote(name, safe='')}={quote(text, safe='')}" for name, text in _pairs(self.query))
        return f"{path}?{query}" if query else path

    def sent_headers(self) -> Dict[str, str]:
        return dict(_pairs(self.headers))

    def content(self) -> Optional[bytes]:
        return None if self.body is None else json.dumps(jsonable(self.body), ensure_ascii=False).encode()

    def read(self, answer: Answer) -> T:
        """Reads a response.

        :raises CausewayError: when the response does not match the specification
        """
        if self.answer is Answer:
            return cast(T, answer)
        if self.answer in (bytes, bytearray):
            return cast(T, answer.content)
        try:
            value = adapter(self.answer).validate_json(answer.content)
        except ValidationError as error:
            places = "; ".join(
                f"{'.'.join(map(str, fault['loc'])) or 'the body'}: {fault['msg']}"
                for fault in error.errors(include_input=False, include_url=False)[:5]
            )
            call = f"{self.method} {self.path}"
            raise CausewayError(f"The response to {call} does not match the specification: {places}.") from None
        return cast(T, Page(value, answer.headers) if isinstance(value, list) else value)


class Runner(Protocol):
    def call(self, call: Call[T]) -> T: ...


class AsyncRunner(Protocol):
    async def call(self, call: Call[T]) -> T: ...


class Operations:
    """The base class of the operations of one tag."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def _run(self, call: Call[T]) -> T:
        return self._runner.call(call)


class AsyncOperations:
    """The base class of the operations of one tag."""

    def __init__(self, runner: AsyncRunner) -> None:
        self._runner = runner

    async def _run(self, call: Call[T]) -> T:
        return await self._runner.call(call)


@lru_cache(maxsize=None)
def adapter(answer: Any) -> TypeAdapter[Any]:
    return TypeAdapter(answer)


def segment(name: str, value: Any) -> str:
    """Returns a value as a path segment.

    :raises ValueError: for an empty value, and for dots, which would lead to another path
    """
    text = _text(value)
    if text in ("", ".", ".."):
        raise ValueError(f"{name} is {text!r}, which no path can name.")
    return quote(text, safe="")


def jsonable(value: Any) -> Any:
    """Converts a value for JSON. Members of a model without a value are left out."""
    if isinstance(value, Model):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: jsonable(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(member) for member in value]
    if isinstance(value, (datetime, date)):
        return _text(value)
    return value


def _pairs(values: Mapping[str, Any]) -> Iterable[Tuple[str, str]]:
    for name, value in values.items():
        if value is None:
            continue
        members = value if isinstance(value, (list, tuple)) else [value]
        for member in members:
            yield name, _text(member)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, datetime):
        return instant(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def instant(value: datetime) -> str:
    """Returns a time in UTC as ISO 8601.

    :raises ValueError: for a time without a zone, which is no point in time
    """
    if value.tzinfo is None:
        raise ValueError("A time needs a time zone, such as datetime.now(timezone.utc).")
    return value.astimezone(timezone.utc).replace(tzinfo=None).isoformat() + "Z"
