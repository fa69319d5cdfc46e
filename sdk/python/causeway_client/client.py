"""The clients: `Causeway`, and `AsyncCauseway` for use with `await`."""

from __future__ import annotations

from typing import Any, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Optional, TypeVar, Union

import httpx
from typing_extensions import Self

from causeway_client._call import Call, Page
from causeway_client._flow import Answer, Flow, Request, Retries, Send
from causeway_client._session import DEFAULT_URL, Session, api_url, from_variables
from causeway_client._transport import AsyncTransport, Transport
from causeway_client.api import (
    AccountsApi,
    ActivityApi,
    AsyncAccountsApi,
    AsyncActivityApi,
    AsyncAuditApi,
    AsyncElementsApi,
    AsyncEventsApi,
    AsyncFederatedApi,
    AsyncFormulasApi,
    AsyncHubsApi,
    AsyncInstancesApi,
    AsyncKeysApi,
    AsyncMappingsApi,
    AsyncNotificationsApi,
    AsyncOauthProxiesApi,
    AsyncObjectsApi,
    AsyncOrganizationsApi,
    AsyncQueryApi,
    AsyncRecordsApi,
    AsyncRolesApi,
    AsyncThisInstanceApi,
    AsyncUsersApi,
    AuditApi,
    ElementsApi,
    EventsApi,
    FederatedApi,
    FormulasApi,
    HubsApi,
    InstancesApi,
    KeysApi,
    MappingsApi,
    NotificationsApi,
    OauthProxiesApi,
    ObjectsApi,
    OrganizationsApi,
    QueryApi,
    RecordsApi,
    RolesApi,
    ThisInstanceApi,
    UsersApi,
)
from causeway_client.bulk import AsyncBulkDownloads, BulkDownloads
from causeway_client.executions import AsyncFormulaExecutions, FormulaExecutions
from causeway_client.pages import all_of, all_of_async
from causeway_client.records import AsyncRecords, Records

T = TypeVar("T")


def _passthrough(session: Session, method: str, path: str, headers: Mapping[str, str], content: Optional[bytes]) -> Flow[Answer]:
    target = f"{session.url}/passthrough/{path.lstrip('/')}"
    answer: Answer = yield Send(Request(method, target, {**headers, **session.headers(on_instance=True)}, content))
    return answer


