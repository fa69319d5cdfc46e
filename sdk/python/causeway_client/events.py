"""Events as receivers get them, and the verification of their signatures."""

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
    """The change and its record. Operational events have other members, which are in `model_extra`."""

    object_name: Annotated[Optional[str], Field(alias="objectName")] = None
    object_id: Annotated[Optional[str], Field(alias="objectId")] = None
    element_key: Annotated[Optional[str], Field(alias="elementKey")] = None
    hub: Optional[str] = None
    account_id: Annotated[Optional[int], Field(alias="accountId")] = None
    instance: Optional[EventInstance] = None
    object: Any = None
    """The record as the API shows it."""
    raw: Any = None
    """The data that the provider sent."""


class Event(Model):
    id: str
    """The same for every attempt and every redelivery. Ignore an event whose id you have seen."""
    type: str
    """`<objectName>.created`, `.updated`, `.deleted` or `.unknown`; operational events have types of their own."""
    timestamp: datetime
    data: EventData


def verify_event(body: Union[bytes, str], headers: Mapping[str, str], secrets: Union[str, Sequence[str]]) -> Event:
    """Verifies a request and returns its event. One of the secrets must have signed it at most five minutes ago. The secrets are
    those of the subscription (`notifications.get_subscription`); pass both during a rotation.

    :param body: the bytes as received, or their text; not a value that was parsed and printed again
    :raises SignatureError: when none of the secrets signed it, or the signature is too old
    :raises CausewayError: for a signed body that is no event
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
        # The library raises ValueError for malformed headers and secrets.
        except (WebhookVerificationError, ValueError) as error:
            reason = error
    raise SignatureError("The event is not signed by any of the secrets, or was signed at another time.") from reason


def verify_elements_event(body: Union[bytes, str], headers: Mapping[str, str], keys: Union[str, Sequence[str]]) -> Dict[str, Any]:
    """Verifies a request in the format of Cloud Elements (`event.notification.format: elements`) and returns its body. One of the
    keys (`event.notification.signature.key`) must have signed it. These signatures have no time, so ignore an event whose
    `Elements-Webhook-Id` you have seen.

    :raises SignatureError: when none of the keys signed it
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
