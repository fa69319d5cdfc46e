"""Downloads of any number of records. They wait for their job and resume after a broken connection."""

from __future__ import annotations

import json
import os
from typing import Any, AsyncIterator, Callable, Dict, Iterator, Optional, Sequence, Union, cast

import anyio

from causeway_client._call import AsyncRunner, Runner
from causeway_client._flow import Flow, Give, Pause, Read
from causeway_client._session import Session
from causeway_client._transport import AsyncTransport, Transport
from causeway_client.api import bulk_api
from causeway_client.api.bulk_api import AsyncBulkApi, BulkApi
from causeway_client.errors import CallTimeoutError, CausewayError, NetworkError
from causeway_client.models.bulk_file_format import BulkFileFormat
from causeway_client.models.bulk_job import BulkJob
from causeway_client.models.bulk_job_status import BulkJobStatus
from causeway_client.models.bulk_query import BulkQuery
from causeway_client.records import ObjectRecord

OnProgress = Callable[[BulkJob], Any]

_MEDIA_TYPES = {"csv": "text/csv", "jsonl": "application/x-ndjson"}


class BulkJobError(CausewayError):
    """A bulk job failed or was cancelled."""

    def __init__(self, job: BulkJob, reason: str) -> None:
        super().__init__(job, reason)
        self.job = job
        self.reason = reason

    def __str__(self) -> str:
        return f"The bulk job {self.job.id} is {self.job.status}: {self.reason}"


def _wait(session: Session, job_id: int, on_progress: Optional[OnProgress]) -> Flow[BulkJob]:
    attempt = 1
    while True:
        job = yield from session.flow(bulk_api._get_bulk_status(job_id))
        if on_progress is not None:
            on_progress(job)
        if job.status == BulkJobStatus.COMPLETED:
            return job
        if job.status in (BulkJobStatus.FAILED, BulkJobStatus.CANCELLED):
            errors = yield from session.flow(bulk_api._list_bulk_errors(job_id))
            raise BulkJobError(job, errors[0].message if errors else "the service gives no reason.")
        yield Pause(session.retries.pause(attempt))
        attempt += 1


def _chunks(session: Session, job_id: int, object_name: str, media_type: Optional[str]) -> Flow[None]:
    """Reads a file. After a broken connection it requests the rest, as long as each new connection makes progress."""
    if media_type is None:
        job = yield from session.flow(bulk_api._get_bulk_status(job_id))
        media_type = _MEDIA_TYPES.get(job.file_format, "*/*")
    count = 0
    tag: Optional[str] = None
    failures = 0
    while True:
        # `identity`, because positions count the stored bytes.
        headers = {"Accept": media_type, "Accept-Encoding": "identity"}
        if tag is not None:
            headers.update({"Range": f"bytes={count}-", "If-Range": tag})
        answer = yield from session.open_flow(bulk_api._get_bulk_file(job_id, object_name), headers)
        if tag is not None and answer.status != 206:
            raise CausewayError("The file changed while it was read.")
        tag = tag or answer.headers.get("etag")
        length = answer.headers.get("content-length")
        end = None if length is None else count + int(length)
        try:
            while True:
                part = yield Read(answer)
                if part is None:
                    return
                count += len(part)
                failures = 0
                yield Give(part)
        except (NetworkError, CallTimeoutError):
            if count == end:
                return
            failures += 1
            if tag is None or failures > session.retries.limit:
                raise
            yield Pause(session.retries.pause(failures))


class _Lines:
    """Splits the parts of a file into lines."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, part: bytes) -> Iterator[ObjectRecord]:
        *lines, self._rest = (self._rest + part).split(b"\n")
        return self._rows(lines)

    def end(self) -> Iterator[ObjectRecord]:
        return self._rows([self._rest])

    @staticmethod
    def _rows(lines: Sequence[bytes]) -> Iterator[ObjectRecord]:
        return (cast(ObjectRecord, json.loads(line)) for line in lines if line.strip())


def _bulk_query(
    object_name: str,
    where: Optional[str],
    fields: Optional[Sequence[str]],
    format: Union[BulkFileFormat, str],
    rest: Dict[str, Any],
) -> BulkQuery:
    joined = fields if fields is None or isinstance(fields, str) else ",".join(fields)
    query = BulkQuery(object_name=object_name, where=where, fields=joined, format=BulkFileFormat(format), **rest)
    if query.model_extra:
        raise TypeError(f"A bulk query has no {', no '.join(query.model_extra)}.")
    return query


class BulkDownload:
    """A bulk download."""

    def __init__(self, api: BulkDownloads, id: int, object_name: str) -> None:
        self._api = api
        self.id = id
        self.object_name = object_name

    def status(self) -> BulkJob:
        return self._api.get_bulk_status(self.id)

    def wait(self, on_progress: Optional[OnProgress] = None) -> BulkJob:
        """Waits until the job has ended, with status requests at growing intervals.

        :raises BulkJobError: when it failed or was cancelled
        """
        return self._api._transport.run(_wait(self._api._session, self.id, on_progress))

    def rows(self) -> Iterator[ObjectRecord]:
        """Iterates over the rows of the file as they arrive."""
        lines = _Lines()
        for part in self._chunks("application/x-ndjson"):
            yield from lines.take(part)
        yield from lines.end()

    def chunks(self) -> Iterator[bytes]:
        """Iterates over the bytes of the file, in the format of the job."""
        return self._chunks(None)

    def to_file(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the file to a path, in the format of the job."""
        with open(path, "wb") as file:
            for part in self.chunks():
                file.write(part)

    def cancel(self) -> BulkJob:
        return self._api.cancel_bulk_job(self.id)

    def delete(self) -> None:
        """Deletes the job with its file."""
        self._api.delete_bulk_job(self.id)

    def _chunks(self, media_type: Optional[str]) -> Iterator[bytes]:
        return self._api._transport.iterate(_chunks(self._api._session, self.id, self.object_name, media_type))


