"""The errors of this client. All of them are subclasses of CausewayError."""

from __future__ import annotations

import json
from email.utils import parsedate_to_datetime
from typing import Any, Dict, List, Mapping, Optional, Type, Union

from pydantic import ValidationError

from causeway_client.models.error_code import ErrorCode
from causeway_client.models.error_detail import ErrorDetail


class CausewayError(Exception):
    """The base class of all errors of this client."""


class NetworkError(CausewayError):
    """There was no complete response. The cause of the error is the reason."""


class CallTimeoutError(CausewayError, TimeoutError):
    """One attempt took longer than the time-out of the client, or an execution of a formula did not end in time."""


class SignatureError(CausewayError):
    """None of the secrets signed the event, or the signature is too old."""


class ApiError(CausewayError):
    """The service, or a proxy in front of it, responded with an error. Decide by `code`, never by the text."""

    def __init__(
        self,
        status: int,
        code: Union[ErrorCode, str],
        message: str,
        *,
        request_id: Optional[str] = None,
        details: Optional[List[ErrorDetail]] = None,
        provider_message: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        # All required arguments, so that the error can be pickled.
        super().__init__(status, code, message)
        self.status = status
        #: A code of the specification or of a newer service, or `HTTP_<status>` for a response that is not the service's.
        #: An ErrorCode is also a str.
        self.code = code
        self.message = message
        #: Id of the request. Send it to the operator of the service with questions.
        self.request_id = request_id
        self.details = details or []
        #: The provider's own text.
        self.provider_message = provider_message
        #: Seconds to wait before the next attempt, if the response contains them.
        self.retry_after = retry_after

    def __str__(self) -> str:
        request = f", request {self.request_id}" if self.request_id else ""
        return f"{self.message} ({self.code}, status {self.status}{request})"


class NotFoundError(ApiError):
    """The resource does not exist, or is not visible to this caller."""


class WhereError(ApiError):
    """A filter is invalid, or the provider cannot evaluate it completely."""

    @property
    def position(self) -> Optional[int]:
        """Position of the first fault in the filter, counted from 0 in UTF-16 units, as in JavaScript and Java."""
        return self._first.position if self._first else None

    @property
    def length(self) -> Optional[int]:
        """Length of the first fault in UTF-16 units."""
        return self._first.length if self._first else None

    @property
    def suggestion(self) -> Optional[str]:
        """The known name that is most similar to the given one."""
        return self._first.nearest if self._first else None

    @property
    def _first(self) -> Optional[ErrorDetail]:
        return next((detail for detail in self.details if detail.position is not None), None)


class RateLimitedError(ApiError):
    """The service (`RATE_LIMITED`) or the provider (`PROVIDER_RATE_LIMITED`) got too many requests; see `retry_after`."""


class ProviderError(ApiError):
    """The provider rejected the request, failed, or did not respond."""


_CLASSES: Dict[str, Type[ApiError]] = {
    ErrorCode.NOT_FOUND: NotFoundError,
    ErrorCode.WHERE_SYNTAX: WhereError,
    ErrorCode.WHERE_INVALID: WhereError,
    ErrorCode.WHERE_UNSUPPORTED: WhereError,
    ErrorCode.RATE_LIMITED: RateLimitedError,
    ErrorCode.PROVIDER_RATE_LIMITED: RateLimitedError,
    ErrorCode.PROVIDER_CREDENTIALS_INVALID: ProviderError,
    ErrorCode.PROVIDER_REJECTED: ProviderError,
    ErrorCode.INSTANCE_CREDENTIALS_FAILED: ProviderError,
    ErrorCode.PROVIDER_UNAVAILABLE: ProviderError,
    ErrorCode.PROVIDER_PROTOCOL: ProviderError,
    ErrorCode.PROVIDER_TIMEOUT: ProviderError,
}


def error_of(status: int, headers: Mapping[str, str], content: bytes, now: float) -> ApiError:
    """Returns the error for an error response. `now` is in seconds since 1970."""
    body = _body_of(content) or {
        "code": f"HTTP_{status}",
        "message": f"The response has the status {status} and does not come from the service.",
        "requestId": headers.get("elements-request-id"),
    }
    return _CLASSES.get(body["code"], ApiError)(
        status,
        ErrorCode(body["code"]),
        body["message"],
        request_id=body.get("requestId") or None,
        details=_details_of(body.get("details")),
        provider_message=body.get("providerMessage"),
        retry_after=_seconds_of(headers.get("retry-after"), now),
    )


def _body_of(content: bytes) -> Optional[Dict[str, Any]]:
    try:
        body = json.loads(content)
    except ValueError:
        return None
    if not isinstance(body, dict):
        return None
    return body if all(isinstance(body.get(name), str) for name in ("code", "message")) else None


def _details_of(details: object) -> List[ErrorDetail]:
    try:
        return [ErrorDetail.model_validate(detail) for detail in details] if isinstance(details, list) else []
    except ValidationError:
        return []


def _seconds_of(header: Optional[str], now: float) -> Optional[float]:
    """Reads `Retry-After`, which is a number of seconds or a time."""
    if header is None:
        return None
    if header.isdecimal():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - now)
    except ValueError:
        return None
