"""The schemas of an engine's streams."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.errors import SettingError
from penstock.schemas import Schema


def used_schemas(schemas: Mapping[str, Schema] | None) -> dict[str, Schema]:
    """Return the schemas of streams that are not off.

    Raises:
        SettingError: A value is no schema.
    """
    for stream, one in (schemas or {}).items():
        if not isinstance(one, Schema):
            message = (
                f"the schema of the stream {stream!r} is what penstock.schema() returns, "
                f"not {one!r}"
            )
            raise SettingError("PM0011", message)
    return {stream: one for stream, one in (schemas or {}).items() if one.mode != "off"}