class Causeway:
    """A client of one service for one user. `with_instance` returns a client for one of the user's connected accounts.

    Close it, or use it in a `with` statement, to close its connections.
    """

    def __init__(
        self,
        user_secret: Optional[str] = None,
        organization_secret: Optional[str] = None,
        element_token: Optional[str] = None,
        *,
        key: Optional[str] = None,
        instance_id: Optional[int] = None,
        url: str = DEFAULT_URL,
        account_id: Union[str, int, None] = None,
        timeout: float = 60.0,
        retries: int = 4,
        retry_for: float = 120.0,
        http_client: Optional[httpx.Client] = None,
    ) -> None:
        """
        :param element_token: token of the instance for calls on records, objects, queries and bulk jobs
        :param key: access key, in place of the secrets of the user and the organization
        :param instance_id: with a key, the id of the instance. A key that can be used with only one instance needs none
        :param url: address of the service, with or without the path `/elements/api-v2`
        :param account_id: id or external id of the account that platform calls are about. Default: the caller's own
        :param timeout: seconds for one attempt, from the request to the end of the response; for a stream, between two parts
        :param retries: maximum number of attempts after the first one
        :param retry_for: seconds after the first attempt in which further attempts may start
        :param http_client: client of httpx to use, for example for proxies and certificates. You must close it
        """
        session = Session(
            url=api_url(url),
            user_secret=user_secret,
            organization_secret=organization_secret,
            element_token=element_token,
            key=key,
            instance_id=instance_id,
            account_id=account_id,
            retries=Retries(retries, retry_for),
        )
        self._bind(session, Transport(http_client, timeout))

    @classmethod
    def from_environment(cls, environment: Optional[Mapping[str, str]] = None, **options: Any) -> Self:
        """Creates a client from CAUSEWAY_URL and CAUSEWAY_KEY, with CAUSEWAY_INSTANCE_ID if it is set. Without a key, it takes
        CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET and, if it is set, CAUSEWAY_ELEMENT_TOKEN.

        :param options: arguments of the constructor, which replace those of the environment
        :raises CausewayError: that names the variables that are missing
        """
        return cls(**{**from_variables(environment), **options})

    def with_instance(self, instance: Union[str, int]) -> Self:
        """Returns a client that is bound to the instance with this token, or with this id if the client has an access key. Both
        share their connections."""
        bound = object.__new__(type(self))
        bound._bind(self._session.with_instance(instance), self._transport)
        return bound

    def _bind(self, session: Session, transport: Transport) -> None:
        self._session = session
        self._transport = transport
        self.accounts = AccountsApi(self)
        self.activity = ActivityApi(self)
        self.audit = AuditApi(self)
        self.elements = ElementsApi(self)
        self.events = EventsApi(self)
        self.federated = FederatedApi(self)
        #: The executions of formulas: `run` runs a formula instance and waits for the end.
        self.formula_executions = FormulaExecutions(self, transport, session)
        self.formulas = FormulasApi(self)
        self.hubs = HubsApi(self)
        self.instances = InstancesApi(self)
        self.keys = KeysApi(self)
        self.mappings = MappingsApi(self)
        self.notifications = NotificationsApi(self)
        self.oauth_proxies = OauthProxiesApi(self)
        self.objects = ObjectsApi(self)
        self.organizations = OrganizationsApi(self)
        self.query = QueryApi(self)
        self.roles = RolesApi(self)
        self.this_instance = ThisInstanceApi(self)
        self.users = UsersApi(self)
        #: The operations on records of any object; `records` has those of one object.
        self.records_api = RecordsApi(self)
        self.bulk = BulkDownloads(self, transport, session)

    @property
    def url(self) -> str:
        """The address of the service, with the path of the API."""
        return self._session.url

    def records(self, object_name: str) -> Records:
        """Returns access to the records of an object, such as `employees`."""
        return Records(self.records_api, object_name)

    def all(self, operation: Callable[..., Page[T]], **parameters: Any) -> Iterator[T]:
        """Iterates over all entries: `for instance in client.all(client.instances.list_instances, page_size=50)`."""
        return all_of(operation, **parameters)

    def passthrough(
        self,
        path: str,
        *,
        method: str = "GET",
        headers: Optional[Mapping[str, str]] = None,
        content: Optional[bytes] = None,
    ) -> Answer:
        """Sends a request to the provider unchanged, with the credentials of the instance. It is sent once.

        :param path: path below the provider's address, percent-encoded, with its query
        :returns: the provider's response, whatever its status is
        :raises NetworkError, CallTimeoutError:
        """
        return self._transport.run(_passthrough(self._session, method, path, headers or {}, content))

    def call(self, call: Call[T]) -> T:
        """Sends the call of an operation. All operations use it.

        :raises ApiError, NetworkError, CallTimeoutError:
        """
        return self._transport.run(self._session.flow(call))

    def close(self) -> None:
        """Closes the connections, which the clients from `with_instance` share."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        bound = ", bound to an instance" if self._session.is_bound else ""
        return f"<{type(self).__name__} of {self.url}{bound}>"


class AsyncCauseway:
    """A client of one service for one user. `with_instance` returns a client for one of the user's connected accounts.

    Close it, or use it in an `async with` statement, to close its connections.
    """

    def __init__(
        self,
        user_secret: Optional[str] = None,
        organization_secret: Optional[str] = None,
        element_token: Optional[str] = None,
        *,
        key: Optional[str] = None,
        instance_id: Optional[int] = None,
        url: str = DEFAULT_URL,
        account_id: Union[str, int, None] = None,
        timeout: float = 60.0,
        retries: int = 4,
        retry_for: float = 120.0,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        """
        :param element_token: token of the instance for calls on records, objects, queries and bulk jobs
        :param key: access key, in place of the secrets of the user and the organization
        :param instance_id: with a key, the id of the instance. A key that can be used with only one instance needs none
        :param url: address of the service, with or without the path `/elements/api-v2`
        :param account_id: id or external id of the account that platform calls are about. Default: the caller's own
        :param timeout: seconds for one attempt, from the request to the end of the response; for a stream, between two parts
        :param retries: maximum number of attempts after the first one
        :param retry_for: seconds after the first attempt in which further attempts may start
        :param http_client: client of httpx to use, for example for proxies and certificates. You must close it
        """
        session = Session(
            url=api_url(url),
            user_secret=user_secret,
            organization_secret=organization_secret,
            element_token=element_token,
            key=key,
            instance_id=instance_id,
            account_id=account_id,
            retries=Retries(retries, retry_for),
        )
        self._bind(session, AsyncTransport(http_client, timeout))

    @classmethod
    def from_environment(cls, environment: Optional[Mapping[str, str]] = None, **options: Any) -> Self:
        """Creates a client from CAUSEWAY_URL and CAUSEWAY_KEY, with CAUSEWAY_INSTANCE_ID if it is set. Without a key, it takes
        CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET and, if it is set, CAUSEWAY_ELEMENT_TOKEN.

        :param options: arguments of the constructor, which replace those of the environment
        :raises CausewayError: that names the variables that are missing
        """
        return cls(**{**from_variables(environment), **options})

    def with_instance(self, instance: Union[str, int]) -> Self:
        """Returns a client that is bound to the instance with this token, or with this id if the client has an access key. Both
        share their connections."""
        bound = object.__new__(type(self))
        bound._bind(self._session.with_instance(instance), self._transport)
        return bound

    def _bind(self, session: Session, transport: AsyncTransport) -> None:
        self._session = session
        self._transport = transport
        self.accounts = AsyncAccountsApi(self)
        self.activity = AsyncActivityApi(self)
        self.audit = AsyncAuditApi(self)
        self.elements = AsyncElementsApi(self)
        self.events = AsyncEventsApi(self)
        self.federated = AsyncFederatedApi(self)
        #: The executions of formulas: `run` runs a formula instance and waits for the end.
        self.formula_executions = AsyncFormulaExecutions(self, transport, session)
        self.formulas = AsyncFormulasApi(self)
        self.hubs = AsyncHubsApi(self)
        self.instances = AsyncInstancesApi(self)
        self.keys = AsyncKeysApi(self)
        self.mappings = AsyncMappingsApi(self)
        self.notifications = AsyncNotificationsApi(self)
        self.oauth_proxies = AsyncOauthProxiesApi(self)
        self.objects = AsyncObjectsApi(self)
        self.organizations = AsyncOrganizationsApi(self)
        self.query = AsyncQueryApi(self)
        self.roles = AsyncRolesApi(self)
        self.this_instance = AsyncThisInstanceApi(self)
        self.users = AsyncUsersApi(self)
        #: The operations on records of any object; `records` has those of one object.
        self.records_api = AsyncRecordsApi(self)
        self.bulk = AsyncBulkDownloads(self, transport, session)

    @property
    def url(self) -> str:
        """The address of the service, with the path of the API."""
        return self._session.url

    def records(self, object_name: str) -> AsyncRecords:
        """Returns access to the records of an object, such as `employees`."""
        return AsyncRecords(self.records_api, object_name)

    def all(self, operation: Callable[..., Awaitable[Page[T]]], **parameters: Any) -> AsyncIterator[T]:
        """Iterates over all entries: `async for instance in client.all(client.instances.list_instances, page_size=50)`."""
        return all_of_async(operation, **parameters)

    async def passthrough(
        self,
        path: str,
        *,
        method: str = "GET",
        headers: Optional[Mapping[str, str]] = None,
        content: Optional[bytes] = None,
    ) -> Answer:
        """Sends a request to the provider unchanged, with the credentials of the instance. It is sent once.

        :param path: path below the provider's address, percent-encoded, with its query
        :returns: the provider's response, whatever its status is
        :raises NetworkError, CallTimeoutError:
        """
        return await self._transport.run(_passthrough(self._session, method, path, headers or {}, content))

    async def call(self, call: Call[T]) -> T:
        """Sends the call of an operation. All operations use it.

        :raises ApiError, NetworkError, CallTimeoutError:
        """
        return await self._transport.run(self._session.flow(call))

    async def close(self) -> None:
        """Closes the connections, which the clients from `with_instance` share."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        bound = ", bound to an instance" if self._session.is_bound else ""
        return f"<{type(self).__name__} of {self.url}{bound}>"
