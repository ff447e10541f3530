"""XML Schemas, read by xmlschema: local files of the schema's own folder, no entities."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from penstock.errors import SchemaError
from penstock.extras import load
from penstock.schemas.graph import Element, Name
from penstock.schemas.particles import Particle, occurrences

FILES_MAX = 200
"""Files that one schema may include and import, itself counted."""

_XSD = "{http://www.w3.org/2001/XMLSchema}"


def read_xsd(path: Path, bytes_max: int) -> tuple[list[Element], frozenset[Name]]:
    """Return the elements that an XML Schema declares, and those that are global.

    Raises:
        SchemaError: It is no schema, or it is spread over too many files or files elsewhere.
        MissingExtraError: xmlschema is not installed.
    """
    reader = _Reader(load_xsd(path, bytes_max))
    return reader.elements(), frozenset(_name(one.name) for one in reader.globals())


def load_xsd(path: Path, bytes_max: int) -> Any:
    """Return an XML Schema as xmlschema has it, with what it includes and imports.

    Raises:
        SchemaError: It is no schema, or it is spread over too many files or files elsewhere.
        MissingExtraError: xmlschema is not installed.
    """
    library = load("xmlschema", "schemas")
    try:
        with warnings.catch_warnings():
            # What could not be imported is a warning there; here it would be a graph with gaps.
            warnings.simplefilter("error", library.XMLSchemaImportWarning)
            warnings.simplefilter("error", library.XMLSchemaIncludeWarning)
            loaded = _load(library, path)
    except (library.XMLSchemaException, Warning, OSError, ValueError, SyntaxError) as error:
        raise _refusal(error, path) from None
    sources = {one.url: one for one in loaded.maps.iter_schemas() if one.url and not _is_meta(one)}
    size = sum(Path(one.filepath).stat().st_size for one in sources.values() if one.filepath)
    if len(sources) > FILES_MAX or size > bytes_max:
        message = f"the schema has {len(sources)} files of {size} bytes"
        way_out = f"at most {FILES_MAX} files and {bytes_max} bytes are read"
        raise SchemaError("PM0003", message, str(path), 0, way_out)
    return loaded


def _load(library: Any, path: Path) -> Any:
    folder = str(path.parent.resolve())
    options: dict[str, Any] = {"allow": "sandbox", "defuse": "always", "base_url": folder}
    options["use_fallback"] = False
    try:
        return library.XMLSchema10(str(path.resolve()), **options)
    except library.XMLSchemaParseError:
        return library.XMLSchema11(str(path.resolve()), **options)


def _refusal(error: Any, path: Path) -> SchemaError:
    reason = str(getattr(error, "message", None) or error).strip().splitlines()[0]
    line = getattr(error, "sourceline", None) or 0
    way_out = "includes and imports are read from the schema's own folder, never from the network"
    return SchemaError("PM0002", f"this is no XML Schema: {reason}", str(path), line, way_out)


def _is_meta(schema: Any) -> bool:
    return schema.meta_schema is None


def _name(name: str) -> Name:
    uri, _, local = name.rpartition("}")
    return Name(uri.removeprefix("{"), local)


def _own(components: Iterable[Any]) -> Iterator[Any]:
    """Yield the components that are not those of schemas themselves."""
    return (one for one in components if not str(one.name).startswith(_XSD))


class _Reader:
    """Collects elements, by their names, from all their declarations."""

    def __init__(self, loaded: Any) -> None:
        self._maps = loaded.maps
        self._found: dict[Name, Element] = {}
        self._seen: set[tuple[Name, int]] = set()
        self._types = [one for one in _own(self._maps.types.values()) if one.is_complex()]

    def globals(self) -> list[Any]:
        """Return the declarations of global elements."""
        return [one for one in _own(self._maps.elements.values()) if not one.abstract]

    def elements(self) -> list[Element]:
        """Return the elements that documents may have."""
        waiting = self.globals()
        while waiting:
            declared = waiting.pop()
            for one in [declared, *declared.iter_substitutes()]:
                if one.type is None:
                    continue
                for kind in self._kinds(one.type):
                    key = (_name(one.name), id(kind))
                    if key not in self._seen:
                        self._seen.add(key)
                        waiting += self._add(key[0], kind)
        return [*self._found.values()]

    def _kinds(self, kind: Any) -> Iterator[Any]:
        """Yield a type and all that a document may name in its place with ``xsi:type``."""
        yield kind
        if kind.is_complex() and kind.name is not None and not kind.name.startswith(_XSD):
            for other in self._types:
                if other is not kind and other.is_derived(kind):
                    yield other

    def _add(self, name: Name, kind: Any) -> list[Any]:
        """Add an element of a type; return the declarations of its children."""
        inner: list[Any] = []
        if not kind.is_complex():
            element = Element(name, {}, {}, has_text=True)
        elif kind.name is not None and kind.name == f"{_XSD}anyType":
            element = Element(name, {}, {}, has_text=True, is_open=True, has_any_attributes=True)
        else:
            is_open, children = False, {}
            has_text = kind.has_simple_content() or kind.mixed
            if not kind.has_simple_content():
                particle, is_open = _particle(kind.content, inner)
                children = occurrences(particle)
            attributes = {
                _name(key): one.use == "required"
                for key, one in kind.attributes.items()
                if key is not None
            }
            any_attributes = None in kind.attributes
            element = Element(name, children, attributes, has_text, is_open, any_attributes)
        known = self._found.get(name)
        self._found[name] = element if known is None else known.united(element)
        return inner


def _particle(group: Any, inner: list[Any]) -> tuple[Particle, bool]:
    """Return a content model and whether it has a wildcard; add its declarations to ``inner``."""
    parts, is_open = [], bool(getattr(group, "interleave", None) or getattr(group, "suffix", None))
    for item in group:
        least, most = _bounds(item)
        if hasattr(item, "process_contents"):
            is_open = True
        elif hasattr(item, "model"):
            part, is_inner_open = _particle(item, inner)
            parts.append(part)
            is_open |= is_inner_open
        else:
            inner.append(item)
            names = [_name(one.name) for one in [item, *item.iter_substitutes()]]
            named = tuple(Particle("name", name=name) for name in names)
            parts.append(Particle("choice", least, most, parts=named))
    least, most = _bounds(group)
    kind = "choice" if group.model == "choice" else "sequence"
    return Particle(kind, least, most, parts=tuple(parts)), is_open  # type: ignore[arg-type]


def _bounds(item: Any) -> tuple[int, int]:
    most = item.max_occurs
    return min(item.min_occurs, 2), 2 if most is None else min(most, 2)
