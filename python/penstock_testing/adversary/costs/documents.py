"""Documents that make expressions expensive: wide, deep, equal, entangled, full of defaults."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from math import exp, log
from random import Random

BYTES_MIN, BYTES_MAX = 16 << 10, 2 << 20
DEPTH_MAX = 9_990
"""Just below ``Limits.depth_max``."""
ELEMENTS = ("a", "b", "c")
GOOD = (
    b"<!DOCTYPE r [<!ATTLIST a id ID #IMPLIED><!ATTLIST b id ID #IMPLIED>]>"
    b'<r><a id="k1" x="1">1<b x="2">k1</b><c>1</c></a><a x="1">1</a>'
    b'<b id="k2">2<a>k2<a>3</a></a></b><c xml:lang="en">1 2</c></r>'
)

Shape = Callable[[Random, int], str]


def write_document(random: Random, bytes_max: int = BYTES_MAX) -> tuple[str, bytes]:
    """Return the name of a shape and a document of that shape; small ones are more frequent."""
    size = int(exp(random.uniform(log(BYTES_MIN), log(bytes_max))))
    shape = random.choice(SHAPES)
    return shape.__name__, shape(random, size).encode()


def siblings(random: Random, size: int) -> str:
    """Return elements beside each other."""
    leaf = _leaf(random)
    return f"<r>{_filled(leaf, size)}</r>"


def nested(random: Random, size: int) -> str:
    """Return elements inside each other, with text in the innermost one."""
    name = random.choice(ELEMENTS)
    depth = random.randint(10, min(DEPTH_MAX, size // (2 * len(name) + 5)))
    text = "x" * (size - depth * (2 * len(name) + 5))
    return f"<{name}>" * depth + text + f"</{name}>" * depth


def comb(random: Random, size: int) -> str:
    """Return elements inside each other, each with leaves before and behind the next one."""
    leaf = _leaf(random)
    before, behind = leaf() * random.randint(0, 2), leaf() * random.randint(0, 2)
    opening, closing = f"<a>{before}", f"{behind}</a>"
    depth = max(2, min(DEPTH_MAX - 2, size // len(opening + closing)))
    return f"<r>{opening * depth}{closing * depth}</r>"


def groups(random: Random, size: int) -> str:
    """Return groups of leaves."""
    leaf, members = _leaf(random), random.choice((2, 20, 200))
    group = random.choice(ELEMENTS)
    return f"<r>{_filled(lambda: f'<{group}>{_times(leaf, members)}</{group}>', size)}</r>"


def trees(random: Random, size: int) -> str:
    """Return random trees beside each other."""
    leaf = _leaf(random)

    def tree(depth: int) -> str:
        if depth == 0 or random.random() < 0.3:
            return leaf()
        name = random.choice(ELEMENTS)
        inside = "".join(tree(depth - 1) for _ in range(random.randint(1, 3)))
        return f"<{name}>{inside}</{name}>"

    return f"<r>{_filled(lambda: tree(6), size)}</r>"


def attributes(random: Random, size: int) -> str:
    """Return elements with many attributes."""
    count = random.choice((10, 100, 1_000, 5_000))
    values = random.choice((("x",), ("1", "2", "3")))
    tag = "<a " + " ".join(f'n{n}="{random.choice(values)}"' for n in range(count)) + "/>"
    return f"<r>{_filled(lambda: tag, size)}</r>"


def defaults(random: Random, size: int) -> str:
    """Return elements whose many attributes the document type declares."""
    count = random.choice((10, 100, 1_000))
    value = "x" * random.choice((1, 10, 100))
    declared = "".join(f'n{n} CDATA "{value}" ' for n in range(count))
    return f"<!DOCTYPE r [<!ATTLIST a {declared}>]><r>{_filled(lambda: '<a/>', size)}</r>"


def namespaces(random: Random, size: int) -> str:
    """Return elements with many namespaces in scope."""
    count = random.choice((10, 100, 1_000))
    bindings = " ".join(f'xmlns:n{n}="urn:n{n}"' for n in range(count))
    depth = random.choice((1, 50, 500))
    inner = f'<a xmlns:m="urn:m{random.randint(0, 1)}">' if random.random() < 0.5 else "<a>"
    leaf = inner * depth + "x" + "</a>" * depth
    return f"<r {bindings}>{_filled(lambda: leaf, size)}</r>"


def texts(random: Random, size: int) -> str:
    """Return one large text with many elements around it, and leaves that are equal to it."""
    depth = random.choice((1, 10, 100, 1_000))
    text = "x" * (size // 2)
    leaf = _leaf(random)
    return f"<r>{'<a>' * depth}{text}{'</a>' * depth}{_filled(leaf, size // 2)}</r>"


def equal_texts(random: Random, size: int) -> str:
    """Return some elements with the same large text."""
    count = random.choice((2, 8, 64))
    text = "x" * (size // count)
    name = random.choice(ELEMENTS)
    return f"<r>{f'<{name}>{text}</{name}>' * count}</r>"


def entities(random: Random, size: int) -> str:
    """Return references to entities that hold elements or text."""
    inner = random.choice(("<a>x</a>", "x", "<a><b>1</b></a>")) * random.choice((1, 10, 100))
    names = [f"e{level}" for level in range(random.randint(1, 4))]
    declared = f'<!ENTITY {names[0]} "{inner}">'
    for lower, upper in itertools.pairwise(names):
        declared += f'<!ENTITY {upper} "{f"&{lower};" * random.choice((1, 4, 10))}">'
    bound = min(size, random.choice((1 << 10, 1 << 14, size)))
    return f"<!DOCTYPE r [{declared}]><r>{_filled(lambda: f'&{names[-1]};', bound)}</r>"


def identifiers(random: Random, size: int) -> str:
    """Return elements with ids, and texts and attributes with lists of them."""
    count = size // 60
    listed = random.choice((1, 5, 50))

    def reference() -> str:
        return " ".join(f"k{random.randrange(count)}" for _ in range(listed))

    leaves, length, number = [], 0, 0
    while length < size:
        leaf = f'<a id="k{number}" x="{reference()}">{reference()}</a>'
        leaves.append(leaf)
        length += len(leaf)
        number += 1
    return f"<!DOCTYPE r [<!ATTLIST a id ID #IMPLIED>]><r>{''.join(leaves)}</r>"


def mixtures(random: Random, size: int) -> str:
    """Return texts, comments, instructions and elements beside each other."""
    parts = ("x", "<!--x-->", "<?a x?>", "<a/>", "<![CDATA[x]]>", "&#120;", "<b>1</b>")
    chosen = [random.choice(parts) for _ in range(random.randint(2, 5))]
    return f"<r>{_filled(lambda: random.choice(chosen), size)}</r>"


SHAPES: tuple[Shape, ...] = (
    *(siblings, nested, comb, groups, trees, attributes, defaults, namespaces),
    *(texts, equal_texts, entities, identifiers, mixtures),
)


def _leaf(random: Random) -> Callable[[], str]:
    """Return what writes leaves: all equal, of few values, or all different."""
    kind = random.random()
    names = ELEMENTS[: random.randint(1, 3)]
    if kind < 0.3:
        leaf = random.choice(("<a/>", "<a>x</a>", "<a>1</a>", '<a x="1">1</a>'))
        return lambda: leaf
    values = random.choice((3, 100, 1_000_000))

    def write() -> str:
        name, value = random.choice(names), random.randrange(values)
        if kind < 0.6:
            return f"<{name}>{value}</{name}>"
        return f'<{name} x="{value}">{random.randrange(values)}</{name}>'

    return write


def _filled(write: Callable[[], str], size: int) -> str:
    """Return parts of a document until they are long enough; at least one of them."""
    parts = [write()]
    length = len(parts[0])
    while length < size:
        part = write()
        parts.append(part)
        length += len(part)
    return "".join(parts)


def _times(write: Callable[[], str], count: int) -> str:
    return "".join(write() for _ in range(count))
