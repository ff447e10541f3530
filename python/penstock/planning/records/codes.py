"""The numbers that stand for things in programs that request records."""

from penstock.planning.program import COMPARISONS as OPERATORS
from penstock.twigs import JoinKind

NONE = 0xFFFF_FFFF
FOREVER_US = (1 << 63) - 1
KINDS = {
    JoinKind.JOIN: 0,
    JoinKind.FOLLOWED_BY: 1,
    JoinKind.NOT_FOLLOWED_BY: 2,
    JoinKind.MEET: 3,
}
ALONE = 4
"""Where others have the kind of their operator: a query of one block."""
VALUED, SELECTED = 1, 2
"""What is needed of a variable's nodes: their string values, their texts."""

__all__ = ["ALONE", "FOREVER_US", "KINDS", "NONE", "OPERATORS", "SELECTED", "VALUED"]
