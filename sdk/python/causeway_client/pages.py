"""Iteration over all pages of a list."""

from __future__ import annotations

from typing import Any, AsyncIterator, Awaitable, Callable, Iterator, Optional, TypeVar

from causeway_client._call import Page

T = TypeVar("T")


def all_of(list_page: Callable[..., Page[T]], **parameters: Any) -> Iterator[T]:
    """Iterates over all entries of a list; `list_page` is an operation that accepts `next_page`."""
    next_page: Optional[str] = None
    while True:
        page = list_page(**parameters, next_page=next_page)
        yield from page
        next_page = page.next_page
        if next_page is None:
            return


async def all_of_async(list_page: Callable[..., Awaitable[Page[T]]], **parameters: Any) -> AsyncIterator[T]:
    """Iterates over all entries of a list; `list_page` is an asynchronous operation that accepts `next_page`."""
    next_page: Optional[str] = None
    while True:
        page = await list_page(**parameters, next_page=next_page)
        for entry in page:
            yield entry
        next_page = page.next_page
        if next_page is None:
            return
