"""A client of Causeway: one API over many providers."""

from causeway._call import Page
from causeway._flow import Answer
from causeway._session import VERSION as __version__
from causeway.bulk import AsyncBulkDownload, BulkDownload, BulkJobError
from causeway.client import AsyncCauseway, Causeway
from causeway.errors import (
    ApiError,
    CallTimeoutError,
    CausewayError,
    NetworkError,
    NotFoundError,
    ProviderError,
    RateLimitedError,
    SignatureError,
    WhereError,
)
from causeway.events import Event, EventData, verify_elements_event, verify_event
from causeway.models.error_code import ErrorCode
from causeway.records import AsyncRecords, Records
from causeway.where import Where, escape_like, where

__all__ = [
    "Answer",
    "ApiError",
    "AsyncBulkDownload",
    "AsyncCauseway",
    "AsyncRecords",
    "BulkDownload",
    "BulkJobError",
    "CallTimeoutError",
    "Causeway",
    "CausewayError",
    "ErrorCode",
    "Event",
    "EventData",
    "NetworkError",
    "NotFoundError",
    "Page",
    "ProviderError",
    "RateLimitedError",
    "Records",
    "SignatureError",
    "Where",
    "WhereError",
    "__version__",
    "escape_like",
    "verify_elements_event",
    "verify_event",
    "where",
]
