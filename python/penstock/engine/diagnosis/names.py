"""The names in samples, held against the names in a query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import islice
from xml.parsers import expat

from penstock.engine.diagnosis.advice import Advice
from penstock.engine.diagnosis.samples import Samples
from penstock.errors import DocumentError
from penstock.sources import Input
from penstock.twigs import NodeKind, NodeTest, Query, TwigNode, sequence_parts
from penstock.twigs.depth import roots_of
from penstock.twigs.expressions import Step
from penstock.twigs.parts import all_parts
from penstock.twigs.sequences import Sequences

_NAMES_MAX = 100_000
_LISTED_MAX = 5
_SEPARATOR = "\n"


@dataclass
class Names:
    """Local names of the samples, each with the namespaces it occurs in; and prefixes there."""

    elements: dict[str, set[str]] = field(default_factory=dict)
    attributes: dict[str, set[str]] = field(default_factory=dict)
    prefixes: dict[str, set[str]] = field(default_factory=dict)
    is_complete: bool = True
    """Whether all names were read: a document may be damaged, or have too many of them."""

    def add(self, known: dict[str, set[str]], expanded: str) -> None:
        """Add a name to the elements or to the attributes."""
        uri, _, local = expanded.rpartition(_SEPARATOR)
        if local in known or len(known) < _NAMES_MAX:
            known.setdefault(local, set()).add(uri)
        else:
            self.is_complete = False


def names_of(samples: Samples) -> Names:
    """Return the names of samples, which are read for them once."""
    found = samples.kept.get("names")
    if not isinstance(found, Names):
        samples.kept["names"] = found = Names()
        for document in samples:
            read_names(document, found)
        samples.is_cut = samples.is_cut or not found.is_complete
    return found


def read_names(document: Input, names: Names) -> None:
    """Add the names of a document, as far as it can be read."""
    # A document that is text may declare any encoding.
    parser = expat.ParserCreate(document.encoding, namespace_separator=_SEPARATOR)
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def start(tag: str, attributes: dict[str, str]) -> None:
        names.add(names.elements, tag)
        for name in attributes:
            names.add(names.attributes, name)

    def declare(prefix: str | None, uri: str | None) -> None:
        if uri:
            names.prefixes.setdefault(prefix or "", set()).add(uri)

    parser.StartElementHandler = start
    parser.StartNamespaceDeclHandler = declare
    try:
        for piece in document.pieces():
            parser.Parse(bytes(piece), False)
    except (DocumentError, expat.ExpatError, LookupError):
        # The query runs on the document as well, and reports what is wrong with it.
        names.is_complete = False


def name_tests(query: Query) -> list[NodeTest]:
    """Return the distinct tests on names of elements and attributes, as the query has them."""
    if isinstance(query.output, Sequences):
        parts = sequence_parts.all_parts(*sequence_parts.roots_of(query.output))
    else:
        parts = all_parts(*roots_of(query))
    steps = [part for part in parts if isinstance(part, TwigNode | Step)]
    tests = dict.fromkeys(step.test for step in steps if not step.test.is_wildcard)
    return [test for test in tests if test.kind in (NodeKind.ELEMENT, NodeKind.ATTRIBUTE)]


def advise(tests: Iterable[NodeTest], names: Names, advice: Advice) -> list[str]:
    """Return, for every test that nothing in the samples passes, what there is instead."""
    lines = []
    elsewhere: dict[tuple[NodeKind, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for test in tests:
        is_element = test.kind is NodeKind.ELEMENT
        known = names.elements if is_element else names.attributes
        if test.local is None:
            every = set().union(*known.values())
            if not any(_is_in(uri, test.uris) for uri in every):
                what = "element" if is_element else "attribute"
                lines.append(f"no {what} is in {_listed(test.uris)}; there are {_listed(every)}")
            continue
        uris = known.get(test.local, set())
        if not uris:
            lines.append(_absent(test.local, names, is_element=is_element))
        elif not any(_is_in(uri, test.uris) for uri in uris):
            key = (test.kind, test.uris or (), tuple(sorted(uris)))
            elsewhere.setdefault(key, []).append(test.local)
    for (kind, asked, found), locals_ in elsewhere.items():
        lines += _elsewhere(kind, asked, found, locals_, advice)
    return lines


def _elsewhere(
    kind: NodeKind,
    asked: tuple[str, ...],
    found: tuple[str, ...],
    locals_: list[str],
    advice: Advice,
) -> list[str]:
    """Return how to reach names that occur in other namespaces only."""
    which = ", ".join(f"`{local}`" for local in locals_)
    verb = "exists" if len(locals_) == 1 else "exist"
    first = f"{which} {verb} only in {_listed(found)}; the query asks for {_listed(asked)}"
    bound = [uri for uri in found if uri]
    if not bound:
        return [first, f"  write it without a prefix: {locals_[0]}"]
    name = locals_[0] if kind is NodeKind.ELEMENT else f"@{locals_[0]}"
    prefixed = name.replace(locals_[0], f"p:{locals_[0]}")
    lines = [first, f"  bind a prefix and use it: {advice.bind('p', bound)} and {prefixed}"]
    if kind is NodeKind.ELEMENT and asked == ("",):
        default = advice.bind("", bound)
        lines.append(f"  or make it the namespace of names without a prefix: {default}")
    return lines


def _absent(local: str, names: Names, *, is_element: bool) -> str:
    """Return what there is instead of a name that does not occur."""
    known, others = names.elements, names.attributes
    what, other = "element", f"attribute: @{local}"
    if not is_element:
        known, others = others, known
        what, other = "attribute", f"element: {local}"
    first = f"no {what} is called `{local}`"
    if local in others:
        return f"{first}; it is an {other}"
    if not known:
        return f"{first}; there are no {what}s"
    by_lower = {name.lower(): name for name in known}
    close = get_close_matches(local.lower(), by_lower, n=_LISTED_MAX)
    if close:
        return f"{first}; similar: {', '.join(by_lower[c] for c in close)}"
    shown = ", ".join(islice(sorted(known), _LISTED_MAX))
    more = ", …" if len(known) > _LISTED_MAX else ""
    return f"{first}; there are {shown}{more}"


def _is_in(uri: str, uris: tuple[str, ...] | None) -> bool:
    return uris is None or any(
        fnmatchcase(uri, one.replace("[", "[[]").replace("?", "[?]")) if "*" in one else uri == one
        for one in uris
    )


def _listed(uris: Iterable[str] | None) -> str:
    return " or ".join(f"namespace {uri}" if uri else "no namespace" for uri in sorted(uris or ()))
