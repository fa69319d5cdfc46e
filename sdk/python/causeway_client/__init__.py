"""A client of Causeway: one API over many providers."""

from causeway_client._call import Page
from causeway_client._flow import Answer
from causeway_client._session import VERSION as __version__
from causeway_client.bulk import AsyncBulkDownload, BulkDownload, BulkJobError
from causeway_client.client import AsyncCauseway, Causeway
from causeway_client.errors import (
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
from causeway_client.events import Event, EventData, verify_elements_event, verify_event
from causeway_client.models.error_code import ErrorCode
from causeway_client.records import AsyncRecords, Records
from causeway_client.where import Where, escape_like, where

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
