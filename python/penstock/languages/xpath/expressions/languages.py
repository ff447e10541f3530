"""``lang()``: the language that a node is in."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING

from penstock.languages.xpath.namespaces import XML_NAMESPACE
from penstock.twigs import Axis, NodeKind, NodeTest
from penstock.twigs import expressions as x

if TYPE_CHECKING:
    from penstock.languages.xpath.scopes import Scope

_ELEMENT = NodeTest(NodeKind.ELEMENT)
_XML_LANG = NodeTest(NodeKind.ATTRIBUTE, "lang", (XML_NAMESPACE,))


def lower_lang(scope: Scope, wanted: x.Atom, here: x.Nodes) -> x.Atom:
    """Return whether the nearest ``xml:lang`` around a node is a language or a kind of it.

    Letters of ASCII count the same in both cases, and what follows a hyphen does not matter
    (section 4.3). Without such an attribute the answer is no, whatever is wanted.
    """
    has_lang = x.Exists(x.Step(x.Here(), Axis.ATTRIBUTE, _XML_LANG))
    nearest = x.Compare("=", x.Position(), scope.slots.add(1.0))
    element = x.Step(here, Axis.ANCESTOR_OR_SELF, _ELEMENT, (has_lang, nearest))
    found = x.Step(element, Axis.ATTRIBUTE, _XML_LANG)
    language = _in_small_letters(scope, x.StringOf(found))
    sought = _in_small_letters(scope, wanted)
    longer = x.Call("concat", (sought, scope.slots.add("-")))
    is_kind = x.Or((x.Compare("=", language, sought), x.Call("starts-with", (language, longer))))
    return x.And((x.Exists(found), is_kind))


def _in_small_letters(scope: Scope, atom: x.Atom) -> x.Atom:
    letters = (scope.slots.add(ascii_uppercase), scope.slots.add(ascii_lowercase))
    return x.Call("translate", (atom, *letters))
