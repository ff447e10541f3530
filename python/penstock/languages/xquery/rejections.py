"""What is outside the supported part of XQuery: each construct with a way out."""

from __future__ import annotations

from penstock.errors import QueryError
from penstock.languages.xquery.tokens import SYNTAX_ERROR, Span

_OUTSIDE = {
    # construct: (what is not supported, the way out, XQuery's code)
    "import module": ("modules cannot be imported", "declare the functions here", "XQST0016"),
    "module": ("a query is no library module", "add the expression to evaluate", "XQST0016"),
    "import schema": ("schemas cannot be imported", "cast values: xs:date(@day)", "XQST0009"),
    "schema": ("there are no schemas", "test the name: element(a), attribute(a)", "XPST0008"),
    "typed": ("there are no schemas, so no node has this type", "test the name only", "XPST0008"),
    "validate": ("there are no schemas to validate with", "leave it out", "XQST0075"),
    "external function": ("functions cannot be external", "write its body in {}", "XPST0017"),
    "namespace axis": ("XQuery has no namespace axis", "use in-scope-prefixes(…)", "XPST0010"),
    "collation": (
        "strings are compared by code points only",
        "leave the collation out; compare lower-case(…) to ignore case",
        "XQST0076",
    ),
    "default collation": (
        "strings are compared by code points only",
        "leave the collation out; compare lower-case(…) to ignore case",
        "XQST0038",
    ),
    "copy-namespaces": (
        "copies always preserve and inherit namespaces",
        "leave the declaration out",
        "",
    ),
}

_LATER = {
    # construct of XQuery 3.0 or an extension: the way out
    "switch": "write if (…) then … else if (…) then … else …",
    "try": "test first: if ($x castable as xs:integer) then … else …",
    "group by": "write for $key in distinct-values(…) let $group := …[. = $key] return …",
    "count clauses": "number the items: for $x at $number in …",
    "window clauses": "use positions: for $x at $number in …",
    "allowing empty": "write if (empty(…)) then … else …",
    "||": "write concat(a, b)",
    "!": "write for $x in … return …, or a path; write not(…) for negation",
    "=>": "write the call: f(a, b)",
    "maps": "write elements, and select one by a predicate",
    "arrays": "write a sequence: (a, b, c)",
    "functions as values": "declare the function, and call it by its name",
    "annotations": "leave the annotation out",
    "namespace constructors": "write a direct constructor: <a xmlns:p='…'/>",
    "names with braces": "bind a prefix: declare namespace p = '…'; p:name",
    "string constructors": "write concat(…)",
    "declarations of the context item": "use a variable",
    "decimal formats": "leave the declaration out",
    "defaults of external variables": "give the value with variables={…}",
    "if without else": "write else ()",
    "updates": "construct the changed element in return",
    "full-text search": "use contains(…) or matches(…)",
    "unions of types": "write two cases",
}


def rejection(construct: str, span: Span, text: str) -> QueryError:
    """Return the error about a construct outside the supported part."""
    if construct in _OUTSIDE:
        message, way_out, code = _OUTSIDE[construct]
        return QueryError("PQ0501", message, span, way_out, text, code or SYNTAX_ERROR)
    message = f"XQuery 1.0 has no {construct}"
    return QueryError("PQ0501", message, span, _LATER[construct], text, SYNTAX_ERROR)
