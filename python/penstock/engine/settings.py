"""What an engine is given: the schemas of its streams, and the order of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from penstock.errors import SettingError
from penstock.schemas import Schema

Order = Literal["decided", "document"]


def is_document_order(order: Order) -> bool:
    """Return whether each subscription's rows come in document order.

    Raises:
        ValueError: There is no such order.
    """
    if order not in get_args(Order):
        raise ValueError(f"there is no order {order!r}; use `decided` or `document`")
    return order == "document"


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
