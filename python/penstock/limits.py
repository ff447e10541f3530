"""Bounds on everything that a document could make unbounded."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Limits:
    """One field per thing that a document could make unbounded.

    Passing a limit fails that document with a ``LimitError``, never the stream.

    >>> Limits(depth_max=100)
    Limits(depth_max=100)

    Raises:
        ValueError: A limit is not a positive integer.
    """

    depth_max: int = 10_000
    """Open elements at once."""
    name_bytes_max: int = 65_536
    """Bytes of one name."""
    attributes_max: int = 10_000
    """Attributes of one start tag."""
    attribute_bytes_max: int = 10 << 20
    """Bytes of one attribute value."""
    text_bytes_max: int = 64 << 20
    """Bytes of one string value, comment or instruction that a query needs as a whole."""
    candidates_max: int = 1_000_000
    """Undecided results held at once."""
    buffer_bytes_max: int = 256 << 20
    """Bytes held at once: input of undecided or incomplete results, and what expressions keep."""
    pairs_max: int = 4_000_000
    """Pairs of a node and a member of its set that expressions look at in one document, beyond a
    few for each node; :func:`penstock.verdict` says which queries need them."""
    entity_bytes_max: int = 8 << 20
    """Bytes that entity references add to one document."""
    entity_depth_max: int = 32
    """Entity references inside each other."""
    doctype_bytes_max: int = 4 << 20
    """Bytes of one document type declaration."""
    document_bytes_max: int = 1 << 40
    """Bytes of one document."""
    memory_bytes_max: int = 256 << 20
    """Bytes of memory that one document costs in the kernel, whoever spends them."""
    steps_max: int = 5_000_000
    """Steps of work on one document, beyond 24 or more for each of its bytes."""
    recursion_max: int = 1_000
    """Calls of functions inside each other, in a query that declares functions."""
    results_max: int = 1 << 40
    """Results of one subscription in one document."""
    seconds_max: float | None = None
    """Seconds that one document may take. Off by default, and rejected on Spark: a replay would
    give other rows."""

    def __post_init__(self) -> None:
        seconds = self.seconds_max
        if seconds is not None and not (_is_number(seconds, (int, float)) and 0 < seconds < 1e9):
            raise ValueError(f"limits.seconds_max must be a positive number, not {seconds!r}")
        for name, value in self.as_dict().items():
            if name != "seconds_max" and not (_is_number(value, (int,)) and 0 < value < 1 << 63):
                raise ValueError(f"limits.{name} must be a positive integer, not {value!r}")

    def __repr__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"Limits({', '.join(changed)})"

    def as_dict(self) -> dict[str, Any]:
        """Return the limits by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _is_number(value: object, types: tuple[type, ...]) -> bool:
    return isinstance(value, types) and not isinstance(value, bool)
