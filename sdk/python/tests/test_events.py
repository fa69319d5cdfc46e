from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import datetime, timedelta, timezone
from typing import Dict

import pytest
from standardwebhooks import Webhook

from causeway_client import CausewayError, SignatureError, verify_elements_event, verify_event

SECRET = "whsec_" + base64.b64encode(b"a" * 24).decode()
OTHER = "whsec_" + base64.b64encode(b"b" * 24).decode()
BODY = json.dumps(
    {
        "id": "evt_1",
        "type": "incident.created",
        "timestamp": "2026-01-31T08:30:00.000Z",
        "data": {"objectName": "incident", "objectId": "7", "object": {"name": "Zoë"}, "more": 1},
    },
    ensure_ascii=False,
).encode()


def signed(body: bytes = BODY, secret: str = SECRET, age: timedelta = timedelta()) -> Dict[str, str]:
    time = datetime.now(timezone.utc) - age
    return {
        "Webhook-Id": "evt_1",
        "Webhook-Timestamp": str(int(time.timestamp())),
        "Webhook-Signature": Webhook(secret).sign("evt_1", time, body.decode()),
    }


def test_a_signed_event_is_read() -> None:
    event = verify_event(BODY, signed(), SECRET)
    assert (event.id, event.type, event.data.object_name, event.data.object_id) == ("evt_1", "incident.created", "incident", "7")
    assert event.timestamp == datetime(2026, 1, 31, 8, 30, tzinfo=timezone.utc)
    assert event.data.object == {"name": "Zoë"}
    assert event.data.model_extra == {"more": 1}
    assert verify_event(BODY.decode(), signed(), SECRET) == event


def test_either_secret_is_good_while_one_takes_the_place_of_the_other() -> None:
    headers = signed()
    headers["Webhook-Signature"] = "v1,AAAA v1a,zzz " + headers["Webhook-Signature"]
    assert verify_event(BODY, headers, [OTHER, SECRET]).id == "evt_1"


@pytest.mark.parametrize("signature", ["", "v1", "v1,%%%", "v1,é", "v1,a,b", "x y", "v2,AAAA"])
def test_a_signature_of_any_other_form_is_none(signature: str) -> None:
    with pytest.raises(SignatureError):
        verify_event(BODY, {**signed(), "Webhook-Signature": signature}, SECRET)


def test_what_is_not_signed_is_refused() -> None:
    with pytest.raises(SignatureError):
        verify_event(BODY.replace(b"7", b"8"), signed(), SECRET)
    with pytest.raises(SignatureError):
        verify_event(BODY, signed(), [OTHER])
    with pytest.raises(SignatureError):
        verify_event(BODY, signed(), [])
    with pytest.raises(SignatureError):
        verify_event(BODY, {}, SECRET)
    with pytest.raises(SignatureError):
        verify_event(b"\xff", signed(), SECRET)


@pytest.mark.parametrize("age", [timedelta(minutes=6), timedelta(minutes=-6)])
def test_an_old_signature_is_refused(age: timedelta) -> None:
    with pytest.raises(SignatureError):
        verify_event(BODY, signed(age=age), SECRET)


def test_what_is_signed_and_no_event_is_another_error() -> None:
    with pytest.raises(CausewayError, match="no event") as caught:
        verify_event(b"[]", signed(b"[]"), SECRET)
    assert not isinstance(caught.value, SignatureError)


def test_events_in_the_format_of_cloud_elements() -> None:
    body = b'{"message": "m\xc3\xa9"}'
    digest = hmac.new(b"key", body, hashlib.sha256).digest()
    headers = {"elements-webhook-signature": "sha256=" + base64.b64encode(digest).decode()}
    assert verify_elements_event(body, headers, ["older", "key"]) == {"message": "mé"}
    assert verify_elements_event(body.decode(), headers, "key") == {"message": "mé"}
    for key, sent in (("other", headers), ("key", {}), ("key", {"Elements-Webhook-Signature": "sha256=é"})):
        with pytest.raises(SignatureError):
            verify_elements_event(body, sent, key)
