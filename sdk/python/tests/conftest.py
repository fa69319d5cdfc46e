from __future__ import annotations

import asyncio
import inspect
from typing import Any, Callable, List

import pytest
from service import SECRETS, Service

from causeway_client import AsyncCauseway, Causeway


class Both:
    """Runs the same on the synchronous and on the asynchronous client."""

    def __init__(self, is_async: bool) -> None:
        self._is_async = is_async
        #: The pauses that were asked for and not made.
        self.pauses: List[float] = []

    def run(self, service: Service, ask: Callable[[Any], Any], **options: Any) -> Any:
        """What comes of `ask`, a list where it is an iteration."""
        if not self._is_async:
            with Causeway(*SECRETS, url=service.url, **options) as causeway:
                causeway._transport._sleep = self.pauses.append
                result = ask(causeway)
                return list(result) if inspect.isgenerator(result) else result
        return asyncio.run(self._run(service, ask, options))

    async def _run(self, service: Service, ask: Callable[[Any], Any], options: Any) -> Any:
        async def pause(seconds: float) -> None:
            self.pauses.append(seconds)

        async with AsyncCauseway(*SECRETS, url=service.url, **options) as causeway:
            causeway._transport._sleep = pause
            result = ask(causeway)
            if inspect.isasyncgen(result):
                return [entry async for entry in result]
            return await result if inspect.isawaitable(result) else result


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def both(request: pytest.FixtureRequest) -> Both:
    return Both(request.param)
