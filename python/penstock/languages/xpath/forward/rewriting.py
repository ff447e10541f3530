"""From an expression with reverse axes to one without."""

from __future__ import annotations

from penstock.languages.xpath.forward.nodesets import forward, looks_back
from penstock.languages.xpath.forward.walking import Walk
from penstock.languages.xpath.scopes import Scope
from penstock.languages.xpath.syntax import Expression

__all__ = ["look_forward", "looks_back"]


def look_forward(expression: Expression, scope: Scope) -> Expression:
    """Return an expression that selects the same from the document node, without reverse axes.

    Raises:
        NoTwigError: There is no such expression, or none of a reasonable size.
    """
    return forward(Walk(scope), expression, at_root=True)
