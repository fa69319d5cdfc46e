from __future__ import annotations

import asyncio
import io
import logging
import pickle
import traceback
from datetime import datetime, timezone
from typing import Any, Callable, Dict

import httpx
import pytest
from conftest import Both
from service import SECRETS, Reply, error, serving

from causeway_client import (
    ApiError,
    AsyncCauseway,
    CallTimeoutError,
    Causeway,
    CausewayError,
    ErrorCode,
    NetworkError,
    NotFoundError,
    ProviderError,
    RateLimitedError,
    WhereError,
    where,
)
from causeway_client.models import InstanceUpdate

NEXT = "Elements-Next-Page-Token"


def test_a_call_on_an_instance(both: Both) -> None:
    with serving(
        Reply(body=[{"id": 1}], headers={NEXT: "t", "Elements-Total-Count": "7", "Elements-Query-Pushdown": "full"})
    ) as service:
        page = both.run(
            service,
            lambda it: it.records("incident").list(
                where=where("name = ?", "a&b=c é"), fields=["id", "name"], order_by="name desc", page_size=5, mode="pushdown-only"
            ),
            account_id=12,
        )
    [asked] = service.asked
    query = "where=name%20%3D%20%27a%26b%3Dc%20%C3%A9%27&fields=id%2Cname&orderBy=name%20desc&pageSize=5"
    assert (asked.method, asked.path) == ("GET", f"/elements/api-v2/incident?{query}")
    assert asked.headers["Authorization"] == "User user-secret, Organization organization-secret, Element element-token"
    assert asked.headers["Elements-Account-Id"] == "12"
    assert asked.headers["Elements-Query-Mode"] == "pushdown-only"
    assert asked.headers["User-Agent"].startswith("causeway-python/")
    assert page == [{"id": 1}]
    assert (page.next_page, page.total_count, page.pushdown, page.partial) == ("t", 7, "full", None)


def test_a_call_on_the_platform_shows_no_token_of_an_instance(both: Both) -> None:
    with serving(Reply(body=[])) as service:
        both.run(service, lambda it: it.instances.list_instances(tags=["a", "b c"]))
    assert service.asked[0].headers["Authorization"] == "User user-secret, Organization organization-secret"
    assert service.asked[0].path == "/elements/api-v2/instances?tags%5B%5D=a&tags%5B%5D=b%20c"


def test_bodies(both: Both) -> None:
    with serving(Reply(body={"id": "1"}), Reply(body={"id": 1})) as service:
        record = {"at": datetime(2026, 1, 31, tzinfo=timezone.utc), "name": "é", "none": None}
        both.run(service, lambda it: it.records("x").create(record))
        with pytest.raises(CausewayError, match=r"does not match the specification: name: Field required"):
            both.run(service, lambda it: it.instances.update_instance(1, InstanceUpdate(name="n", tags=[])))
    created, updated = service.asked
    assert created.json() == {"at": "2026-01-31T00:00:00Z", "name": "é", "none": None}
    assert created.headers["Content-Type"] == "application/json"
    assert len(created.headers["Idempotency-Key"]) == 36
    assert (updated.method, updated.json()) == ("PATCH", {"name": "n", "tags": []})
    assert updated.headers["Idempotency-Key"] is None


def test_all_pages(both: Both) -> None:
    pages = (
        Reply(body=[{"id": 1}, {"id": 2}], headers={NEXT: "t/2"}),
        Reply(body=[], headers={NEXT: "t3"}),
        Reply(body=[{"id": 3}]),
    )
    with serving(*pages) as service:
        rows = both.run(service, lambda it: it.records("x").all(page_size=2, where="a = 1"))
    assert [row["id"] for row in rows] == [1, 2, 3]
    assert [asked.path.partition("?")[2] for asked in service.asked] == [
        "where=a%20%3D%201&pageSize=2",
        "where=a%20%3D%201&pageSize=2&nextPage=t%2F2",
        "where=a%20%3D%201&pageSize=2&nextPage=t3",
    ]


