"""From the syntax tree of XPath 1.0 to expressions: all of the language."""

from penstock.languages.xpath.expressions.lowering import Asked, ExpressionLowering, lower_query

__all__ = ["Asked", "ExpressionLowering", "lower_query"]
