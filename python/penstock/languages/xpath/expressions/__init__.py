"""From the syntax tree of XPath 1.0 to expressions: all of the language."""

from penstock.languages.xpath.expressions.lowering import (
    AT_RESULT,
    UNDER_TEST,
    Asked,
    ExpressionLowering,
    lower_selection,
)

__all__ = ["AT_RESULT", "UNDER_TEST", "Asked", "ExpressionLowering", "lower_selection"]
