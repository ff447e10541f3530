"""Comparisons of a node's values with a set that many nodes share, and documents for them.

Every operator, both sides, every order axis, the parent's set, with or without the parent itself,
and the document's; members that only keys at the end decide; values that are equal, empty or no
numbers.
"""

from __future__ import annotations

from random import Random

from penstock_testing.generate.expressions import SIGNS

_CONTEXTS = (
    *("//a", "//a", "//b", "//*", "//@n", "//text()", "//a/b", "/r/a", "//a//c"),
    *("//node()", "/*"),
)
_OWN = (
    *("b", "b", "@n", "@n", ".", "*", ".//b", "text()", "b | @n", "@n | ."),
    *("b[. = //k]", "b[following::k]", "(b)[1]", "ancestor::a/@n", "parent::a[@n]/b"),
)
_STEPS = (
    *("a", "a", "*", "b", "node()", "a[@n]", "*[@n > 1]", "a[.//c]", "a[following-sibling::k]"),
    *("a[b = //k]", "a[@n = //k]", "a[not(b = //k)]"),
)
_TAILS = ("", "/b", "/b", "/@n", "/@n", "/*", "//b", "/b[. = //k]", "/@n[. = //k]", "/b[1]")
_ORDER = ("preceding-sibling", "following-sibling", "preceding", "following")
_DOWN = ("child", "descendant", "descendant-or-self")
_PLACES = (
    *(f"{axis}::" for axis in _ORDER * 2),
    *(f"../{axis}::" for axis in (*_ORDER, *_DOWN)),
    *(f"{parent}/descendant-or-self::" for parent in ("..", "parent::*", "parent::a", "../..")),
)
_VALUES = (
    ("0", "1", "2", "3"),
    ("1", "1", "1", "2"),
    ("1", "x", "", "2", " 2 ", "-1", "NaN", "1.0"),
    tuple(map(str, range(12))),
)
_NESTED_DEPTH, _FLAT_DEPTH = 5, 2


def random_shared_comparison(random: Random, nodes_max: int = 14) -> tuple[str, bytes]:
    """Return a query with comparisons that ask a shared set, and a document of so many elements."""
    condition = _comparison(random)
    if random.random() < 0.15:
        condition += random.choice((" and ", " or ")) + _comparison(random)
    query = f"{random.choice(_CONTEXTS)}[{condition}]"
    return query, _document(random, random.randint(1, nodes_max)).encode()


def _comparison(random: Random) -> str:
    sides = [random.choice(_OWN), _shared(random)]
    random.shuffle(sides)
    text = f"{sides[0]} {random.choice(SIGNS)} {sides[1]}"
    return f"not({text})" if random.random() < 0.4 else text


def _shared(random: Random) -> str:
    place = random.choice((*_PLACES, "../", "../", "../../", "//"))
    is_child = place.startswith("..") and place.endswith("/")
    position = random.choice(("", "", "[2]", "[last()]")) if is_child else ""
    return place + random.choice(_STEPS) + position + random.choice(_TAILS)


def _document(random: Random, nodes: int) -> str:
    depth_max = random.choice((_FLAT_DEPTH, _NESTED_DEPTH, _NESTED_DEPTH))
    names = random.choice(("aaabbck", "aab", "aabk", "abc"))
    values = random.choice(_VALUES)
    left = nodes

    def element(depth: int) -> str:
        nonlocal left
        left -= 1
        name = random.choice(names)
        attribute = f' n="{random.choice(values)}"' if random.random() < 0.5 else ""
        content = random.choice(values) if random.random() < 0.5 else ""
        while left > 0 and depth < depth_max and random.random() < 0.55:
            content += element(depth + 1)
        return f"<{name}{attribute}>{content}</{name}>"

    content = ""
    while left > 0:
        content += element(1)
    keys = "".join(f"<k>{random.choice(values)}</k>" for _ in range(random.randrange(3)))
    return f"<r>{content}{keys}</r>"
