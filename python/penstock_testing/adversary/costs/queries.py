"""Queries that look at pairs of nodes, or at more: axes without bounds, positions, sets."""

from __future__ import annotations

from random import Random

from penstock.errors import QueryError
from penstock.languages.xpath import xpath

_AXES = (
    *("ancestor", "ancestor-or-self", "descendant", "descendant-or-self"),
    *("following", "preceding", "following-sibling", "preceding-sibling"),
    *("child", "parent", "self"),
)
_WIDE = ("preceding", "following", "ancestor", "following-sibling", "preceding-sibling")
_TESTS = ("*", "*", "a", "a", "b", "c", "node()", "text()")
_COMPARISONS = ("=", "=", "!=", "<", ">=")
_CONSTANTS = ("'x'", "'1'", "1", "2", "''")
KNOWN = (
    "//a[preceding::a/following::a = .]",
    "//a[count(preceding::a) = count(following::a)]",
    "//*[. = preceding::*]",
    "//*[last()]/preceding::*[position() = last()]",
    "//a[sum(preceding::a) > sum(following::a)]",
    "//a/following-sibling::*/preceding-sibling::*[last()]",
    "//*[ancestor::*[following::*[. = //a]]]",
    "count(//a/preceding::a/following::a)",
    "//*/namespace::*",
    "//*/namespace::*[. = //namespace::*]",
    "//@*[. = //@*]",
    "//*[@* = preceding::*/@*]",
    "id(id(//a)/@x)/preceding::a",
    "//a[id(.)/preceding::a = id(@x)]",
    "//*",
    "//node()",
    "//@*",
    "//*[not(following::a = .)]",
    "//a[string-length(.) > count(//*[. = 'x'])]",
    "//a//a//a//a//a[b//b//b]",
    "//*[.//*[.//*[.//*]]]",
    "(//a | //b/following::c)[last()]",
    "//a[. = (//b | //c)]/ancestor::*[count(.//a) > 3]",
    "//*[concat(., preceding-sibling::*[1]) = following::*]",
)
"""Some that are known to be bad, so that every run has them."""


def write_query(random: Random) -> str:
    """Return a query that is supported, mostly with costs that grow with pairs of nodes."""
    if random.random() < 0.25:
        return random.choice(KNOWN)
    while True:
        query = _top(random)
        try:
            xpath(query)
        except QueryError:
            continue
        return query


def _top(random: Random) -> str:
    path = _path(random, 3)
    kind = random.random()
    if kind < 0.55:
        return path
    if kind < 0.65:
        return f"({path} | {_path(random, 2)})[{random.choice(('1', 'last()', 'last() - 1', '7'))}]"
    if kind < 0.75:
        return f"{random.choice(('count', 'sum', 'string', 'boolean'))}({path})"
    if kind < 0.85:
        return f"{path} | {_path(random, 2)}"
    return f"{path} {random.choice(_COMPARISONS)} {_path(random, 2)}"


def _path(random: Random, nesting: int) -> str:
    """Return a path from the root."""
    steps = [_step(random, nesting) for _ in range(random.randint(0, 3))]
    first = f"//{random.choice(_TESTS[:6])}"
    if random.random() < 0.7:
        first += _predicate(random, nesting)
    return "/".join([first, *steps])


def _relative(random: Random, nesting: int) -> str:
    kind = random.random()
    if kind < 0.1:
        return "."
    if kind < 0.2:
        return random.choice(("@x", "@*", "@*[2]", "namespace::*"))
    if kind < 0.3:
        return _path(random, nesting)
    if kind < 0.35:
        return f"id({random.choice(('.', '@x', _relative(random, nesting)))})"
    steps = [_step(random, nesting, _WIDE) for _ in range(random.randint(1, 3))]
    return "/".join(steps)


def _step(random: Random, nesting: int, axes: tuple[str, ...] = _AXES) -> str:
    axis = random.choice(axes if random.random() < 0.7 else _AXES)
    predicates = "".join(
        _predicate(random, nesting) for _ in range(random.choice((0, 0, 0, 1, 1, 2)))
    )
    return f"{axis}::{random.choice(_TESTS)}{predicates}"


def _predicate(random: Random, nesting: int) -> str:
    if nesting <= 0:
        return random.choice(("[1]", "[last()]", "[. = 'x']", "[@x]", "[2]"))
    inner = nesting - 1
    path, other = _relative(random, inner), _relative(random, inner)
    comparison, constant = random.choice(_COMPARISONS), random.choice(_CONSTANTS)
    forms = (
        f"{path} = {other}",
        f"{path} {comparison} {other}",
        f"{path} {comparison} {other}",
        f"{path} {comparison} {constant}",
        f"count({path}) {comparison} count({other})",
        f"count({path}) > {random.randint(0, 3)}",
        f"sum({path}) {comparison} sum({other})",
        f"sum({path}) > {random.randint(0, 3)}",
        path,
        f"not({path})",
        f"{path} | {other}",
        f"({path} | {other}) = {constant}",
        "position() = last()",
        "position() mod 2 = 0",
        f"position() = count({path})",
        f"last() > count({path})",
        random.choice(("1", "3", "last()", "last() - 1", "position() > 2")),
        f"contains(., string({path}))",
        f"string-length({path}) {comparison} string-length({other})",
        f"concat({path}, '-', {other}) = {constant}",
        f"starts-with({path}, {other})",
        f"normalize-space({path}) = {other}",
        f"translate({path}, 'x1', 'yz') = {other}",
        f"name({path}) = name({other})",
        f"{path} and {other}",
        f"{path} = {constant} or not({other})",
    )
    return f"[{random.choice(forms)}]"
