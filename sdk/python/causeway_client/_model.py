"""The base classes of the models of the specification."""

from __future__ import annotations

from enum import Enum
from typing import Any, Dict, Iterable, Tuple

from pydantic import BaseModel, ConfigDict
from typing_extensions import Self

#: Members whose values are secrets or contain secrets.
_SECRET = frozenset({"token", "secret", "password", "configuration", "provider_data", "api_secret"})


class Model(BaseModel):
    """A model that accepts members by their Python names and by their API names, and keeps members of a newer service."""

    model_config = ConfigDict(
        extra="allow",
        # There are many models, and a program uses few.
        defer_build=True,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
    )

    def to_dict(self) -> Dict[str, Any]:
        """Returns the members by their API names, without those that have no value."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    @classmethod
    def from_dict(cls, value: Dict[str, Any]) -> Self:
        return cls.model_validate(value)

    def __repr_args__(self) -> Iterable[Tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, ("********" if name in _SECRET and value is not None else value)


class OpenEnum(str, Enum):
    """Values of the specification. A value of a newer service is kept unchanged."""

    @classmethod
    def _missing_(cls, value: object) -> OpenEnum | None:
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    def __str__(self) -> str:
        return str(self.value)