class BulkDownloads(BulkApi):
    """The operations on bulk jobs, and downloads."""

    def __init__(self, runner: Runner, transport: Transport, session: Session) -> None:
        super().__init__(runner)
        self._transport = transport
        self._session = session

    def start(
        self,
        object_name: str,
        *,
        where: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        format: Union[BulkFileFormat, str] = BulkFileFormat.JSONL,
        **rest: Any,
    ) -> BulkDownload:
        """Starts a download. Its rows are available when its job has completed.

        :param rest: further members of a BulkQuery, such as `order_by` and `limit`
        """
        job = self.create_bulk_query(bulk_query=_bulk_query(object_name, where, fields, format, rest))
        return BulkDownload(self, job.id, object_name)

    def rows(
        self,
        object_name: str,
        *,
        where: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        on_progress: Optional[OnProgress] = None,
        **rest: Any,
    ) -> Iterator[ObjectRecord]:
        """Iterates over all rows of a query: starts the job, waits for it, and reads its file.

        :raises BulkJobError: when the job failed or was cancelled
        """
        download = self.start(object_name, where=where, fields=fields, **rest)
        download.wait(on_progress)
        yield from download.rows()


class AsyncBulkDownload:
    """A bulk download."""

    def __init__(self, api: AsyncBulkDownloads, id: int, object_name: str) -> None:
        self._api = api
        self.id = id
        self.object_name = object_name

    async def status(self) -> BulkJob:
        return await self._api.get_bulk_status(self.id)

    async def wait(self, on_progress: Optional[OnProgress] = None) -> BulkJob:
        """Waits until the job has ended, with status requests at growing intervals.

        :raises BulkJobError: when it failed or was cancelled
        """
        return await self._api._transport.run(_wait(self._api._session, self.id, on_progress))

    async def rows(self) -> AsyncIterator[ObjectRecord]:
        """Iterates over the rows of the file as they arrive."""
        lines = _Lines()
        async for part in self._chunks("application/x-ndjson"):
            for row in lines.take(part):
                yield row
        for row in lines.end():
            yield row

    def chunks(self) -> AsyncIterator[bytes]:
        """Iterates over the bytes of the file, in the format of the job."""
        return self._chunks(None)

    async def to_file(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the file to a path, in the format of the job."""
        async with await anyio.open_file(path, "wb") as file:
            async for part in self.chunks():
                await file.write(part)

    async def cancel(self) -> BulkJob:
        return await self._api.cancel_bulk_job(self.id)

    async def delete(self) -> None:
        """Deletes the job with its file."""
        await self._api.delete_bulk_job(self.id)

    def _chunks(self, media_type: Optional[str]) -> AsyncIterator[bytes]:
        return self._api._transport.iterate(_chunks(self._api._session, self.id, self.object_name, media_type))


class AsyncBulkDownloads(AsyncBulkApi):
    """The operations on bulk jobs, and downloads."""

    def __init__(self, runner: AsyncRunner, transport: AsyncTransport, session: Session) -> None:
        super().__init__(runner)
        self._transport = transport
        self._session = session

    async def start(
        self,
        object_name: str,
        *,
        where: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        format: Union[BulkFileFormat, str] = BulkFileFormat.JSONL,
        **rest: Any,
    ) -> AsyncBulkDownload:
        """Starts a download. Its rows are available when its job has completed.

        :param rest: further members of a BulkQuery, such as `order_by` and `limit`
        """
        job = await self.create_bulk_query(bulk_query=_bulk_query(object_name, where, fields, format, rest))
        return AsyncBulkDownload(self, job.id, object_name)

    async def rows(
        self,
        object_name: str,
        *,
        where: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        on_progress: Optional[OnProgress] = None,
        **rest: Any,
    ) -> AsyncIterator[ObjectRecord]:
        """Iterates over all rows of a query: starts the job, waits for it, and reads its file.

        :raises BulkJobError: when the job failed or was cancelled
        """
        download = await self.start(object_name, where=where, fields=fields, **rest)
        await download.wait(on_progress)
        async for row in download.rows():
            yield row
