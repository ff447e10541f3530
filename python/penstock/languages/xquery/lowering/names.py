"""The namespaces in force at a place of a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from penstock.errors import QueryError
from penstock.languages.xpath.namespaces import NO_NAMESPACE, XML_NAMESPACE
from penstock.languages.xquery import syntax as y
from penstock.twigs.nodetests import Axis, NodeKind, NodeTest
from penstock.twigs.sequences import Name

XMLNS_NAMESPACE = "http://www.w3.org/2000/xmlns/"
XS_NAMESPACE = "http://www.w3.org/2001/XMLSchema"
XSI_NAMESPACE = "http://www.w3.org/2001/XMLSchema-instance"
FN_NAMESPACE = "http://www.w3.org/2005/xpath-functions"
LOCAL_NAMESPACE = "http://www.w3.org/2005/xquery-local-functions"

PREDECLARED = {
    "xml": (XML_NAMESPACE,),
    "xs": (XS_NAMESPACE,),
    "xsi": (XSI_NAMESPACE,),
    "fn": (FN_NAMESPACE,),
    "local": (LOCAL_NAMESPACE,),
}

Bindings = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Names:
    """What prefixes stand for; the empty one is the namespace of elements and types.

    A prefix may stand for several namespaces, or a glob of them, in node tests only.
    ``declared`` are the declarations of the direct constructors around the place.
    """

    text: str
    bindings: Mapping[str, tuple[str, ...]]
    function: str = FN_NAMESPACE
    declared: Bindings = ()

    def with_bindings(self, bindings: Iterable[tuple[str, tuple[str, ...]]]) -> Names:
        """Return the namespaces with more prefixes, or other ones."""
        return replace(self, bindings={**self.bindings, **dict(bindings)})

    def inside(self, declarations: Bindings) -> Names:
        """Return the namespaces inside a direct constructor with these declarations."""
        if not declarations:
            return self
        names = self.with_bindings((prefix, (uri,)) for prefix, uri in declarations)
        return replace(names, declared=tuple({**dict(self.declared), **dict(declarations)}.items()))

    def scope(self) -> Bindings:
        """Return the prefixes that stand for one namespace, for names known at evaluation."""
        return tuple(
            (prefix, uris[0])
            for prefix, uris in sorted(self.bindings.items())
            if len(uris) == 1 and "*" not in uris[0] and (prefix or uris[0])
        )

    def uris_of(self, prefix: str, span: y.Span) -> tuple[str, ...]:
        """Return the namespaces of a prefix.

        Raises:
            QueryError: Nothing is bound to it.
        """
        uris = self.bindings.get(prefix, NO_NAMESPACE)
        if uris == NO_NAMESPACE:
            message = f"nothing is bound to the prefix `{prefix}`"
            way_out = f"declare namespace {prefix} = 'http://…'; or namespaces={{'{prefix}': '…'}}"
            raise QueryError("PQ0111", message, span, way_out, self.text, "XPST0081")
        return uris

    def uri_of(self, name: y.QName, default: tuple[str, ...] = NO_NAMESPACE) -> str:
        """Return the one namespace of a name; without a prefix it is the default.

        Raises:
            QueryError: Nothing is bound to the prefix, or several namespaces are.
        """
        uris = self.uris_of(name.prefix, name.span) if name.prefix else default
        if len(uris) > 1 or "*" in uris[0]:
            subject = (
                f"the prefix `{name.prefix}`" if name.prefix else "an element without a prefix"
            )
            message = f"{subject} stands for several namespaces, and here one is needed"
            way_out = "use a prefix of one namespace, or declare it: <a xmlns='…'>"
            raise QueryError("PQ0509", message, name.span, way_out, self.text)
        return uris[0]

    def of_element(self, name: y.QName) -> Name:
        """Return the name of a constructed element."""
        uri = self.uri_of(name, self.bindings.get("", NO_NAMESPACE))
        return Name(name.local, uri, name.prefix)

    def of_attribute(self, name: y.QName) -> Name:
        """Return the name of a constructed attribute, or of a variable."""
        return Name(name.local, self.uri_of(name), name.prefix)

    def of_function(self, name: y.QName) -> Name:
        """Return the name of a function."""
        return Name(name.local, self.uri_of(name, (self.function,)), name.prefix)

    def test(self, test: y.NameTest, axis: Axis) -> NodeTest:
        """Return a name test on an axis."""
        is_attribute = axis is Axis.ATTRIBUTE
        kind = NodeKind.ATTRIBUTE if is_attribute else NodeKind.ELEMENT
        if test.prefix == "*":
            return NodeTest(kind, test.local)
        if test.prefix:
            return NodeTest(kind, test.local, self.uris_of(test.prefix, test.span))
        uris = NO_NAMESPACE if is_attribute else self.bindings.get("", NO_NAMESPACE)
        return NodeTest(kind, test.local, uris)
