"""XQuery 1.0, from text to expressions over sequences."""

from penstock.languages.xquery.frontend import bind, parse, xquery
from penstock.languages.xquery.values import stream_of

__all__ = ["bind", "parse", "stream_of", "xquery"]
