"""Random tables over the names of the random documents."""

from __future__ import annotations

from random import Random
from typing import Any

from penstock_testing.generate.names import ATTRIBUTES, ELEMENTS, ROOT

_DOWN = ("", "", "", "descendant::", "descendant-or-self::", "self::")
_AROUND = (
    "parent::",
    "ancestor::",
    "ancestor-or-self::",
    "following-sibling::",
    "preceding-sibling::",
    "following::",
    "preceding::",
)
_TYPES = (
    "string",
    "string",
    "integer",
    "decimal(6,2)",
    "decimal(38,0)",
    "double",
    "boolean",
    "date",
    "timestamp",
    "binary",
)
_VALUES = (
    "7",
    "007",
    " 12.50 ",
    "-3",
    "+4.",
    "INF",
    "NaN",
    "true",
    "0",
    "2024-02-29",
    "2023-02-29",
    "2024-01-31T23:59:59.5+02:00",
    "2024-01-01T24:00:00Z",
    "9223372036854775808",
    "0.001",
    "YWI=",
    "YWJ",
    '&quot;\\ "é',
    "",
)
"""What values of the types look like, and what almost does.

None has an exponent: libxml2 takes such a text for a number, and XPath 1.0 does not.
"""


def random_values(random: Random, document: bytes) -> bytes:
    """Return a document some of whose numbers are values of other types."""
    # An empty section is an empty text node to libxml2, and none to XPath.
    parts = document.replace(b"<![CDATA[]]>", b"").split(b">1<")
    written = parts[0]
    for part in parts[1:]:
        value = random.choice(_VALUES).encode().replace(b"&quot;", b'"')
        written += b">" + value.replace(b'"', b"&quot;") + b"<" + part
    return written


def random_record(random: Random) -> str:
    """Return a record path: mostly elements anywhere, sometimes with conditions or positions."""
    name = random.choice((*ELEMENTS, "*"))
    base = random.choice(
        (f"//{name}", f"//{name}", f"/{ROOT}/{name}", f"/*/*/{name}", f"/*//{name}")
    )
    if random.random() < 0.15:
        above = random.choice((*ELEMENTS, "*"))
        base = f"//{above}[{_condition(random)}]{random.choice(('/', '//'))}{name}"
    if random.random() < 0.3:
        base += f"[{_condition(random)}]"
    if random.random() < 0.1:
        base += random.choice(("[1]", "[last()]", "[position() > 1]"))
    if random.random() < 0.1:
        base += f"/{random.choice(ELEMENTS)}"
    if random.random() < 0.05:
        base += f" | //{random.choice(ELEMENTS)}"
    return base


def random_columns(random: Random, depth: int = 0) -> dict[str, Any]:
    """Return columns of a table, or of a struct in one."""
    count = random.randint(1, 4 if depth else 6)
    return {f"c{place}": _column(random, depth) for place in range(count)}


def _column(random: Random, depth: int) -> Any:
    kind = random.random()
    if depth < 2 and kind < 0.06:
        return random_columns(random, depth + 1)
    if depth < 2 and kind < 0.12:
        return (_elements(random), random_columns(random, depth + 1))
    if depth < 2 and kind < 0.2:
        return (_elements(random), [random_columns(random, depth + 1)])
    if kind < 0.26:
        return (_elements(random), random.choice(("xml", "list[xml]")))
    type_ = random.choice(_TYPES)
    if kind < 0.45:
        return (_nodes(random), f"list[{type_}]")
    source = _nodes(random) if kind < 0.85 else _atom(random)
    return source if type_ == "string" and random.random() < 0.5 else (source, type_)


def _elements(random: Random) -> str:
    # libxml2 does not hand out the document node.
    return _path(random, random.randint(1, 2)).replace("..", "parent::*")


def _nodes(random: Random) -> str:
    path = _path(random, random.randint(0, 2))
    last = random.random()
    if last < 0.35:
        path = (
            f"{path}/@{random.choice((*ATTRIBUTES, '*'))}"
            if path
            else f"@{random.choice(ATTRIBUTES)}"
        )
    elif last < 0.5:
        path = f"{path}/text()" if path else "text()"
    elif last < 0.55:
        path = f"{path}/comment()" if path else "comment()"
    path = path or "."
    return f"{path} | {_path(random, 1)}" if random.random() < 0.05 else path


def _path(random: Random, count: int) -> str:
    steps = [_step(random) for _ in range(count)]
    if random.random() < 0.1 and steps:
        return "//" + steps[0].removeprefix("..").removeprefix("/") if steps[0] != ".." else "/*"
    return "/".join(steps)


def _step(random: Random) -> str:
    kind = random.random()
    if kind < 0.2:
        return ".."
    axis = random.choice(_AROUND if kind < 0.4 else _DOWN)
    step = axis + random.choice((*ELEMENTS, *ELEMENTS, ROOT, "*"))
    if random.random() < 0.2:
        step += f"[{_condition(random)}]"
    if random.random() < 0.15:
        step += random.choice(("[1]", "[2]", "[last()]", "[position() < 3]"))
    return step


def _condition(random: Random) -> str:
    name, attribute = random.choice(ELEMENTS), random.choice(ATTRIBUTES)
    return random.choice(
        (
            name,
            f"@{attribute}",
            f"not({name})",
            f"{name} = '1'",
            f"@{attribute} > 1",
            f"{name} = ../{random.choice(ELEMENTS)}",
            f"{name} != {random.choice(ELEMENTS)}",
            f"../@{attribute}",
            f"../{name}",
            f"count({name}) = 1",
            f"{name} and @{attribute}",
            f"{name} or @{attribute}",
            f"following-sibling::{name}",
            f"preceding::{name}",
            f"starts-with(name(), '{name}')",
        )
    )


def _atom(random: Random) -> str:
    nodes = _nodes(random)
    return random.choice(
        (
            f"count({nodes})",
            f"sum({nodes})",
            f"string({nodes})",
            f"number({nodes})",
            f"boolean({nodes})",
            f"not({nodes})",
            f"normalize-space({nodes})",
            f"string-length({nodes})",
            f"concat({nodes}, '-', {_nodes(random)})",
            f"substring({nodes}, 2)",
            f"local-name({nodes})",
            f"name({nodes})",
            f"contains({nodes}, '1')",
            f"count({nodes}) + 1",
            f"{nodes} = {_nodes(random)}",
            f"{nodes} < 3",
            f"translate({nodes}, '12', 'ab')",
        )
    )
