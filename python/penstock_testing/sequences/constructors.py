"""Constructors of nodes."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.twigs import NodeKind
from penstock.twigs import sequences as q
from penstock_testing.sequences.casting import NCNAME, text_of
from penstock_testing.sequences.context import Context
from penstock_testing.sequences.errors import DynamicError, mistyped
from penstock_testing.sequences.items import Atom, Items, QName, primitive
from penstock_testing.sequences.trees import build_element, copy, merge_texts, new
from penstock_testing.tree import XML, Node

XMLNS = "http://www.w3.org/2000/xmlns/"


def element(expression: q.NewElement, context: Context) -> Items:
    """Return a new element."""
    name = _name(expression.name, expression.scope, context, has_default=True)
    content = merge_texts(_content(expression.content, context))
    attributes, children = _split(content)
    built = build_element(
        (name.local, name.uri, name.prefix),
        (*expression.around, *expression.namespaces),
        attributes,
        children,
    )
    return [context.world.forest.plant_new(built)]


def attribute(expression: q.NewAttribute, context: Context) -> Items:
    """Return a new attribute."""
    name = _name(expression.name, expression.scope, context, has_default=False)
    if name.uri == XMLNS or (not name.uri and name.local == "xmlns"):
        raise DynamicError("XQDY0044", "an attribute is no namespace declaration")
    value = "".join(_text_part(part, context) for part in expression.value)
    if name.uri == XML and name.local == "id":
        value = " ".join(value.split())
    built = new(NodeKind.ATTRIBUTE, name.local, name.uri, name.prefix, value)
    return [context.world.forest.plant_new(built)]


def text(expression: q.NewText, context: Context) -> Items:
    """Return a new text, or nothing for an empty value."""
    atoms = context.atoms(expression.value)
    if not atoms:
        return []
    value = " ".join(map(text_of, atoms))
    return [context.world.forest.plant_new(new(NodeKind.TEXT, value=value))]


def comment(expression: q.NewComment, context: Context) -> Items:
    """Return a new comment."""
    value = " ".join(map(text_of, context.atoms(expression.value)))
    if "--" in value or value.endswith("-"):
        raise DynamicError("XQDY0072", "a comment has no two hyphens in a row, and none at its end")
    return [context.world.forest.plant_new(new(NodeKind.COMMENT, value=value))]


def instruction(expression: q.NewInstruction, context: Context) -> Items:
    """Return a new processing instruction."""
    target = expression.target
    if not isinstance(target, str):
        target = _target(context.atom(target, "a target"))
    if target.lower() == "xml":
        raise DynamicError("XQDY0064", "a processing instruction is not called xml")
    value = " ".join(map(text_of, context.atoms(expression.value))).lstrip(" \t\r\n")
    if "?>" in value:
        raise DynamicError("XQDY0026", "the value of an instruction does not contain ?>")
    return [context.world.forest.plant_new(new(NodeKind.INSTRUCTION, target, value=value))]


def _target(atom: Atom | None) -> str:
    if atom is None or primitive(atom.type) not in ("string", "untypedAtomic"):
        raise mistyped("the target of an instruction is a string")
    target = str(atom.value).strip()
    if not NCNAME.fullmatch(target):
        raise DynamicError("XQDY0041", f"{target!r} is no target")
    return target


def document(expression: q.NewDocument, context: Context) -> Items:
    """Return a new document."""
    content = merge_texts(_content([expression.content], context))
    if any(node.kind is NodeKind.ATTRIBUTE for node in content):
        raise mistyped("a document has no attributes")
    built = new(NodeKind.DOCUMENT)
    built.children = [copy(node, built, {}) for node in content]
    return [context.world.forest.plant_new(built)]


def _content(parts: Iterable[object], context: Context) -> list[Node]:
    """Return the nodes of a content, texts not merged yet; values side by side get a space."""
    nodes: list[Node] = []
    for part in parts:
        if isinstance(part, q.Characters):
            nodes.append(new(NodeKind.TEXT, value=part.text))
            continue
        is_after_atom = False
        for item in context.items(part):
            if isinstance(item, Atom):
                space = " " if is_after_atom else ""
                nodes.append(new(NodeKind.TEXT, value=space + text_of(item)))
            elif item.kind is NodeKind.DOCUMENT:
                nodes += item.children
            else:
                nodes.append(item)
            is_after_atom = isinstance(item, Atom)
    return nodes


def _split(content: list[Node]) -> tuple[list[Node], list[Node]]:
    """Return the attributes and the children of a content."""
    attributes: list[Node] = []
    for place, node in enumerate(content):
        if node.kind is NodeKind.ATTRIBUTE:
            if place > len(attributes):
                raise DynamicError("XQTY0024", "an attribute comes after content")
            attributes.append(node)
    return attributes, content[len(attributes) :]


def _text_part(part: object, context: Context) -> str:
    if isinstance(part, q.Characters):
        return part.text
    return " ".join(map(text_of, context.atoms(part)))


def _name(
    name: object, scope: tuple[tuple[str, str], ...], context: Context, has_default: bool
) -> QName:
    """Return a name as written, or as computed."""
    if isinstance(name, q.Name):
        return QName(name.local, name.uri, name.prefix)
    atom = context.atom(name, "a name")
    if atom is None:
        raise mistyped("a name is missing")
    if isinstance(atom.value, QName):
        return atom.value
    if primitive(atom.type) not in ("string", "untypedAtomic"):
        raise mistyped(f"xs:{atom.type} is no name")
    prefix, colon, local = str(atom.value).strip().rpartition(":")
    if not NCNAME.fullmatch(local) or (colon and not NCNAME.fullmatch(prefix)):
        raise DynamicError("XQDY0074", f"{atom.value!r} is no name")
    bound = {"xml": XML, **dict(scope)}
    if prefix and not bound.get(prefix):
        raise DynamicError("XQDY0074", f"the prefix {prefix} is not declared")
    uri = bound.get(prefix, "") if prefix or has_default else ""
    return QName(local, uri, prefix)
