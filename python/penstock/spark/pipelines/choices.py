"""Which subscriptions' rows a sink gets: by names, globs of names, and owners."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from penstock.spark.arrow import frame_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_IN_GLOBS = {"*": (".*", "%"), "?": (".", "_")}
"""What the signs of globs are in regular expressions and in SQL's LIKE."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The subscriptions with one of these names or globs, and of one of these owners.

    What is empty excludes nobody. In a glob ``*`` is any text and ``?`` one character.
    """

    subscriptions: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether it excludes anybody."""
        return bool(self.subscriptions or self.owners)

    def __str__(self) -> str:
        by_name, by_owner = ", ".join(self.subscriptions), ", ".join(self.owners)
        return " of ".join(filter(None, (by_name, by_owner and f"owner {by_owner}")))

    def has(self, name: str, owner: str | None) -> bool:
        """Return whether it is the choice of a subscription."""
        is_named = not self.subscriptions or any(
            names_like(glob, (name,)) for glob in self.subscriptions
        )
        return is_named and (not self.owners or owner in self.owners)


def names_like(glob: str, names: Iterable[str]) -> list[str]:
    """Return the names that equal a name or match a glob."""
    pattern = "".join(_IN_GLOBS[c][0] if c in _IN_GLOBS else re.escape(c) for c in glob)
    matches = re.compile(pattern, re.DOTALL).fullmatch
    return [name for name in names if matches(name)]


def chosen_rows(rows: DataFrame, choice: Choice, owned: Iterable[str]) -> DataFrame:
    """Return the rows of the chosen subscriptions; ``owned`` are the names of the owners' own.

    Rows without a subscription, those of documents that failed, are none of them.
    """
    import pyarrow as pa
    from pyspark.sql import functions as f

    if choice.subscriptions:
        likes = (f.col("subscription").like(_like(glob)) for glob in choice.subscriptions)
        rows = rows.where(reduce(lambda left, right: left | right, likes))
    if choice.owners:
        # A condition would hold every name; there may be very many.
        names = pa.table({"owned": pa.array(owned, pa.string())})
        others = f.broadcast(frame_of(rows.sparkSession, names))
        rows = rows.join(others, f.col("subscription") == f.col("owned"), "left_semi")
    return rows


def _like(glob: str) -> str:
    escaped = {"\\": "\\\\", "%": "\\%", "_": "\\_"}
    return "".join(_IN_GLOBS[c][1] if c in _IN_GLOBS else escaped.get(c, c) for c in glob)
