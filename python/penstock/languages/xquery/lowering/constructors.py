"""Constructors of nodes, direct and computed."""

from __future__ import annotations

from penstock.languages.xpath.namespaces import XML_NAMESPACE
from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.lowering.calls import QNAME
from penstock.languages.xquery.lowering.clauses import ClauseLowering
from penstock.languages.xquery.lowering.names import XMLNS_NAMESPACE, Bindings
from penstock.twigs import sequences as q

Content = y.Expression | y.Characters | y.Enclosed


class ConstructorLowering(ClauseLowering):
    """Adds constructors to the lowering."""

    def direct_element(self, element: y.DirectElement) -> q.Item:
        """Return a direct element with its declarations, attributes and content."""
        declarations = self._declarations(element)
        outside = self.names
        self.names = outside.inside(declarations)
        name = self.names.of_element(element.name)
        attributes = self._attributes(element)
        content = tuple(self._content(part) for part in element.content if self._is_kept(part))
        self.names = outside
        around = _without(outside.declared, declarations)
        return q.NewElement(name, declarations, (*attributes, *content), (), around)

    def _declarations(self, element: y.DirectElement) -> Bindings:
        """Return the namespaces that the attributes of an element declare."""
        declarations: dict[str, str] = {}
        for attribute in element.attributes:
            if not is_declaration(attribute.name):
                continue
            prefix = attribute.name.local if attribute.name.prefix else ""
            parts = [part.text for part in attribute.value if isinstance(part, y.Characters)]
            if len(parts) < len(attribute.value):
                message = "a namespace is declared by an expression"
                way_out = "write the URI itself, with {{ for {"
                raise self.error("PQ0502", message, attribute.span, way_out, "XQST0022")
            uri = " ".join("".join(parts).split())
            self.check_binding(prefix, uri, attribute.span)
            if prefix and not uri:
                message = f"the prefix `{prefix}` is bound to no namespace"
                raise self.error("PQ0506", message, attribute.span, "write a URI", "XQST0085")
            if prefix in declarations:
                message = f"`{attribute.name.text}` stands twice"
                raise self.error("PQ0505", message, attribute.span, "keep one", "XQST0071")
            declarations[prefix] = uri
        return tuple(declarations.items())

    def check_binding(self, prefix: str, uri: str, span: y.Span) -> None:
        """Raise where XML forbids to bind a prefix to a namespace."""
        is_xml = (prefix == "xml") == (uri == XML_NAMESPACE)
        if prefix == "xmlns" or uri == XMLNS_NAMESPACE or not is_xml:
            message = f"`{prefix or 'the default'}` cannot be bound to `{uri}`"
            way_out = "xml and xmlns are bound already; use another prefix and another URI"
            raise self.error("PQ0506", message, span, way_out, "XQST0070")

    def _attributes(self, element: y.DirectElement) -> list[q.NewAttribute]:
        attributes = []
        seen: set[tuple[str, str]] = set()
        for attribute in element.attributes:
            if is_declaration(attribute.name):
                continue
            name = self.names.of_attribute(attribute.name)
            if (name.uri, name.local) in seen:
                message = f"the attribute `{attribute.name.text}` stands twice"
                raise self.error("PQ0505", message, attribute.span, "keep one", "XQST0040")
            seen.add((name.uri, name.local))
            value = tuple(self._content(part) for part in attribute.value)
            attributes.append(q.NewAttribute(name, value))
        return attributes

    def _is_kept(self, part: Content) -> bool:
        if not isinstance(part, y.Characters):
            return True
        return bool(part.text) and (self.keeps_space or not part.is_boundary_space)

    def _content(self, part: Content) -> q.Item:
        match part:
            case y.Characters(text=text):
                return q.Characters(text)
            case y.Enclosed(expression=expression):
                return self.lower(expression)
            case _:
                return self.lower(part)

    def computed(self, computed: y.Computed) -> q.Item:
        """Return a computed constructor."""
        content = self.lower(computed.content)
        match computed.kind:
            case "document":
                return q.NewDocument(content)
            case "text":
                return q.NewText(content)
            case "comment":
                return q.NewComment(content)
            case "processing-instruction":
                return q.NewInstruction(self._target(computed.name), content)
            case "attribute":
                name = self._name(computed.name, is_attribute=True)
                scope = () if isinstance(name, q.Name) else self.names.scope()
                return q.NewAttribute(name, (content,), scope)
        name = self._name(computed.name, is_attribute=False)
        scope = () if isinstance(name, q.Name) else self.names.scope()
        parts = () if content == q.Sequence(()) else (content,)
        return q.NewElement(name, (), parts, scope, _without(self.names.declared, ()))

    def _target(self, name: y.QName | y.Expression | None) -> str | q.Item:
        assert name is not None
        return name.local if isinstance(name, y.QName) else self.lower(name)

    def _name(self, name: y.QName | y.Expression | None, is_attribute: bool) -> q.Name | q.Item:
        """Return the name of a computed node; a literal is one if its prefix is bound."""
        assert name is not None
        resolve = self.names.of_attribute if is_attribute else self.names.of_element
        if isinstance(name, y.QName):
            return resolve(name)
        item = self.lower(name)
        if isinstance(item, q.Atomic) and item.type == "string":
            match = QNAME.fullmatch(item.text)
            if match is not None and (not match[1] or match[1] in self.names.bindings):
                return resolve(y.QName(match[1] or "", match[2], name.span))
        return item


def is_declaration(name: y.QName) -> bool:
    """Return whether an attribute of a direct constructor declares a namespace."""
    return name.prefix == "xmlns" or name.text == "xmlns"


def _without(around: Bindings, declarations: Bindings) -> Bindings:
    """Return the declarations around an element that it does not replace."""
    own = dict(declarations)
    return tuple((prefix, uri) for prefix, uri in around if prefix not in own and uri)
