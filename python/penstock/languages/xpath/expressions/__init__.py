"""From the syntax tree of XPath 1.0 to expressions: all of the language."""

from penstock.languages.xpath.expressions.lowering import (
    UNDER_TEST,
    Asked,
    ExpressionLowering,
    Focus,
    lower_selection,
)

__all__ = ["UNDER_TEST", "Asked", "ExpressionLowering", "Focus", "lower_selection"]
