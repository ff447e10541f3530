"""What documents of an XML Schema look like: their paths, and the types of values there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from penstock.engine.inference.records import Path
from penstock.engine.inference.shapes import Shape
from penstock.limits import Limits
from penstock.schemas import schema
from penstock.schemas.xsd import load_xsd

_DEPTH_MAX = 24
_PATHS_MAX = 20_000
_XSD = "{http://www.w3.org/2001/XMLSchema}"
_INTEGERS = """
    integer nonPositiveInteger negativeInteger long int short byte nonNegativeInteger
    unsignedInt unsignedShort unsignedByte positiveInteger
""".split()
_TYPES = {
    **dict.fromkeys(_INTEGERS, "integer"),
    "unsignedLong": "decimal(20,0)",
    "decimal": "decimal(38,18)",
    "float": "double",
    "double": "double",
    "boolean": "boolean",
    "date": "date",
    "dateTime": "timestamp",
    "base64Binary": "binary",
}
_INT64_DIGITS = 18
_DIGITS_MAX = 38


def read_types(file: FilePath, root: str | None) -> tuple[Shape, dict[Path, str]]:
    """Return the shape of documents, and the types of elements and attributes with text.

    An element inside one of its own kind is left out, as are those below many others.

    Raises:
        SchemaError: The file is no XML Schema, or the root is unknown.
    """
    roots = schema(file, root=root).roots
    loaded = load_xsd(file, Limits().doctype_bytes_max)
    walk = _Walk()
    for declared in loaded.maps.elements.values():
        uri, _, local = str(declared.name).rpartition("}")
        if (uri.removeprefix("{"), local) in roots:
            walk.add(declared, walk.documents, (), 1)
    return walk.documents, walk.types


class _Walk:
    def __init__(self) -> None:
        self.documents = Shape(1, 1)
        self.types: dict[Path, str] = {}
        self._paths = 0

    def add(self, declared: Any, around: Shape, above: Path, most: int) -> None:
        """Add an element below another, with all that is inside."""
        name = _written(declared.name)
        path = (*above, name)
        self._paths += 1
        if name in above or len(path) > _DEPTH_MAX or self._paths > _PATHS_MAX:
            return
        shape = around.below.setdefault(name, Shape(1, 1))
        shape.most = max(shape.most, most)
        kind = declared.type
        if not kind.is_complex():
            self._type(path, kind)
            return
        for key, attribute in kind.attributes.items():
            if key is not None:
                shape.below[f"@{_written(key)}"] = Shape(1, 1, most=1)
                self._type((*path, f"@{_written(key)}"), attribute.type)
        if kind.has_simple_content():
            self._type(path, kind.content)
            return
        if kind.mixed:
            self.types[path] = "string"
        for child, count in _children(kind.content, 1):
            for one in [child, *child.iter_substitutes()]:
                if one.type is not None:
                    self.add(one, shape, path, count)

    def _type(self, path: Path, kind: Any) -> None:
        # One name may have two declarations, with different types.
        type_ = _type_of(kind)
        self.types[path] = type_ if self.types.get(path, type_) == type_ else "string"


def _children(group: Any, most: int) -> Iterator[tuple[Any, int]]:
    """Yield the elements of a content model, and whether there may be two of each."""
    most = max(most, _bound(group))
    seen: set[str] = set()
    for item in group:
        if hasattr(item, "process_contents"):
            continue
        if hasattr(item, "model"):
            yield from _children(item, most)
        else:
            again = 2 if item.name in seen else 1
            seen.add(item.name)
            yield item, max(most, _bound(item), again)


def _bound(item: Any) -> int:
    return 2 if item.max_occurs is None else min(item.max_occurs, 2)


def _written(name: str) -> str:
    return name if name.startswith("{") else name.rpartition(":")[2]


def _type_of(kind: Any) -> str:
    digits = scale = None
    while kind is not None and not str(kind.name).startswith(_XSD):
        if kind.is_list() or kind.is_union():
            return "string"
        facets = kind.facets
        digits = digits or _number(facets.get(f"{_XSD}totalDigits"))
        scale = scale if scale is not None else _number(facets.get(f"{_XSD}fractionDigits"))
        kind = kind.base_type
    type_ = _TYPES.get(str(getattr(kind, "name", "")).rpartition("}")[2], "string")
    if type_ == "integer" and (digits or 0) > _INT64_DIGITS:
        return f"decimal({min(digits or 0, _DIGITS_MAX)},0)"
    if type_ == _TYPES["decimal"] and digits is not None and scale is not None:
        digits = min(digits, _DIGITS_MAX)
        return f"decimal({digits},{min(scale, digits)})"
    return type_


def _number(facet: Any) -> int | None:
    return None if facet is None else int(facet.value)
