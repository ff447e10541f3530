"""Positions along order axes, ancestors and in parentheses, with conditions around them.

Members of such sets are often undecided until keys come at the end of the document, and many
contexts count the same members.
"""

from __future__ import annotations

from random import Random

_AXES = ("following-sibling", "preceding-sibling", "following", "preceding", "ancestor")
_TESTS = ("a", "a", "b", "*", "node()")
_CONTEXTS = ("//a", "//b", "//*", "//a[b]", "//@n", "//a[@n = //k]", "//b[following::k]")
_SETS = ("//a", "//a[@n = //k]", "//a | //b", "//a[b = //k] | //c", "//b/preceding::a")
_CONDITIONS = (
    *("@n", "b", "@n > 1", "b = //k", "@n = //k", "not(b = //k)", "following-sibling::b"),
    *("preceding-sibling::a", "following::k = @n", "text()"),
)
_LASTS = ("last()", "last() - 1", "position() = last() - 2")
_TAILS = ("", "", "", "/b", "/@n", "/..", "/following-sibling::*", "/preceding::b[1]")
_FILTERED = (*_SETS, "/", "..", "preceding::a", "following-sibling::*", "ancestor::*")
_USES = ("{}", "{}", "boolean({})", "not({})", "{} = //k", "string({}) = '1'", "count({}) > 1")


def random_positions(random: Random) -> str:
    """Return an expression for nodes that are counted, or that count others."""
    one_of = random.choice
    context = one_of(_CONTEXTS)
    return one_of(
        (
            f"{context}/{_step(random)}{one_of(_TAILS)}",
            f"{context}/{_step(random)}/{_step(random)}",
            f"{context}[{_step(random)}{one_of(_TAILS)}{one_of(('', ' = 1', ' = @n'))}]",
            f"{context}[count({_step(random)}) {one_of('=<>')} {one_of('012')}]",
            f"({one_of(_SETS)}){_predicates(random)}{one_of(_TAILS)}",
            f"({one_of(_SETS)})[{one_of(_CONDITIONS)}][{one_of(_LASTS)}]{one_of(_TAILS)}",
            f"/*[{_used_filter(random)}]",
            f"{context}[{_used_filter(random)}]",
        )
    )


def random_siblings(random: Random) -> bytes:
    """Return a document of few groups of siblings, and keys at its end."""
    groups = [_group(random, depth=random.randrange(3)) for _ in range(random.randrange(1, 3))]
    keys = [f"<k>{random.randrange(4)}</k>" for _ in range(random.randrange(3))]
    return f"<r>{''.join(groups)}{''.join(keys)}</r>".encode()


def _group(random: Random, depth: int) -> str:
    return "".join(_element(random, depth) for _ in range(random.randrange(5)))


def _element(random: Random, depth: int) -> str:
    name = random.choice("aaabc")
    attribute = f' n="{random.randrange(4)}"' if random.random() < 0.5 else ""
    text = str(random.randrange(4)) if random.random() < 0.3 else ""
    children = _group(random, depth - 1) if depth else ""
    return f"<{name}{attribute}>{text}{children}</{name}>"


def _used_filter(random: Random) -> str:
    one_of = random.choice
    behind = "".join(f"[{one_of(_CONDITIONS)}]" for _ in range(one_of((0, 1, 1, 2))))
    # The kernel waits for the end of a step behind a filter, even when its node is out before.
    tail = one_of(("", "", "", "/@n", "/..", "/preceding::b[1]"))
    places = (f"[{_position(random)}]{behind}{tail}", f"[{one_of(_LASTS)}]{behind}")
    return one_of(_USES).format(f"({one_of(_FILTERED)}){one_of(places)}")


def _step(random: Random) -> str:
    return f"{random.choice(_AXES)}::{random.choice(_TESTS)}{_predicates(random)}"


def _predicates(random: Random) -> str:
    before = [random.choice(_CONDITIONS) for _ in range(random.choice((0, 0, 1, 1, 2)))]
    after = [random.choice(_CONDITIONS) for _ in range(random.choice((0, 0, 0, 1)))]
    return "".join(f"[{text}]" for text in (*before, _position(random), *after))


def _position(random: Random) -> str:
    low, high = random.randrange(1, 4), random.randrange(1, 5)
    return random.choice(
        (
            str(low),
            str(low),
            f"position() > {low}",
            f"position() <= {low}",
            f"position() != {low}",
            f"position() >= {low} and position() <= {high}",
            f"position() = {low} or position() > {high}",
            f"not(position() = {low}) and @n",
            f"{low} < position()",
        )
    )
