"""Conditions on the root element are decided one by one, with the answers of XPath."""

from random import Random

import penstock
from penstock.routing import Configuration, Server, stamp

CONFIGURATION = Configuration(["/r/a", "/r/b", "/r/c/d", "/r/@k"])
PATHS = ("a", "b", "c/d", "@k")


def document(random: Random) -> bytes:
    name = random.choice("rrrs")
    parts = [random.choice(("<a>1</a>", "<b>2</b>", "<c><d>x1</d></c>", "<c/>")) for _ in range(3)]
    key = random.choice(("", " k='1'"))
    return f"<{name}{key}>{''.join(parts)}</{name}>".encode()


def condition(random: Random, depth: int = 2) -> str:
    if depth and random.random() < 0.5:
        one, two = condition(random, depth - 1), condition(random, depth - 1)
        return random.choice((f"({one} and {two})", f"({one} or {two})", f"not({one})"))
    path = random.choice(PATHS)
    tests = (
        f"{path} = '1'",
        f"{path} < 2",
        path,
        f"contains({path}, '1')",
        f"starts-with({path}, 'x')",
    )
    return random.choice((*tests, ". = '1'", "1", "contains(., '1')"))


def test_answers_from_headers_are_those_of_xpath() -> None:
    random = Random(20)
    hits = holding = 0
    for _ in range(600):
        source = document(random)
        rest = random.choice(("", "/a", "/c/d", "/a = 1", "/@k", "[b]", "[2]"))
        query = f"/{random.choice('rr*')}[{condition(random)}]{rest}"
        expected = penstock.evaluate(f"boolean({query})", source)
        server = Server({"q": query}, [CONFIGURATION])
        decision = server.decide(stamp(source, CONFIGURATION), source)
        assert bool(decision.matches) is expected, (query, source)
        assert bool(server.decide(None, source).matches) is expected, (query, source)
        hits += decision.is_hit
        holding += bool(expected)
    assert hits > 200
    assert holding > 60
