"""The steps of sdk/scenario.md."""

from __future__ import annotations

import asyncio
import os
import random
import re
import threading
import time
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from literals import hostile_texts, texts_in

from causeway_client import AsyncCauseway, Causeway, ErrorCode, NotFoundError, SignatureError, WhereError, verify_event, where
from causeway_client.models import Instance, InstanceCreate, InstanceElement, InstanceProviderGrant, QueryExplain

pytestmark = pytest.mark.skipif(
    not os.environ.get("CAUSEWAY_URL"), reason="CAUSEWAY_URL is not set: node scripts/sdk-scenario.ts sets it"
)

LANGUAGE = "python"
ANOTHER_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
POLL_SECONDS = 0.1
MOST_POLLS = 100
LIST_LENGTH = 100
#: The service takes 16 KB.
LONGEST_FILTER = 16_000

Delivery = Tuple[bytes, Dict[str, str]]


class Receiver(HTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.deliveries: List[Delivery] = []
        self.url = f"http://127.0.0.1:{self.server_port}/events"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.deliveries.append((body, dict(self.headers.items())))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


class State:
    """What one step leaves to the next ones."""

    def __init__(self, causeway: Causeway, receiver: Receiver) -> None:
        self.causeway = causeway
        self.receiver = receiver
        self.account = causeway
        self.instance: Optional[Instance] = None
        self.caller_id = ""

    @property
    def instance_id(self) -> int:
        assert self.instance is not None
        return self.instance.id


@pytest.fixture(scope="module")
def state() -> Iterator[State]:
    receiver = Receiver()
    thread = threading.Thread(target=receiver.serve_forever)
    thread.start()
    try:
        with Causeway.from_environment(element_token=None) as causeway:
            yield State(causeway, receiver)
    finally:
        receiver.shutdown()
        thread.join()
        receiver.server_close()


def test_1_connects_an_account(state: State) -> None:
    state.instance = state.causeway.instances.create_instance(
        InstanceCreate(
            element=InstanceElement(key="servicenow"),
            name=f"{LANGUAGE}: the scenario",
            configuration={
                "username": "admin",
                "password": "demo-password",
                "company.name": "demo",
                "simulator": True,
                "event.notification.enabled": True,
                "event.notification.callback.url": state.receiver.url,
                "event.vendor.type": "polling",
                "event.objects": "incident",
                "event.poller.refresh_interval": 0.05,
            },
        )
    )
    state.account = state.causeway.with_instance(state.instance.token)
    assert state.instance.token not in repr(state.instance)
    instances = state.causeway.all(state.causeway.instances.list_instances, page_size=1)
    assert state.instance.id in [instance.id for instance in instances]


def test_2_discovers_objects_and_fields(state: State) -> None:
    assert "incident" in [summary.name for summary in state.account.objects.list_objects()]
    types = {field.name: field.type for field in state.account.objects.get_object_metadata("incident").fields}
    assert types["short_description"] == "string"
    assert types["priority"] == "integer"


def test_3_queries_over_several_pages(state: State) -> None:
    incidents = state.account.records("incident")
    query: Dict[str, Any] = {
        "where": where("priority IN (?)", [1, 2]),
        "fields": ["sys_id", "priority", "caller_id"],
        "order_by": "sys_id",
    }
    rows = list(incidents.all(**query, page_size=7))
    ids = [row["sys_id"] for row in rows]
    assert len(rows) > 14
    assert all(row["priority"] in (1, 2) for row in rows)
    assert ids == sorted(set(ids))
    assert len(incidents.list(**query, page_size=5000)) == len(rows)
    state.caller_id = next(row["caller_id"] for row in rows if row["caller_id"])


def test_4_creates_changes_finds_and_deletes(state: State) -> None:
    incidents = state.account.records("incident")
    said = f'{LANGUAGE} says: it\'s 100% "fine" ?'
    sys_id = incidents.create({"short_description": said, "caller_id": state.caller_id})["sys_id"]
    assert incidents.get(sys_id)["short_description"] == said
    assert incidents.update(sys_id, {"short_description": said + "!"})["short_description"] == said + "!"
    found = incidents.list(where=where("short_description = ?", said + "!"))
    assert [row["sys_id"] for row in found] == [sys_id]
    assert incidents.delete(sys_id).id == sys_id
    with pytest.raises(NotFoundError) as caught:
        incidents.get(sys_id)
    assert caught.value.code == ErrorCode.NOT_FOUND


def test_5_connects_by_oauth(state: State) -> None:
    service = urlsplit(state.causeway.url)
    callback_url = f"{service.scheme}://{service.netloc}/oauth/callback"
    url = state.causeway.elements.get_o_auth_url(
        "salesforce",
        api_key="demo-client",
        api_secret="demo-secret",
        state=LANGUAGE,
        callback_url=callback_url,
        simulator=True,
    ).oauth_url
    page = httpx.get(f"{url}&auto=approve", follow_redirects=False)
    [code] = parse_qs(urlsplit(page.headers["location"]).query)["code"]
    instance = state.causeway.instances.create_instance(
        InstanceCreate(
            element=InstanceElement(key="salesforce"),
            name=f"{LANGUAGE}: by OAuth",
            provider_data=InstanceProviderGrant(code=code, state=LANGUAGE),
            configuration={
                "oauth.api.key": "demo-client",
                "oauth.api.secret": "demo-secret",
                "oauth.callback.url": callback_url,
                "simulator": True,
            },
        )
    )
    assert instance.valid
    state.causeway.instances.delete_instance(instance.id)


def test_6_explains_a_query(state: State) -> None:
    filter = where("priority = ? AND short_description LIKE ?", 1, "a%")
    explained = state.account.query.explain_query(QueryExplain(object_name="incident", where=filter))
    assert explained.parsed == filter
    assert any(predicate.pushed and predicate.exactness == "exact" for predicate in explained.predicates)


def test_7_gets_every_value_to_the_service_as_it_is(state: State) -> None:
    def parsed(filter: str) -> str:
        return state.account.query.explain_query({"objectName": "incident", "where": filter}).parsed or ""

    def send_texts(texts: List[str]) -> None:
        filter = where("short_description IN (?)", texts)
        if len(filter.encode()) > LONGEST_FILTER:
            half = len(texts) // 2
            send_texts(texts[:half])
            send_texts(texts[half:])
            return
        assert texts_in(parsed(filter)) == list(dict.fromkeys(texts))

    def members(filter: str) -> List[str]:
        found = re.search(r" IN \((.*)\)$", parsed(filter))
        assert found is not None
        return found[1].split(", ")

    chance = random.Random(17)
    texts = hostile_texts(10_000, chance)
    assert len(texts) == 10_000
    for at in range(0, len(texts), LIST_LENGTH):
        send_texts(texts[at : at + LIST_LENGTH])
    numbers = [chance.randrange(-(10**9), 10**9) for _ in range(100)]
    assert [int(text) for text in members(where("priority IN (?)", numbers))] == numbers
    start = datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    times = [start + timedelta(milliseconds=chance.randrange(10**12)) for _ in range(100)]
    read = [datetime.fromisoformat(text.replace("Z", "+00:00")) for text in members(where("sys_created_on IN (?)", times))]
    assert read == times
    assert parsed(where("active = ?", True)) == "active = TRUE"
    assert parsed(where("active = ?", False)) == "active = FALSE"


def test_8_says_where_a_filter_is_wrong(state: State) -> None:
    with pytest.raises(WhereError) as caught:
        state.account.records("incident").list(where=where("short_descriptio = ?", "x"))
    error = caught.value
    assert (error.code, error.status, error.position, error.length) == (ErrorCode.WHERE_INVALID, 400, 0, 16)
    assert error.suggestion == "short_description"
    assert re.fullmatch(r"[0-9a-f-]{36}", error.request_id or "")


def test_9_receives_an_event_and_verifies_it(state: State) -> None:
    causeway = state.causeway
    incidents = state.account.records("incident")
    until(lambda: any(poll.last_success_date for poll in causeway.instances.list_instance_polls(state.instance_id)))
    sys_id = incidents.create({"short_description": "An event", "caller_id": state.caller_id})["sys_id"]

    def of_incident() -> Optional[Delivery]:
        names = (b'"incident.created"', f'"objectId":"{sys_id}"'.encode())
        return next((it for it in state.receiver.deliveries if all(name in it[0] for name in names)), None)

    until(lambda: of_incident() is not None)
    body, headers = of_incident() or pytest.fail()
    [secret] = [
        causeway.notifications.get_subscription(subscription.id).secret
        for subscription in causeway.all(causeway.notifications.list_subscriptions)
        if subscription.config.url == state.receiver.url
    ]
    event = verify_event(body, headers, secret)
    assert (event.type, event.data.object_id) == ("incident.created", sys_id)
    assert verify_event(body, headers, [ANOTHER_SECRET, secret]) == event
    with pytest.raises(SignatureError):
        verify_event(body.replace(b"created", b"creates", 1), headers, secret)
    with pytest.raises(SignatureError):
        verify_event(body, headers, ANOTHER_SECRET)
    incidents.delete(sys_id)


def test_10_downloads_in_bulk(state: State, tmp_path: Path) -> None:
    fields = ["sys_id", "number"]
    ids = [row["sys_id"] for row in state.account.bulk.rows("incident", fields=fields)]
    rows = state.account.records("incident").list(fields=fields, page_size=5000)
    assert sorted(ids) == sorted(row["sys_id"] for row in rows)
    assert len(ids) == len(set(ids))
    download = state.account.bulk.start("incident", fields=fields, format="csv")
    download.wait()
    download.to_file(tmp_path / "incidents.csv")
    assert (tmp_path / "incidents.csv").read_bytes().count(b"\r\n") == len(rows) + 1
    download.delete()


def test_3_and_10_asynchronously(state: State) -> None:
    async def ask() -> None:
        assert state.instance is not None
        async with AsyncCauseway.from_environment(element_token=state.instance.token) as causeway:
            incidents = causeway.records("incident")
            rows = [row async for row in incidents.all(where=where("priority = ?", 1), page_size=7)]
            assert len(rows) > 7
            assert sorted(row["sys_id"] for row in rows) == sorted({row["sys_id"] for row in rows})
            downloaded = [row async for row in causeway.bulk.rows("incident", where=where("priority = ?", 1))]
            assert {row["sys_id"] for row in downloaded} == {row["sys_id"] for row in rows}
            with pytest.raises(NotFoundError):
                await incidents.get("nothing")

    asyncio.run(ask())


def test_11_deletes_the_account(state: State) -> None:
    assert state.causeway.instances.delete_instance(state.instance_id).id == state.instance_id


def until(condition: Callable[[], bool]) -> None:
    for _ in range(MOST_POLLS):
        if condition():
            return
        time.sleep(POLL_SECONDS)
    pytest.fail("It did not come to be.")
