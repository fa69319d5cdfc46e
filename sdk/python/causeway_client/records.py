"""Access to the records of one object."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, AsyncIterator, BinaryIO, Dict, Iterator, Mapping, Optional, Sequence, Union

from causeway_client._call import Call, Page
from causeway_client._flow import Answer, Form
from causeway_client.api import records_api
from causeway_client.api.records_api import AsyncRecordsApi, RecordsApi
from causeway_client.models.deleted_record import DeletedRecord
from causeway_client.models.query_mode import QueryMode
from causeway_client.pages import all_of, all_of_async

ObjectRecord = Dict[str, Any]
Id = Union[str, int]
File = Union[bytes, BinaryIO]


def _query(
    where: Optional[str],
    fields: Optional[Sequence[str]],
    order_by: Optional[str],
    page_size: Optional[int],
    max_provider_calls: Optional[int],
    mode: Union[QueryMode, str, None],
) -> Dict[str, Any]:
    joined = fields if fields is None or isinstance(fields, str) else ",".join(fields)
    return {
        "where": where,
        "fields": joined,
        "order_by": order_by,
        "page_size": page_size,
        "elements_max_provider_calls": max_provider_calls,
        "elements_query_mode": mode,
    }


def _file_of(object_name: str, object_id: Id, media_type: str) -> Call[Answer]:
    call = records_api._get_record(object_name, str(object_id))
    return Call(call.method, call.path, Answer, segments=call.segments, headers={"Accept": media_type})


def _with_file(call: Call[ObjectRecord], file: File, name: str, media_type: str) -> Call[ObjectRecord]:
    fields = call.content() or b"{}"
    return replace(call, body=None, form=Form(fields, file, name, media_type))


class Records:
    """Reads and writes the records of one object."""

    def __init__(self, api: RecordsApi, object_name: str) -> None:
        self._api = api
        self.object_name = object_name

    def __repr__(self) -> str:
        return f"Records({self.object_name!r})"

    def all(
        self,
        *,
        where: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        order_by: Optional[str] = None,
        page_size: Optional[int] = None,
        max_provider_calls: Optional[int] = None,
        mode: Union[QueryMode, str, None] = None,
    ) -> Iterator[ObjectRecord]:
        """Iterates over all matching records. Each page is requested when the iteration reaches it.

        :param where: a filter, such as `where("status = ?", status)`
        :param order_by: fields to sort by, such as `lastName asc, hireDate desc`
        :param page_size: number of rows per page, 1 to 5000. Default: 200
        :param max_provider_calls: maximum number of calls to the provider per page. Default: 25
        :param mode: `pushdown-only` rejects a query that the provider cannot evaluate completely
        """
        query = _query(where, fields, order_by, page_size, max_provider_calls, mode)
        return all_of(partial(self._api.list_records, self.object_name, **query))

    def list(
        self,
        *,
        where: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        order_by: Optional[str] = None,
        page_size: Optional[int] = None,
        max_provider_calls: Optional[int] = None,
        mode: Union[QueryMode, str, None] = None,
        next_page: Optional[str] = None,
    ) -> Page[ObjectRecord]:
        """Returns one page. `next_page` is the token from the previous page."""
        query = _query(where, fields, order_by, page_size, max_provider_calls, mode)
        return self._api.list_records(self.object_name, next_page=next_page, **query)

    def children(
        self,
        object_id: Id,
        child_object_name: str,
        *,
        where: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        order_by: Optional[str] = None,
        page_size: Optional[int] = None,
        max_provider_calls: Optional[int] = None,
        mode: Union[QueryMode, str, None] = None,
    ) -> Iterator[ObjectRecord]:
        """Iterates over the child records of a record, such as the comments of an incident."""
        query = _query(where, fields, order_by, page_size, max_provider_calls, mode)
        below = (self.object_name, str(object_id), child_object_name)
        return all_of(partial(self._api.list_child_records, *below, **query))

    def get(self, object_id: Id) -> ObjectRecord:
        """Returns one record.

        :raises NotFoundError: when there is no such record
        """
        return self._api.get_record(self.object_name, str(object_id))

    def create(self, record: Mapping[str, Any], *, idempotency_key: Optional[str] = None) -> ObjectRecord:
        """Creates a record and returns it as stored. Each call has a new idempotency key unless one is given."""
        return self._api.create_record(self.object_name, record, idempotency_key=idempotency_key)

    def update(self, object_id: Id, changes: Mapping[str, Any]) -> ObjectRecord:
        """Changes the given fields and returns the record as stored."""
        return self._api.update_record(self.object_name, str(object_id), changes)

    def replace(self, object_id: Id, record: Mapping[str, Any]) -> ObjectRecord:
        """Replaces the record by the given one and returns it as stored."""
        return self._api.replace_record(self.object_name, str(object_id), record)

    def file(self, object_id: Id, media_type: str) -> Answer:
        """Returns the file of a record in one of its media types, such as `application/pdf`."""
        return self._api._run(_file_of(self.object_name, object_id, media_type))

    def create_file(
        self, fields: Mapping[str, Any], file: File, *, name: str, media_type: str = "application/octet-stream"
    ) -> ObjectRecord:
        """Creates a record that is a file and returns it as stored."""
        call = records_api._create_record(self.object_name, fields)
        return self._api._run(_with_file(call, file, name, media_type))

    def replace_file(
        self,
        object_id: Id,
        fields: Mapping[str, Any],
        file: File,
        *,
        name: str,
        media_type: str = "application/octet-stream",
    ) -> ObjectRecord:
        """Stores a new version of a record's file and returns the record as stored."""
        call = records_api._replace_record(self.object_name, str(object_id), fields)
        return self._api._run(_with_file(call, file, name, media_type))

    def delete(self, object_id: Id) -> DeletedRecord:
        return self._api.delete_record(self.object_name, str(object_id))