def test_all_pages_of_the_platform(both: Both) -> None:
    with serving(Reply(body=["a"], headers={NEXT: "2"}), Reply(body=["b"])) as service:
        assert both.run(service, lambda it: it.all(it.elements.list_element_keys, page_size=1)) == ["a", "b"]
    assert service.asked[1].path.endswith("/elements/keys?pageSize=1&nextPage=2")


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (404, "NOT_FOUND", NotFoundError),
        (400, "WHERE_INVALID", WhereError),
        (400, "WHERE_SYNTAX", WhereError),
        (400, "WHERE_UNSUPPORTED", WhereError),
        (422, "PROVIDER_REJECTED", ProviderError),
        (424, "INSTANCE_CREDENTIALS_FAILED", ProviderError),
        (409, "CONFLICT", ApiError),
        (418, "OF_A_NEWER_SERVICE", ApiError),
    ],
)
def test_errors_by_code(both: Both, status: int, code: str, kind: type) -> None:
    details = [{"message": "m"}, {"message": "m", "position": 4, "length": 2, "nearest": "n"}]
    with serving(error(status, code, details=details, providerMessage="p")) as service, pytest.raises(ApiError) as caught:
        both.run(service, lambda it: it.objects.ping())
    failure = caught.value
    assert type(failure) is kind
    assert (failure.status, failure.code, failure.request_id, failure.provider_message) == (status, code, "r-1", "p")
    assert isinstance(failure.code, ErrorCode)
    assert str(failure) == f"It is {code}. ({code}, status {status}, request r-1)"
    if isinstance(failure, WhereError):
        assert (failure.position, failure.length, failure.suggestion) == (4, 2, "n")


@pytest.mark.parametrize("body", [b"<html>", b"", b"[]", b'{"message": 1, "code": 2}', b"\xff"])
def test_an_answer_of_another(both: Both, body: bytes) -> None:
    with serving(Reply(413, body, {"Elements-Request-Id": "r-9"})) as service, pytest.raises(ApiError) as caught:
        both.run(service, lambda it: it.objects.ping())
    assert (caught.value.code, caught.value.request_id) == ("HTTP_413", "r-9")


def test_what_fails_for_a_moment_is_asked_again(both: Both) -> None:
    slow = error(429, "RATE_LIMITED", headers={"Retry-After": "3"})
    with serving(slow, Reply(break_after=0), error(503, "OVERLOADED"), Reply(body={"id": "7"})) as service:
        assert both.run(service, lambda it: it.records("x").create({"a": 1})) == {"id": "7"}
    assert len({asked.headers["Idempotency-Key"] for asked in service.asked}) == 1
    assert len(service.asked) == 4
    assert 3 <= both.pauses[0] <= 3.25


def test_too_many_failures(both: Both) -> None:
    with serving(*[error(429, "RATE_LIMITED")] * 3) as service, pytest.raises(RateLimitedError):
        both.run(service, lambda it: it.objects.ping(), retries=2)
    assert len(service.asked) == 3


def test_a_broken_answer(both: Both) -> None:
    with serving(*[Reply(body={"id": "7"}, break_after=3)] * 2) as service, pytest.raises(NetworkError) as caught:
        both.run(service, lambda it: it.records("x").get("7"), retries=1)
    assert isinstance(caught.value.__cause__, httpx.RemoteProtocolError)


def test_no_service(both: Both) -> None:
    with serving() as service:
        pass
    with pytest.raises(NetworkError):
        both.run(service, lambda it: it.objects.ping(), retries=1)
    assert len(both.pauses) == 1


def test_no_answer_in_time(both: Both) -> None:
    with serving(Reply(hang=True), Reply(hang=True)) as service, pytest.raises(CallTimeoutError) as caught:
        both.run(service, lambda it: it.objects.ping(), retries=1, timeout=0.05)
    assert isinstance(caught.value, TimeoutError)
    assert len(both.pauses) == 1


def test_a_task_can_be_cancelled() -> None:
    async def ask(url: str) -> None:
        async with AsyncCauseway(*SECRETS, url=url) as causeway:
            task = asyncio.create_task(causeway.objects.ping())
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with serving(Reply(hang=True)) as service:
        asyncio.run(ask(service.url))
        assert len(service.asked) == 1


