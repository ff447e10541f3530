"""Many queries that differ in constants: each event decides and holds what they would alone."""

from __future__ import annotations

from random import Random

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.normalise import normalise
from penstock.twigs import Query
from penstock_testing.tree import parse
from tests.property.runs import traces_of

NUMBERS = ("0", "1", "2", "2.5", "-0", "3", "7", "10", "-1")
TEXTS = ("0", "1", "x", "2", "", "02", "NaN")
QUERIES = 24


def condition(random: Random, depth: int = 2) -> str:
    """Return a condition, of which many differ in constants alone."""
    place = random.choice(("@k", "@n", "a", "b", ".", ".//b", "a/@k"))
    if depth and random.random() < 0.35:
        one, other = condition(random, depth - 1), condition(random, depth - 1)
        return f"({one} {random.choice(('and', 'and', 'or'))} {other})"
    match random.randrange(6):
        case 0 | 1:
            return f"{place} = '{random.choice(TEXTS)}'"
        case 2 | 3:
            comparison = random.choice(("<", "<=", ">", ">=", "=", "!="))
            return f"{place} {comparison} {random.choice(NUMBERS)}"
        case 4:
            low, high = random.choice(NUMBERS), random.choice(NUMBERS)
            return f"{place} >= {low} and {place} < {high}"
    return f"not({place} = '{random.choice(TEXTS)}')" if depth else place


def shapes(random: Random) -> list[str]:
    """Return queries of a few shapes, so that many share segments."""
    texts: list[str] = []
    while len(texts) < QUERIES:
        path = random.choice(
            ("//{0}[{1}]", "//{0}[{1}]/{2}", "/r//{0}[{1}]//{2}[{3}]", "//{0}/@k[{4}]")
        )
        names = random.choice("abc"), random.choice("ab")
        first, second = condition(random), condition(random, 0)
        for _ in range(random.randrange(6, 12)):
            conditions = (varied(text, random) for text in (first, second, ". = '1'"))
            one, other, value = conditions
            texts.append(path.format(names[0], one, names[1], other, value))
    return texts


def varied(text: str, random: Random) -> str:
    """Return a condition with other constants."""
    words = text.split(" ")
    for place, word in enumerate(words):
        bare = word.rstrip(")")
        closing = word[len(bare) :]
        if bare.startswith("'"):
            words[place] = f"'{random.choice(TEXTS)}'{closing}"
        elif bare.lstrip("-").replace(".", "", 1).isdigit():
            words[place] = f"{random.choice(NUMBERS)}{closing}"
    return " ".join(words)


def document(random: Random, depth: int = 4) -> str:
    """Return elements with values in attributes and texts."""
    name = random.choice("abc")
    attributes = "".join(
        f" {key}='{random.choice((*NUMBERS, 'x', ''))}'" for key in "kn" if random.random() < 0.5
    )
    inner = "".join(document(random, depth - 1) for _ in range(random.randrange(4) if depth else 0))
    return f"<{name}{attributes}>{inner or random.choice((*NUMBERS, 'x', ''))}</{name}>"


def check(seed: int) -> int:
    """Compare many queries together with each alone, event by event; return what was decided."""
    random = Random(seed)
    queries: list[Query] = [normalise(xpath(text)) for text in shapes(random)]
    tree = parse(f"<r>{document(random)}{document(random)}</r>".encode())
    chunk = random.choice((1, 7, 1 << 16))
    alone = [traces_of([query], tree, chunk) for query in queries]
    count, results = 0, set[int]()
    for event, (offset, decided, held) in enumerate(traces_of(queries, tree, chunk)):
        steps = [trace[event] for trace in alone]
        assert {step[0] for step in steps} == {offset}
        expected = [
            (number, start, end) for number, step in enumerate(steps) for _, start, end in step[1]
        ]
        assert sorted(decided) == sorted(expected), (seed, event)
        results |= {start for _, start, _ in expected}
        awaited = {start for step in steps for start in step[2]}
        assert set(held) >= awaited, (seed, event)
        # A result of some queries may wait for them at an outer node as well, as long as it is none
        # of the others.
        assert set(held) - awaited <= results, (seed, event)
        count += len(expected)
    return count


@pytest.mark.parametrize("part", range(6))
def test_each_event_decides_and_holds_what_the_queries_would_alone(part: int) -> None:
    assert sum(check(seed) for seed in range(10 * part, 10 * part + 10)) > 20


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_each_event_decides_and_holds_what_the_queries_would_alone_at_length(part: int) -> None:
    assert sum(check(seed) for seed in range(1000 + 100 * part, 1100 + 100 * part)) > 1000
