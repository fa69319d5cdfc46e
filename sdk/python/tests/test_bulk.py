from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any, List

import pytest
from conftest import Both
from service import Reply, error, serving

from causeway_client import BulkJobError, CausewayError, NetworkError

ROWS = [{"id": number, "name": "é" * number} for number in range(1, 8)]
FILE = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in ROWS)
TAG = {"ETag": '"v1"'}


def job(status: str, **more: Any) -> Reply:
    return Reply(
        body={
            "id": 5,
            "status": status,
            "instanceId": 1,
            "objectName": "x",
            "jobDirection": "DOWNLOAD",
            "recordsCount": 7,
            "recordsFailedCount": 0,
            "fileFormat": "csv",
            "fileSize": 1,
            "fileName": "x.csv",
            "createdDate": "2026-03-01T09:30:00.000Z",
            **more,
        }
    )


CREATED = Reply(body={"id": 5, "status": "CREATED", "instanceId": 1})


def part(start: int, break_after: int | None = None) -> Reply:
    headers = {**TAG, "Content-Range": f"bytes {start}-{len(FILE) - 1}/{len(FILE)}"}
    return Reply(206, FILE[start:], headers, break_after=break_after)


def test_rows_of_a_query(both: Both) -> None:
    seen: List[str] = []
    with serving(CREATED, job("CREATED"), job("RUNNING"), job("COMPLETED"), Reply(body=FILE, headers=TAG)) as service:
        rows = both.run(
            service,
            lambda it: it.bulk.rows(
                "x", where="a = 1", fields=["id", "name"], order_by="id", limit=7, on_progress=lambda job: seen.append(job.status)
            ),
        )
    assert rows == ROWS
    assert seen == ["CREATED", "RUNNING", "COMPLETED"]
    assert len(both.pauses) == 2
    assert service.asked[0].json() == {
        "objectName": "x", "where": "a = 1", "fields": "id,name", "orderBy": "id", "limit": 7, "format": "jsonl",
    }  # fmt: skip
    assert (service.asked[-1].path, service.asked[-1].headers["Accept"]) == ("/elements/api-v2/bulk/5/x", "application/x-ndjson")
    assert service.asked[-1].headers["Accept-Encoding"] == "identity"


def rows_of(it: Any) -> Any:
    from causeway_client.bulk import AsyncBulkDownload, AsyncBulkDownloads, BulkDownload

    kind = AsyncBulkDownload if isinstance(it.bulk, AsyncBulkDownloads) else BulkDownload
    return kind(it.bulk, 5, "x").rows()


def test_a_download_goes_on_where_it_broke(both: Both) -> None:
    replies = [Reply(body=FILE, headers=TAG, break_after=30), error(503, "OVERLOADED"), part(30, 1), part(31)]
    with serving(*replies) as service:
        assert both.run(service, rows_of) == ROWS
    ranges = [(asked.headers["Range"], asked.headers["If-Range"]) for asked in service.asked]
    assert ranges == [(None, None), ("bytes=30-", '"v1"'), ("bytes=30-", '"v1"'), ("bytes=31-", '"v1"')]


def test_a_file_that_changed_is_not_mixed(both: Both) -> None:
    with serving(Reply(body=FILE, headers=TAG, break_after=30), Reply(body=FILE, headers={"ETag": '"v2"'})) as service:
        with pytest.raises(CausewayError, match="changed while it was read"):
            both.run(service, rows_of)


def test_a_download_that_gets_no_further_ends(both: Both) -> None:
    replies = [Reply(body=FILE, headers=TAG, break_after=30), *[Reply(206, FILE[30:], TAG, break_after=0)] * 30]
    with serving(*replies) as service, pytest.raises(NetworkError):
        both.run(service, rows_of, retries=1)


def test_a_download_without_a_tag_cannot_go_on(both: Both) -> None:
    with serving(Reply(body=FILE, break_after=30)) as service, pytest.raises(NetworkError):
        both.run(service, rows_of)
    assert len(service.asked) == 1


@pytest.mark.parametrize("status", ["FAILED", "CANCELLED"])
def test_a_job_that_comes_to_nothing(both: Both, status: str) -> None:
    errors = Reply(body=[{"code": "PROVIDER_UNAVAILABLE", "message": "It is away."}])
    with (
        serving(CREATED, job(status), errors) as service,
        pytest.raises(BulkJobError, match=f"5 is {status}: It is away") as caught,
    ):
        both.run(service, lambda it: it.bulk.rows("x"))
    assert caught.value.job.status == status
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_file(both: Both, tmp_path: Path) -> None:
    target = tmp_path / "x.csv"
    with serving(CREATED, job("COMPLETED"), Reply(body=b"a\r\n1\r\n", headers=TAG)) as service:

        def ask(it: Any) -> Any:
            started = it.bulk.start("x", format="csv")
            if not hasattr(started, "__await__"):
                return started.to_file(target)

            async def to_file() -> None:
                await (await started).to_file(target)

            return to_file()

        both.run(service, ask)
    assert target.read_bytes() == b"a\r\n1\r\n"
    assert service.asked[0].json()["format"] == "csv"
    assert service.asked[-1].headers["Accept"] == "text/csv"


def test_who_reads_no_further_leaves_no_connection_open() -> None:
    from service import SECRETS

    from causeway_client import Causeway

    with serving(Reply(body=FILE, headers=TAG), Reply(body={"id": 5})) as service:
        with Causeway(*SECRETS, url=service.url) as causeway:
            rows = rows_of(causeway)
            assert next(rows) == ROWS[0]
            rows.close()
            pool: Any = causeway._transport._client._transport
            assert not [connection for connection in pool._pool.connections if not connection.is_idle()]


def test_misspelt_members(both: Both) -> None:
    with serving() as service, pytest.raises(TypeError, match="no orderBy2"):
        both.run(service, lambda it: it.bulk.rows("x", orderBy2="id"))
    assert service.asked == []