class AsyncRecords:
    """Reads and writes the records of one object."""

    def __init__(self, api: AsyncRecordsApi, object_name: str) -> None:
        self._api = api
        self.object_name = object_name

    def __repr__(self) -> str:
        return f"AsyncRecords({self.object_name!r})"

    def all(
        self,
        *,
        where: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        order_by: Optional[str] = None,
        page_size: Optional[int] = None,
        max_provider_calls: Optional[int] = None,
        mode: Union[QueryMode, str, None] = None,
    ) -> AsyncIterator[ObjectRecord]:
        """Iterates over all matching records. Each page is requested when the iteration reaches it.

        :param where: a filter, such as `where("status = ?", status)`
        :param order_by: fields to sort by, such as `lastName asc, hireDate desc`
        :param page_size: number of rows per page, 1 to 5000. Default: 200
        :param max_provider_calls: maximum number of calls to the provider per page. Default: 25
        :param mode: `pushdown-only` rejects a query that the provider cannot evaluate completely
        """
        query = _query(where, fields, order_by, page_size, max_provider_calls, mode)
        return all_of_async(partial(self._api.list_records, self.object_name, **query))

    async def list(
        self,
        *,
        where: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        order_by: Optional[str] = None,
        page_size: Optional[int] = None,
        max_provider_calls: Optional[int] = None,
        mode: Union[QueryMode, str, None] = None,
        next_page: Optional[str] = None,
    ) -> Page[ObjectRecord]:
        """Returns one page. `next_page` is the token from the previous page."""
        query = _query(where, fields, order_by, page_size, max_provider_calls, mode)
        return await self._api.list_records(self.object_name, next_page=next_page, **query)

    def children(
        self,
        object_id: Id,
        child_object_name: str,
        *,
        where: Optional[str] = None,
        fields: Optional[Sequence[str]] = None,
        order_by: Optional[str] = None,
        page_size: Optional[int] = None,
        max_provider_calls: Optional[int] = None,
        mode: Union[QueryMode, str, None] = None,
    ) -> AsyncIterator[ObjectRecord]:
        """Iterates over the child records of a record, such as the comments of an incident."""
        query = _query(where, fields, order_by, page_size, max_provider_calls, mode)
        below = (self.object_name, str(object_id), child_object_name)
        return all_of_async(partial(self._api.list_child_records, *below, **query))

    async def get(self, object_id: Id) -> ObjectRecord:
        """Returns one record.

        :raises NotFoundError: when there is no such record
        """
        return await self._api.get_record(self.object_name, str(object_id))

    async def create(self, record: Mapping[str, Any], *, idempotency_key: Optional[str] = None) -> ObjectRecord:
        """Creates a record and returns it as stored. Each call has a new idempotency key unless one is given."""
        return await self._api.create_record(self.object_name, record, idempotency_key=idempotency_key)

    async def update(self, object_id: Id, changes: Mapping[str, Any]) -> ObjectRecord:
        """Changes the given fields and returns the record as stored."""
        return await self._api.update_record(self.object_name, str(object_id), changes)

    async def replace(self, object_id: Id, record: Mapping[str, Any]) -> ObjectRecord:
        """Replaces the record by the given one and returns it as stored."""
        return await self._api.replace_record(self.object_name, str(object_id), record)

    async def file(self, object_id: Id, media_type: str) -> Answer:
        """Returns the file of a record in one of its media types, such as `application/pdf`."""
        return await self._api._run(_file_of(self.object_name, object_id, media_type))

    async def create_file(
        self, fields: Mapping[str, Any], file: File, *, name: str, media_type: str = "application/octet-stream"
    ) -> ObjectRecord:
        """Creates a record that is a file and returns it as stored."""
        call = records_api._create_record(self.object_name, fields)
        return await self._api._run(_with_file(call, file, name, media_type))

    async def replace_file(
        self,
        object_id: Id,
        fields: Mapping[str, Any],
        file: File,
        *,
        name: str,
        media_type: str = "application/octet-stream",
    ) -> ObjectRecord:
        """Stores a new version of a record's file and returns the record as stored."""
        call = records_api._replace_record(self.object_name, str(object_id), fields)
        return await self._api._run(_with_file(call, file, name, media_type))

    async def delete(self, object_id: Id) -> DeletedRecord:
        return await self._api.delete_record(self.object_name, str(object_id))
