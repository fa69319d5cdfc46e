"""
What both clients do, said once. A flow is a generator that yields what is to be done (send this, wait so long, give this to the
caller) and gets what came of it; `_transport` does it, with threads that wait or with `await`.
"""

from __future__ import annotations

import random
import time
import uuid
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, Callable, Generator, Mapping, Optional, TypeVar, Union

from causeway_client.errors import ApiError, CallTimeoutError, CausewayError, NetworkError, error_of

T = TypeVar("T")

_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 8.0
_RETRIED_STATUSES = frozenset({429, 502, 503, 504})
#: Twice comes to the same as once.
_IDEMPOTENT_METHODS = frozenset({"GET", "HEAD", "PUT", "DELETE"})


@dataclass(frozen=True)
class Form:
    """A record with its file: the fields come first."""

    fields: bytes
    file: Union[bytes, BinaryIO]
    name: str
    media_type: str

    @property
    def is_repeatable(self) -> bool:
        return isinstance(self.file, bytes) or self.file.seekable()


@dataclass(frozen=True)
class Request:
    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    content: Optional[bytes] = field(default=None, repr=False)
    #: In place of `content`.
    form: Optional[Form] = field(default=None, repr=False)


@dataclass(frozen=True)
class Answer:
    status: int
    #: Their names in lower case.
    headers: Mapping[str, str]
    #: Empty while the body is still to be read.
    content: bytes = b""
    #: What the body comes from, where it is still to be read.
    source: Any = None


@dataclass(frozen=True)
class Send:
    """Brings an Answer; with `is_open`, one whose body is still to be read where it is a success."""

    request: Request
    is_open: bool = False


@dataclass(frozen=True)
class Read:
    """Brings the next bytes of an open answer, None at its end."""

    answer: Answer


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Give:
    """Gives a value to the caller of an iteration."""

    value: Any


Step = Union[Send, Read, Pause, Give]
Flow = Generator[Step, Any, T]


@dataclass(frozen=True)
class Retries:
    #: Attempts after the first one.
    limit: int = 4
    #: No attempt begins later than this after the first one, in seconds.
    seconds: float = 120.0
    now: Callable[[], float] = time.time
    random: Callable[[], float] = random.random

    def pause(self, attempt: int) -> float:
        """Before the attempt after this one, from 1."""
        return self.random() * float(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(attempt - 1, 16)))


def exchange(request: Request, retries: Retries, is_open: bool = False) -> Flow[Answer]:
    """:raises ApiError, NetworkError, CallTimeoutError: after the last attempt"""
    keyed = with_idempotency_key(request)
    start = retries.now()
    attempt = 1
    while True:
        error: CausewayError
        try:
            answer: Answer = yield Send(keyed, is_open)
            if 200 <= answer.status < 300 or answer.status == 304:
                return answer
            error = error_of(answer.status, answer.headers, answer.content, retries.now())
        except (NetworkError, CallTimeoutError) as failure:
            error = failure
        asked = (error.retry_after or 0.0) if isinstance(error, ApiError) else 0.0
        pause = asked + retries.pause(attempt)
        if (
            attempt > retries.limit
            or not is_worth_another_try(error, keyed, attempt)
            or retries.now() + pause > start + retries.seconds
        ):
            raise error
        yield Pause(pause)
        attempt += 1


def with_idempotency_key(request: Request) -> Request:
    """The service keeps the outcome of a POST by its key, so that it can be sent again; it takes no key with a form."""
    if request.method != "POST" or request.form is not None or _is_keyed(request):
        return request
    return replace(request, headers={**request.headers, "Idempotency-Key": str(uuid.uuid4())})


def is_worth_another_try(error: CausewayError, request: Request, attempt: int) -> bool:
    if request.form is not None:
        return isinstance(error, ApiError) and error.status == 429 and request.form.is_repeatable
    is_keyed = _is_keyed(request)
    is_repeatable = is_keyed or request.method in _IDEMPOTENT_METHODS
    if not isinstance(error, ApiError):
        return is_repeatable
    # What is refused for its pace has not begun. An earlier attempt of the same key may still be under way.
    if error.status == 429:
        return True
    if error.status == 409:
        return is_keyed and attempt > 1
    return is_repeatable and error.status in _RETRIED_STATUSES


def _is_keyed(request: Request) -> bool:
    return any(name.lower() == "idempotency-key" for name in request.headers)
