"""SaxonC as a processor of XQuery: items with their types, errors with their codes."""

from __future__ import annotations

import re
from collections.abc import Mapping

import saxonche

from penstock_testing.sequences.describing import WHOLE, Described, canonical, shorten
from penstock_testing.sequences.errors import DynamicError

_CODE = re.compile(r"\b([A-Z]{4}\d{4})\b")
_DOCUMENTS_KEPT = 64
_TYPES = (
    *("integer", "decimal", "float", "double", "boolean", "untypedAtomic", "anyURI", "QName"),
    *("date", "time", "dateTime", "dayTimeDuration", "yearMonthDuration", "duration"),
    *("NCName", "string"),
)
_DESCRIBE = f"""
declare variable $items external;
for $item in $items return
  typeswitch ($item)
    case element() | document-node() return (
      if ($item instance of element()) then "element" else "document",
      string(node-name($item) ! concat("{{", namespace-uri-from-QName(.), "}}", local-name($item))),
      serialize($item, map {{ "indent": false(), "omit-xml-declaration": true() }}))
    case attribute() return ("attribute",
      concat("{{", namespace-uri($item), "}}", local-name($item)), string($item))
    case text() return ("text", "", string($item))
    case comment() return ("comment", "", string($item))
    case processing-instruction() return ("processing-instruction", name($item), string($item))
    {"".join(f'case xs:{name} return ("", "{name}", string($item))' for name in _TYPES)}
    default return ("", "other", string($item))
"""


class SaxonXQuery:
    """SaxonC for XQuery; it starts up once, and keeps the documents that it read last."""

    def __init__(self) -> None:
        self._processor = saxonche.PySaxonProcessor(license=False)
        self._describing = self._processor.new_xquery_processor()
        self._describing.set_query_content(_DESCRIBE)
        self._documents: dict[bytes, saxonche.PyXdmNode] = {}

    def ask(
        self,
        text: str,
        document: bytes | None = None,
        documents: Mapping[str, bytes] | None = None,
    ) -> list[Described]:
        """Return the items of a query; ``documents`` are values of external variables.

        Raises:
            DynamicError: Saxon finds an error, before or while it evaluates the query.
        """
        xquery = self._processor.new_xquery_processor()
        if document is not None:
            xquery.set_context(xdm_item=self._read(document))
        for name, source in (documents or {}).items():
            xquery.set_parameter(name, self._read(source))
        xquery.set_query_content(text)
        try:
            value = xquery.run_query_to_value()
        except saxonche.PySaxonApiError as error:
            raise _failure(str(error)) from None
        return [] if value is None else self._described(value)

    def _read(self, source: bytes) -> saxonche.PyXdmNode:
        node = self._documents.pop(source, None)
        if node is None:
            node = self._processor.parse_xml(xml_text=source.decode())
            if len(self._documents) >= _DOCUMENTS_KEPT:
                del self._documents[next(iter(self._documents))]
        self._documents[source] = node
        return node

    def _described(self, value: saxonche.PyXdmValue) -> list[Described]:
        self._describing.set_parameter("items", value)
        parts = self._describing.run_query_to_value()
        if parts is None:
            return []
        texts = [parts.item_at(place).string_value for place in range(parts.size)]
        rows = zip(texts[::3], texts[1::3], texts[2::3], strict=True)
        return [_comparable(kind, name.removeprefix("{}"), text) for kind, name, text in rows]


def _comparable(kind: str, name: str, text: str) -> Described:
    return (kind, name, canonical(text) if kind in WHOLE else shorten(text))


def _failure(reason: str) -> DynamicError:
    codes = _CODE.findall(reason)
    return DynamicError(codes[0] if codes else "", " ".join(reason.split()))
