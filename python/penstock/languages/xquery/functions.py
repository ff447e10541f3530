"""The built-in functions of XQuery, with the numbers of arguments that each takes.

Names are those of XQuery 1.0 and XPath 2.0 Functions and Operators. A collation may be written
where that standard allows one; it is dropped, because strings are compared by code points.
"""

from __future__ import annotations

from penstock.languages.xquery.types import CAST_TYPES

CODEPOINTS = "http://www.w3.org/2005/xpath-functions/collation/codepoint"
"""The one collation."""

MANY = range(2, 1_000_000)
"""The arities of ``concat``, the one function that takes any number of arguments."""

FUNCTIONS: dict[str, tuple[int, ...] | range] = {
    # Nodes
    "node-name": (1,),
    "nilled": (1,),
    "string": (0, 1),
    "data": (1,),
    "base-uri": (0, 1),
    "document-uri": (1,),
    "name": (0, 1),
    "local-name": (0, 1),
    "namespace-uri": (0, 1),
    "lang": (1, 2),
    "root": (0, 1),
    "id": (1, 2),
    "number": (0, 1),
    # Errors and traces
    "error": (0, 1, 2, 3),
    "trace": (2,),
    # Numbers
    "abs": (1,),
    "ceiling": (1,),
    "floor": (1,),
    "round": (1,),
    "round-half-to-even": (1, 2),
    # Strings
    "codepoints-to-string": (1,),
    "string-to-codepoints": (1,),
    "compare": (2,),
    "codepoint-equal": (2,),
    "concat": MANY,
    "string-join": (2,),
    "substring": (2, 3),
    "string-length": (0, 1),
    "normalize-space": (0, 1),
    "normalize-unicode": (1, 2),
    "upper-case": (1,),
    "lower-case": (1,),
    "translate": (3,),
    "encode-for-uri": (1,),
    "iri-to-uri": (1,),
    "escape-html-uri": (1,),
    "contains": (2,),
    "starts-with": (2,),
    "ends-with": (2,),
    "substring-before": (2,),
    "substring-after": (2,),
    "matches": (2, 3),
    "replace": (3, 4),
    "tokenize": (2, 3),
    "resolve-uri": (1, 2),
    # Truth values
    "true": (0,),
    "false": (0,),
    "not": (1,),
    "boolean": (1,),
    # Dates, times and durations
    "years-from-duration": (1,),
    "months-from-duration": (1,),
    "days-from-duration": (1,),
    "hours-from-duration": (1,),
    "minutes-from-duration": (1,),
    "seconds-from-duration": (1,),
    "year-from-dateTime": (1,),
    "month-from-dateTime": (1,),
    "day-from-dateTime": (1,),
    "hours-from-dateTime": (1,),
    "minutes-from-dateTime": (1,),
    "seconds-from-dateTime": (1,),
    "timezone-from-dateTime": (1,),
    "year-from-date": (1,),
    "month-from-date": (1,),
    "day-from-date": (1,),
    "timezone-from-date": (1,),
    "hours-from-time": (1,),
    "minutes-from-time": (1,),
    "seconds-from-time": (1,),
    "timezone-from-time": (1,),
    "adjust-dateTime-to-timezone": (1, 2),
    "adjust-date-to-timezone": (1, 2),
    "adjust-time-to-timezone": (1, 2),
    "dateTime": (2,),
    "current-dateTime": (0,),
    "current-date": (0,),
    "current-time": (0,),
    "implicit-timezone": (0,),
    # Names
    "resolve-QName": (2,),
    "QName": (2,),
    "prefix-from-QName": (1,),
    "local-name-from-QName": (1,),
    "namespace-uri-from-QName": (1,),
    "namespace-uri-for-prefix": (2,),
    "in-scope-prefixes": (1,),
    # Sequences
    "index-of": (2,),
    "empty": (1,),
    "exists": (1,),
    "distinct-values": (1,),
    "insert-before": (3,),
    "remove": (2,),
    "reverse": (1,),
    "subsequence": (2, 3),
    "unordered": (1,),
    "zero-or-one": (1,),
    "one-or-more": (1,),
    "exactly-one": (1,),
    "deep-equal": (2,),
    "count": (1,),
    "avg": (1,),
    "max": (1,),
    "min": (1,),
    "sum": (1, 2),
    # The context
    "position": (0,),
    "last": (0,),
    "static-base-uri": (0,),
    "default-collation": (0,),
    # Streams
    "doc": (1,),
    "document": (1,),
    "collection": (1,),
    "stream": (1,),
}
"""Function names and arities, without the collation that some take at the end."""

COLLATED = frozenset(
    {
        "compare",
        "contains",
        "starts-with",
        "ends-with",
        "substring-before",
        "substring-after",
        "index-of",
        "distinct-values",
        "deep-equal",
        "max",
        "min",
    }
)
"""The functions that take a collation as one more argument."""

OF_CONTEXT = frozenset(
    {
        "string",
        "base-uri",
        "name",
        "local-name",
        "namespace-uri",
        "root",
        "number",
        "string-length",
        "normalize-space",
    }
)
"""The functions whose argument is the context item if none is written."""

NODE_OF_CONTEXT = frozenset({"lang", "id"})
"""The functions whose second argument is the context item if it is not written."""

STREAMS = frozenset({"doc", "document", "collection", "stream"})

CONSTRUCTORS = CAST_TYPES
"""The local names of constructor functions in ``xs``; each takes one argument."""

TRUTHS = frozenset(
    {
        "true",
        "false",
        "not",
        "boolean",
        "empty",
        "exists",
        "deep-equal",
        "contains",
        "starts-with",
        "ends-with",
        "matches",
        "lang",
        "codepoint-equal",
        "nilled",
    }
)
"""The functions whose value is a truth value or nothing."""

STRINGS = frozenset(
    {
        "string",
        "name",
        "local-name",
        "namespace-uri",
        "concat",
        "string-join",
        "substring",
        "normalize-space",
        "upper-case",
        "lower-case",
        "translate",
        "substring-before",
        "substring-after",
        "replace",
        "tokenize",
    }
)
"""The functions whose value is made of strings."""

UNSUPPORTED = {
    "idref": "compare attributes: //*[@idref = 'x']",
    "doc-available": "a stream is there, or the query is not evaluated",
}
"""Functions of the standard that are not there, and what to write instead."""
