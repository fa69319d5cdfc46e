"""Events as receivers get them, and whether they are signed."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import datetime
from typing import Annotated, Any, Dict, List, Mapping, Optional, Sequence, Union

from pydantic import Field, ValidationError
from standardwebhooks import Webhook, WebhookVerificationError

from causeway_client._model import Model
from causeway_client.errors import CausewayError, SignatureError


class EventInstance(Model):
    id: int
    name: str
    tags: List[str] = []


class EventData(Model):
    """What happened to what. Operational events have other members; they are in `model_extra`."""

    object_name: Annotated[Optional[str], Field(alias="objectName")] = None
    object_id: Annotated[Optional[str], Field(alias="objectId")] = None
    element_key: Annotated[Optional[str], Field(alias="elementKey")] = None
    hub: Optional[str] = None
    account_id: Annotated[Optional[int], Field(alias="accountId")] = None
    instance: Optional[EventInstance] = None
    object: Any = None
    """The record as the API shows it."""
    raw: Any = None
    """What the provider sent."""


class Event(Model):
    id: str
    """The same for every attempt and every redelivery: drop what you have seen."""
    type: str
    """`<objectName>.created`, `.updated`, `.deleted` or `.unknown`; operational events have types of their own."""
    timestamp: datetime
    data: EventData


def verify_event(body: Union[bytes, str], headers: Mapping[str, str], secrets: Union[str, Sequence[str]]) -> Event:
    """The event of a request, which one of the secrets signed at most five minutes ago. The secrets are those of the subscription
    (`notifications.get_subscription`); give both while one is taking the other's place.

    :param body: the bytes as they came, or their text; not a value that was parsed and printed again
    :raises SignatureError: when none of them did
    :raises CausewayError: for what is signed and is no event
    """
    signed = {name.lower(): value for name, value in headers.items()}
    content = body.encode() if isinstance(body, str) else body
    _require_signature(content, signed, _listed(secrets))
    try:
        return Event.model_validate_json(content)
    except ValidationError:
        raise CausewayError("The body is signed and is no event.") from None


def _require_signature(content: bytes, headers: Dict[str, str], secrets: Sequence[str]) -> None:
    reason: Optional[Exception] = None
    for secret in secrets:
        try:
            Webhook(secret).verify(content, headers, json_parse=False)
            return
        # The library says ValueError of headers and secrets that are not written as they should be.
        except (WebhookVerificationError, ValueError) as error:
            reason = error
    raise SignatureError("The event is not signed by any of the secrets, or was signed at another time.") from reason


def verify_elements_event(body: Union[bytes, str], headers: Mapping[str, str], keys: Union[str, Sequence[str]]) -> Dict[str, Any]:
    """The body of a request in the format of Cloud Elements (`event.notification.format: elements`), which one of the keys
    (`event.notification.signature.key`) signed. These signatures have no time, so drop what you have seen by its
    `Elements-Webhook-Id`.

    :raises SignatureError:
    """
    content = body.encode() if isinstance(body, str) else body
    signature = next((value for name, value in headers.items() if name.lower() == "elements-webhook-signature"), "")
    for key in _listed(keys):
        expected = base64.b64encode(hmac.new(key.encode(), content, hashlib.sha256).digest()).decode()
        if hmac.compare_digest(f"sha256={expected}".encode(), signature.encode()):
            value: Dict[str, Any] = json.loads(content)
            return value
    raise SignatureError("The event is not signed by any of the keys.")


def _listed(values: Union[str, Sequence[str]]) -> Sequence[str]:
    return [values] if isinstance(values, str) else values
