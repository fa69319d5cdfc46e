"""
The behaviour that both clients share. A flow is a generator that yields steps (send a request, wait, give a value to the caller)
and gets their results. `_transport` executes the steps, with blocking calls or with `await`.
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
#: Methods that have the same effect when a request is sent twice.
_IDEMPOTENT_METHODS = frozenset({"GET", "HEAD", "PUT", "DELETE"})


@dataclass(frozen=True)
class Form:
    """A record with its file. The fields come first."""

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
    #: Sent instead of `content`.
    form: Optional[Form] = field(default=None, repr=False)


@dataclass(frozen=True)
class Answer:
    status: int
    #: Response headers, with names in lower case.
    headers: Mapping[str, str]
    #: The body; empty if it is read later.
    content: bytes = b""
    #: The stream that the body is read from, if it is read later.
    source: Any = None


@dataclass(frozen=True)
class Send:
    """Sends a request and results in an Answer. With `is_open`, the body of a successful response is read later."""

    request: Request
    is_open: bool = False


@dataclass(frozen=True)
class Read:
    """Reads the next bytes of an open response; None at its end."""

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
    #: Maximum number of attempts after the first one.
    limit: int = 4
    #: Seconds after the first attempt in which further attempts may start.
    seconds: float = 120.0
    now: Callable[[], float] = time.time
    random: Callable[[], float] = random.random

    def pause(self, attempt: int) -> float:
        """Returns the seconds to wait after this attempt, counted from 1."""
        return self.random() * float(min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(attempt - 1, 16)))


def exchange(request: Request, retries: Retries, is_open: bool = False) -> Flow[Answer]:
    """Sends a request, with retries where they are safe.

    :raises ApiError, NetworkError, CallTimeoutError: after the last attempt
    """
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
    """Adds an idempotency key to a POST, so that it can be sent again. The service accepts no key with a form."""
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
    # A rate-limited request did nothing. An earlier attempt with the same key may still be in progress.
    if error.status == 429:
        return True
    if error.status == 409:
        return is_keyed and attempt > 1
    return is_repeatable and error.status in _RETRIED_STATUSES


def _is_keyed(request: Request) -> bool:
    return any(name.lower() == "idempotency-key" for name in request.headers)
