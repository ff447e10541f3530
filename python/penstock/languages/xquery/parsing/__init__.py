"""Recursive descent over the grammar of XQuery 1.0, one file per part of the grammar.

Each class adds a part to the one before it: tokens, types, operators, paths, FLWOR expressions,
constructors, the prolog. The last one, ``Parser``, parses a whole query.
"""

from penstock.languages.xquery.parsing.prolog import Parser

__all__ = ["Parser"]
