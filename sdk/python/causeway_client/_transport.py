"""Executes the steps of flows: with blocking calls, or with `await`."""

from __future__ import annotations

import time
from typing import Any, AsyncIterator, Awaitable, Callable, Iterator, List, Optional, TypeVar

import anyio
import httpx

from causeway_client._flow import Answer, Flow, Give, Pause, Read, Request, Send, Step
from causeway_client.errors import CallTimeoutError, CausewayError, NetworkError

T = TypeVar("T")


def _failure_of(error: BaseException, timeout: float) -> CausewayError:
    if isinstance(error, (httpx.TimeoutException, TimeoutError)):
        return CallTimeoutError(f"The service did not respond within {timeout:g} s.")
    return NetworkError(f"The connection to the service failed or broke: {type(error).__name__}.")


def _answer_of(response: httpx.Response, content: bytes = b"", source: Any = None) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status_code, headers, content, source)


def _is_read_later(step: Send, response: httpx.Response) -> bool:
    return step.is_open and response.is_success


class Transport:
    """Executes flows with a client of httpx. Many clients can share its connection pool."""

    def __init__(
        self,
        client: Optional[httpx.Client],
        timeout: float,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._owned = client is None
        self._client = client or httpx.Client(follow_redirects=False)
        self._timeout = timeout
        self._sleep = sleep
        self._now = now

    def run(self, flow: Flow[T]) -> T:
        result: List[T] = []
        for _ in self.iterate(flow, result.append):
            pass
        return result[0]

    def iterate(self, flow: Flow[T], on_end: Callable[[T], Any] = lambda _: None) -> Iterator[Any]:
        """Iterates over the values of the flow. Close the iterator to stop early; this closes open streams."""
        opened: List[_Stream] = []
        try:
            step = next(flow)
            while True:
                if isinstance(step, Give):
                    yield step.value
                    step = next(flow)
                    continue
                try:
                    outcome = self._do(step, opened)
                except CausewayError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(outcome)
        except StopIteration as end:
            on_end(end.value)
        finally:
            flow.close()
            for stream in opened:
                stream.close()

    def close(self) -> None:
        if self._owned:
            self._client.close()

    def _do(self, step: Step, opened: List[_Stream]) -> Any:
        if isinstance(step, Pause):
            return self._sleep(step.seconds)
        if isinstance(step, Read):
            return self._guarded(lambda: step.answer.source.read())
        assert isinstance(step, Send)
        return self._guarded(lambda: self._send(step, opened))

    def _send(self, step: Send, opened: List[_Stream]) -> Answer:
        deadline = self._now() + self._timeout
        response = self._client.send(_built(self._client, step.request, self._timeout), stream=True)
        if _is_read_later(step, response):
            opened.append(_Stream(response))
            return _answer_of(response, source=opened[-1])
        try:
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if self._now() > deadline:
                    raise TimeoutError
            return _answer_of(response, bytes(content))
        finally:
            response.close()

    def _guarded(self, do: Callable[[], T]) -> T:
        try:
            return do()
        except (httpx.TransportError, httpx.DecodingError, TimeoutError) as error:
            raise _failure_of(error, self._timeout) from error


class _Stream:
    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._parts = response.iter_bytes()

    def read(self) -> Optional[bytes]:
        return next(self._parts, None)

    def close(self) -> None:
        self._response.close()


class AsyncTransport:
    """Executes flows with an asynchronous client of httpx. Many clients can share its connection pool."""

    def __init__(
        self,
        client: Optional[httpx.AsyncClient],
        timeout: float,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._owned = client is None
        self._client = client or httpx.AsyncClient(follow_redirects=False)
        self._timeout = timeout
        self._sleep = sleep

    async def run(self, flow: Flow[T]) -> T:
        result: List[T] = []
        async for _ in self.iterate(flow, result.append):
            pass
        return result[0]

    async def iterate(self, flow: Flow[T], on_end: Callable[[T], Any] = lambda _: None) -> AsyncIterator[Any]:
        """Iterates over the values of the flow. Close the iterator to stop early; this closes open streams."""
        opened: List[_AsyncStream] = []
        try:
            step = next(flow)
            while True:
                if isinstance(step, Give):
                    yield step.value
                    step = next(flow)
                    continue
                try:
                    outcome = await self._do(step, opened)
                except CausewayError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(outcome)
        except StopIteration as end:
            on_end(end.value)
        finally:
            flow.close()
            with anyio.CancelScope(shield=True):
                for stream in opened:
                    await stream.close()

    async def close(self) -> None:
        if self._owned:
            await self._client.aclose()

    async def _do(self, step: Step, opened: List[_AsyncStream]) -> Any:
        if isinstance(step, Pause):
            return await self._sleep(step.seconds)
        try:
            with anyio.fail_after(self._timeout):
                if isinstance(step, Read):
                    return await step.answer.source.read()
                assert isinstance(step, Send)
                return await self._send(step, opened)
        except (httpx.TransportError, httpx.DecodingError, TimeoutError) as error:
            raise _failure_of(error, self._timeout) from error

    async def _send(self, step: Send, opened: List[_AsyncStream]) -> Answer:
        response = await self._client.send(_built(self._client, step.request, self._timeout), stream=True)
        if _is_read_later(step, response):
            opened.append(_AsyncStream(response))
            return _answer_of(response, source=opened[-1])
        try:
            return _answer_of(response, await response.aread())
        finally:
            await response.aclose()


class _AsyncStream:
    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._parts = response.aiter_bytes()

    async def read(self) -> Optional[bytes]:
        return await anext(self._parts, None)

    async def close(self) -> None:
        await self._response.aclose()


def _built(client: httpx.Client | httpx.AsyncClient, request: Request, timeout: float) -> httpx.Request:
    form = request.form
    return client.build_request(
        request.method,
        request.url,
        headers=dict(request.headers),
        content=request.content,
        files=None
        if form is None
        else [
            ("metadata", (None, form.fields, "application/json")),
            ("file", (form.name, form.file, form.media_type)),
        ],
        timeout=timeout,
    )
