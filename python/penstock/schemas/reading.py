"""Reading a schema from a file."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.errors import SchemaError
from penstock.limits import Limits
from penstock.schemas.dtd import read_dtd
from penstock.schemas.graph import Element, Mode, Name, Schema
from penstock.schemas.xsd import read_xsd

ELEMENTS_MAX = 20_000
"""Distinct names of elements in one schema."""

_SUFFIXES = (".dtd", ".xsd")


def schema(
    path: str | os.PathLike[str],
    *,
    root: str | None = None,
    mode: Mode = "verify",
    limits: Limits | None = None,
) -> Schema:
    """Return the element graph of a DTD (``.dtd``) or an XML Schema (``.xsd``).

    ``root`` is the name of the root element, as ``book`` or ``{uri}book``. Without it, a document
    may begin with each element that no other contains, or with any if there is no such element.
    ``mode`` says what engines do with the schema: ``off``, ``trust`` or ``verify``.
    ``limits.doctype_bytes_max`` bounds what is read. Nothing is read from the network, and no
    external entity.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "shop.dtd"
    >>> _ = path.write_text("<!ELEMENT shop (book*)><!ELEMENT book (#PCDATA)>")
    >>> schema(path).mode
    'verify'

    Raises:
        SchemaError: The file cannot be read, is no schema, or is too large; the root is unknown.
        SettingError: There is no such mode.
        MissingExtraError: A library is missing; ``pip install penstock-xml[schemas]`` brings it.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in _SUFFIXES:
        message = f"a schema is a file that ends in .dtd or .xsd, not {file.name!r}"
        raise SchemaError("PM0001", message, os.fspath(path), 0, "rename the file")
    bytes_max = (limits or Limits()).doctype_bytes_max
    data = _read(file, bytes_max)
    declared: frozenset[Name] | None = None
    if suffix == ".dtd":
        found = read_dtd(data, str(file))
    else:
        found, declared = read_xsd(file, bytes_max)
    elements: dict[Name, Element] = {}
    for one in found:
        known = elements.get(one.name)
        elements[one.name] = one if known is None else known.united(one)
    _require_some(elements, file)
    roots = _roots(elements, declared or frozenset(elements))
    if root is not None:
        roots = _named_root(elements, root, file)
    return Schema(elements, roots, mode, str(file))


def _read(file: Path, bytes_max: int) -> bytes:
    try:
        with file.open("rb") as opened:
            data = opened.read(bytes_max + 1)
    except OSError as error:
        message = f"the schema cannot be read: {error.strerror or error}"
        raise SchemaError("PM0001", message, str(file)) from None
    if len(data) > bytes_max:
        message = f"the schema has more than {bytes_max} bytes"
        way_out = "pass Limits(doctype_bytes_max=…)"
        raise SchemaError("PM0003", message, str(file), 0, way_out)
    return data


def _require_some(elements: dict[Name, Element], file: Path) -> None:
    if not elements:
        raise SchemaError("PM0002", "the schema declares no element", str(file))
    if len(elements) > ELEMENTS_MAX:
        message = f"the schema declares {len(elements)} elements, and {ELEMENTS_MAX} are read"
        raise SchemaError("PM0003", message, str(file))


def _roots(elements: dict[Name, Element], declared: frozenset[Name]) -> frozenset[Name]:
    """Return the declared elements that no other element contains; all if each is contained."""
    inner = {child for one in elements.values() for child in one.children if child != one.name}
    return (declared - inner) or declared


def _named_root(elements: dict[Name, Element], root: str, file: Path) -> frozenset[Name]:
    uri, _, local = root.rpartition("}")
    found = frozenset(
        name
        for name in elements
        if name.local == local and (not uri or name.uri == uri.removeprefix("{"))
    )
    if not found:
        from difflib import get_close_matches

        near = get_close_matches(local, [name.local for name in elements], n=1)
        way_out = f"did you mean `{near[0]}`?" if near else ""
        message = f"the schema declares no element `{root}`"
        raise SchemaError("PM0005", message, str(file), 0, way_out)
    return found