@pytest.mark.parametrize("object_id", ["", ".", ".."])
def test_ids_that_would_name_something_else(both: Both, object_id: str) -> None:
    with serving() as service, pytest.raises(ValueError, match="objectId"):
        both.run(service, lambda it: it.records("x").delete(object_id))
    assert service.asked == []


def test_ids_are_encoded(both: Both) -> None:
    with serving(Reply(body={"id": "x"})) as service:
        both.run(service, lambda it: it.records("a/b").delete("../c?d#e %"))
    assert service.asked[0].path == "/elements/api-v2/a%2Fb/..%2Fc%3Fd%23e%20%25"


@pytest.mark.parametrize("is_stream", [False, True])
def test_files(both: Both, is_stream: bool) -> None:
    replies = (error(429, "RATE_LIMITED"), Reply(body={"id": "7"}), error(503, "OVERLOADED"), Reply(body=b"%PDF"))
    with serving(*replies) as service:
        file = io.BytesIO(b"%PDF") if is_stream else b"%PDF"
        sent = {"name": "a.pdf", "media_type": "application/pdf"}
        assert both.run(service, lambda it: it.records("files").create_file({"path": "/é"}, file, **sent)) == {"id": "7"}
        with pytest.raises(ApiError):
            both.run(service, lambda it: it.records("files").replace_file(7, {}, file, **sent))
        assert both.run(service, lambda it: it.records("files").file(7, "application/pdf")).content == b"%PDF"
    first, again, replaced, got = service.asked
    for asked in (first, again):
        assert asked.headers["Content-Type"].startswith("multipart/form-data; boundary=")
        assert asked.headers["Idempotency-Key"] is None
        assert asked.body.index('{"path": "/é"}'.encode()) < asked.body.index(b'name="file"; filename="a.pdf"')
        assert b"Content-Type: application/pdf\r\n\r\n%PDF\r\n" in asked.body
    assert (replaced.method, replaced.path) == ("PUT", "/elements/api-v2/files/7")
    assert (got.method, got.headers["Accept"]) == ("GET", "application/pdf")


def test_a_stream_that_cannot_begin_anew_is_sent_once(both: Both) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    with serving(error(429, "RATE_LIMITED"), Reply(body={})) as service, pytest.raises(RateLimitedError):
        both.run(service, lambda it: it.records("files").create_file({}, Pipe(b"x"), name="x"))
    assert len(service.asked) == 1


def test_passthrough(both: Both) -> None:
    with serving(Reply(503, b"\x00raw", {"X-Provider": "yes"})) as service:
        answer = both.run(
            service,
            lambda it: it.passthrough("/Orders('A-1')?$top=1", method="POST", headers={"If-Match": "*"}, content=b"{}"),
        )
    [asked] = service.asked
    assert (answer.status, answer.content, answer.headers["x-provider"]) == (503, b"\x00raw", "yes")
    assert (asked.method, asked.path) == ("POST", "/elements/api-v2/passthrough/Orders('A-1')?$top=1")
    assert (asked.headers["If-Match"], asked.body) == ("*", b"{}")


def test_a_call_on_an_instance_needs_one() -> None:
    with Causeway("u", "o") as causeway, pytest.raises(CausewayError, match="with_instance"):
        causeway.objects.ping()


def test_with_instance(both: Both) -> None:
    with serving(Reply(body=[])) as service:
        both.run(service, lambda it: it.with_instance("another").records("x").list())
    assert service.asked[0].headers["Authorization"].endswith(", Element another")


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://localhost:8080", "http://localhost:8080/elements/api-v2"),
        ("http://localhost:8080/", "http://localhost:8080/elements/api-v2"),
        ("https://example.com/own/path/", "https://example.com/own/path"),
    ],
)
def test_urls(given: str, url: str) -> None:
    with Causeway("u", "o", url=given) as causeway:
        assert causeway.url == url


@pytest.mark.parametrize("url", ["", "localhost:8080", "ftp://x", "http://x?a=b", "http://x#y", "http://u:p@x"])
def test_what_is_no_url(url: str) -> None:
    with pytest.raises(ValueError, match="The URL of a service"):
        Causeway("u", "o", url=url)


