"""What two node tests amount to together."""

from __future__ import annotations

from re import escape, fullmatch

from penstock.twigs import NodeKind, NodeTest

_UNDECIDED = ("*", "*")


def meet(left: NodeTest, right: NodeTest) -> tuple[NodeTest, ...]:
    """Return the one test that both amount to; none if no node passes both; else the two."""
    if left.kind is NodeKind.ANY or right.kind is NodeKind.ANY:
        return (right,) if left.kind is NodeKind.ANY else (left,)
    if left.kind is not right.kind:
        return ()
    if left.local is not None and right.local is not None and left.local != right.local:
        return ()
    local = right.local if left.local is None else left.local
    uris = _meet_uris(left.uris, right.uris)
    if uris == ():
        return ()
    if uris is _UNDECIDED:
        return left, right
    return (NodeTest(left.kind, local, uris),)


def _meet_uris(
    left: tuple[str, ...] | None, right: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    if left is None or left == right:
        return right
    if right is None:
        return left
    if not any("*" in uri for uri in left):
        return tuple(uri for uri in left if _matches_any(uri, right))
    if not any("*" in uri for uri in right):
        return tuple(uri for uri in right if _matches_any(uri, left))
    return _UNDECIDED


def _matches_any(uri: str, patterns: tuple[str, ...]) -> bool:
    return any(fullmatch(escape(p).replace(r"\*", "(?s:.*)"), uri) for p in patterns)
