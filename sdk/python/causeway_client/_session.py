"""The secrets and the address, which both clients share."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass, field, replace
from typing import Any, Dict, Mapping, Optional, TypeVar, Union
from urllib.parse import urlsplit

from causeway_client._call import Call
from causeway_client._flow import Answer, Flow, Request, Retries, exchange
from causeway_client.errors import CausewayError

T = TypeVar("T")

VERSION = "0.0.0-dev"
USER_AGENT = f"causeway-python/{VERSION} ({platform.python_implementation().lower()}/{platform.python_version()})"
DEFAULT_URL = "http://127.0.0.1:8080"
_SECRET = re.compile(r"[!-+\--~]+")
_API_PATH = "/elements/api-v2"


@dataclass(frozen=True)
class Session:
    url: str
    user_secret: Optional[str] = field(default=None, repr=False)
    organization_secret: Optional[str] = field(default=None, repr=False)
    element_token: Optional[str] = field(default=None, repr=False)
    key: Optional[str] = field(default=None, repr=False)
    instance_id: Optional[int] = None
    account_id: Union[str, int, None] = None
    retries: Retries = field(default_factory=Retries, repr=False)

    def __post_init__(self) -> None:
        """Checks the secrets.

        :raises ValueError: for a text that is no secret, such as one with a line end. The error does not contain the text
        """
        for name in ("user_secret", "organization_secret", "element_token", "key"):
            value = getattr(self, name)
            if value is not None and not _SECRET.fullmatch(value):
                raise ValueError(f"The {name} is empty or has blanks, commas or characters that no secret has.")
        if self.key is None and (self.user_secret is None or self.organization_secret is None):
            raise ValueError("A client needs user_secret and organization_secret, or key.")
        if self.key is not None and (self.user_secret is not None or self.organization_secret is not None):
            raise ValueError("A client needs either secrets or a key, not both.")
        if self.key is not None and self.element_token is not None:
            raise ValueError("A client with a key names an instance by its id: with_instance(id).")
        if self.key is None and self.instance_id is not None:
            raise ValueError("A client without a key names an instance by its token: with_instance(token).")

    def with_instance(self, instance: Union[str, int]) -> Session:
        if isinstance(instance, int):
            return replace(self, instance_id=instance)
        return replace(self, element_token=instance)

    @property
    def is_bound(self) -> bool:
        return self.element_token is not None or self.instance_id is not None

    def flow(self, call: Call[T]) -> Flow[T]:
        answer = yield from exchange(self.request(call), self.retries)
        return call.read(answer)

    def open_flow(self, call: Call[Any], headers: Mapping[str, str]) -> Flow[Answer]:
        return exchange(self.request(call, headers), self.retries, is_open=True)

    def request(self, call: Call[Any], headers: Optional[Mapping[str, str]] = None) -> Request:
        content = call.content()
        sent = {
            **self.headers(call.on_instance),
            "Accept": "application/json",
            **({} if content is None else {"Content-Type": "application/json"}),
            **call.sent_headers(),
            **(headers or {}),
        }
        return Request(call.method, self.url + call.target(), sent, content, call.form)

    def headers(self, on_instance: bool) -> Dict[str, str]:
        return {
            "Authorization": self._authorization(on_instance),
            "User-Agent": USER_AGENT,
            # With this version, lists of objects contain their operations.
            "Elements-Version": "Helium",
            **({"Elements-Instance-Id": str(self.instance_id)} if on_instance and self.instance_id is not None else {}),
            **({} if self.account_id is None else {"Elements-Account-Id": str(self.account_id)}),
        }

    def _authorization(self, on_instance: bool) -> str:
        if self.key is not None:
            return f"Bearer {self.key}"
        platform_part = f"User {self.user_secret}, Organization {self.organization_secret}"
        if not on_instance:
            return platform_part
        if self.element_token is None:
            raise CausewayError("This call needs an instance. Create a client with with_instance(token) first.")
        return f"{platform_part}, Element {self.element_token}"


def from_variables(environment: Optional[Mapping[str, str]] = None) -> Dict[str, Any]:
    """Returns the options in environment variables. A key in CAUSEWAY_KEY replaces the secrets.

    :raises CausewayError: that names the missing variables
    """
    variables = os.environ if environment is None else environment
    key = variables.get("CAUSEWAY_KEY") or None
    secrets = {"user_secret": "CAUSEWAY_USER_SECRET", "organization_secret": "CAUSEWAY_ORGANIZATION_SECRET"}
    required = {"url": "CAUSEWAY_URL", **({} if key else secrets)}
    missing = [name for name in required.values() if not variables.get(name)]
    if missing:
        raise CausewayError(f"Set the environment variables {', '.join(missing)}.")
    found = {option: variables[name] for option, name in required.items()}
    if key is None:
        return {**found, "element_token": variables.get("CAUSEWAY_ELEMENT_TOKEN") or None}
    return {**found, "key": key, "instance_id": _instance_id(variables.get("CAUSEWAY_INSTANCE_ID"))}


def _instance_id(text: Optional[str]) -> Optional[int]:
    if not text:
        return None
    if re.fullmatch(r"[0-9]{1,15}", text):
        return int(text)
    raise CausewayError("CAUSEWAY_INSTANCE_ID must be the id of an instance, a whole number.")


def api_url(url: str) -> str:
    """Returns the address of the API.

    :raises ValueError: for an invalid address
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("The URL of a service begins with http:// or https:// and has a host.")
    if parts.query or parts.fragment or parts.username or parts.password:
        raise ValueError("The URL of a service must not have a query, a fragment or credentials.")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/') or _API_PATH}"