def test_from_the_environment() -> None:
    variables = {"CAUSEWAY_URL": "http://x", "CAUSEWAY_USER_SECRET": "u", "CAUSEWAY_ORGANIZATION_SECRET": "o"}
    with Causeway.from_environment({**variables, "CAUSEWAY_ELEMENT_TOKEN": "e"}) as causeway:
        assert repr(causeway) == "<Causeway of http://x/elements/api-v2, bound to an instance>"
    with Causeway.from_environment({**variables, "CAUSEWAY_ELEMENT_TOKEN": ""}) as causeway:
        assert repr(causeway) == "<Causeway of http://x/elements/api-v2>"
    with pytest.raises(CausewayError, match="CAUSEWAY_URL, CAUSEWAY_ORGANIZATION_SECRET"):
        Causeway.from_environment({"CAUSEWAY_USER_SECRET": "u"})


def test_an_access_key() -> None:
    with serving(Reply(body=[]), Reply(body=[]), Reply(body=[])) as service:
        with Causeway(key="ck_1", url=service.url) as causeway:
            causeway.hubs.list_hubs()
            causeway.records("x").list()
            causeway.with_instance(3).records("x").list()
            assert "ck_1" not in repr(causeway.with_instance(3))
    seen = [(asked.headers["Authorization"], asked.headers.get("Elements-Instance-Id")) for asked in service.asked]
    assert seen == [("Bearer ck_1", None), ("Bearer ck_1", None), ("Bearer ck_1", "3")]


def test_a_key_from_the_environment() -> None:
    variables = {"CAUSEWAY_URL": "http://x", "CAUSEWAY_KEY": "ck_1", "CAUSEWAY_USER_SECRET": "ignored"}
    with Causeway.from_environment({**variables, "CAUSEWAY_INSTANCE_ID": "3"}) as causeway:
        assert repr(causeway) == "<Causeway of http://x/elements/api-v2, bound to an instance>"
    with pytest.raises(CausewayError, match="CAUSEWAY_INSTANCE_ID must be the id"):
        Causeway.from_environment({**variables, "CAUSEWAY_INSTANCE_ID": "x"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "user_secret and organization_secret, or key"),
        ({"user_secret": "u", "organization_secret": "o", "key": "ck_1"}, "not both"),
        ({"key": "ck_1", "element_token": "e"}, "by its id"),
        ({"user_secret": "u", "organization_secret": "o", "instance_id": 3}, "by its token"),
    ],
)
def test_what_does_not_go_together(options: Dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Causeway(**options)


@pytest.mark.parametrize("secret", ["", "a b", "ends-with-a-line\n", "a,b", "é"])
def test_what_is_no_secret(secret: str) -> None:
    for secrets in ((secret, "o"), ("u", secret), ("u", "o", secret)):
        with pytest.raises(ValueError, match="no secret has") as caught:
            Causeway(*secrets)
        assert not secret or secret not in str(caught.value)


def test_errors_go_between_processes(both: Both) -> None:
    with serving(error(404, "NOT_FOUND", details=[{"message": "m", "nearest": "n"}])) as service:
        with pytest.raises(NotFoundError) as caught:
            both.run(service, lambda it: it.objects.ping())
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy), vars(copy)) == (NotFoundError, str(caught.value), vars(caught.value))


ASKS: Dict[str, Callable[[Any], Any]] = {
    "an error": lambda it: it.objects.ping(),
    "a wrong answer": lambda it: it.instances.get_instance(1),
}


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS.keys())
def test_secrets_are_never_shown(both: Both, ask: Callable[[Any], Any], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    token = Reply(body={"token": "element-token", "id": "x"})
    with serving(error(503, "OVERLOADED"), token, token) as service, pytest.raises(CausewayError) as caught:
        both.run(service, ask, retries=1)
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(vars(caught.value))
    with Causeway(*SECRETS) as causeway:
        shown += repr(causeway) + repr(causeway._session) + repr(causeway._session.request)
    assert not [secret for secret in SECRETS if secret in shown]
