"""Where other engines are known to deviate from XPath 1.0, in a form that can be tried out.

docs/notes/differences.md lists them all. These are the ones that random expressions come across:
an answer that differs from ours has to be the one that the deviation predicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from penstock.twigs import NodeKind
from penstock_testing.reference import paths
from penstock_testing.tree import Node, Tree

Items = Iterable[tuple[str, str, str]]
"""A node: its kind, its expanded name, its canonical XML or value. Or ``""``, type and text."""

_ENTITY = re.compile(rb"""<!ENTITY (\w+) "([^"]*)">""")

_following = paths._following
_preceding = paths._preceding


@contextmanager
def as_libxml2(tree: Tree) -> Iterator[None]:
    """Let the reference evaluator walk the axes of a tree as libxml2 does.

    What follows an attribute is what follows its element, without the content of that. And a walk
    to what precedes ends before the first node of the document, if it comes out of its content.
    """
    top = tree.root.children[0]
    is_missed = top.kind is NodeKind.ELEMENT and top.children and b"<!DOCTYPE" not in tree.source

    def following(node: Node) -> Iterator[Node]:
        beside = node.kind in paths.BESIDE_CONTENT and node.parent is not None
        return _following(node.parent if beside and node.parent else node)

    def preceding(node: Node) -> Iterator[Node]:
        return (one for one in _preceding(node) if not (is_missed and one is top))

    with patch.object(paths, "_following", following), patch.object(paths, "_preceding", preceding):
        yield


def without_entities(source: bytes) -> bytes:
    """Return a document with its entities replaced, and their declarations taken out.

    libxml2 puts the content of declared entities among the nodes of the document.
    """
    declared = dict(_ENTITY.findall(source))
    source = _ENTITY.sub(b"", source)
    while any(b"&%b;" % name in source for name in declared):
        for name, text in declared.items():
            source = source.replace(b"&%b;" % name, text)
    return source


def saxon_refuses(expression: str, reason: str) -> bool:
    """Return whether Saxon is known to refuse such an expression.

    It adds up numbers only, where XPath 1.0 makes NaN of the rest; and it sees that a path is
    empty, and then lacks a context for what stands behind it.
    """
    return "sum(" in expression or "the context item is absent" in reason


def saxon_fails(reason: str) -> bool:
    """Return whether Saxon is known to fail in its optimizer, whatever the query asks."""
    return "Bad parent pointer in expression tree" in reason


def saxon_divides(query: str, expected: Items, found: Items) -> bool:
    """Return whether two answers are equal but for the type of quotients.

    A quotient of integers that is whole is an integer for Saxon, and integers are decimals.
    """
    return "div" in query and _with_integers(expected) == _with_integers(found)


def _with_integers(items: Items) -> list[tuple[str, str, str]]:
    return [
        (kind, "integer" if name == "decimal" and "." not in text else name, text)
        for kind, name, text in items
    ]
