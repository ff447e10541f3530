"""The generators: each makes a case of one kind from a source of chance. Add others to the list."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Literal

from penstock_testing.adversary.costs.cases import Case, Question, Way
from penstock_testing.adversary.costs.documents import (
    BYTES_MAX,
    DEPTH_MAX,
    GOOD,
    defaults,
    write_document,
)
from penstock_testing.adversary.costs.queries import write_query

_WAYS: tuple[Way, ...] = (
    *("run", "run", "run", "ordered", "parts", "push", "pushed parts", "live", "batches"),
)
_CHEAP = ("//a", "//b[@x]", "/r/a/b", "count(//a)", "//c[. = '1']", "//a[b = '2']", "/*/a[2]")


def heavy_queries(random: Random) -> Case:
    """Return a few heavy queries, beside a cheap one, for one document."""
    shape, document = write_document(random)
    questions = [_question(random) for _ in range(random.choice((1, 1, 2, 4)))]
    questions.append((random.choice(_CHEAP), "query"))
    way = random.choice(_WAYS)
    return Case(f"heavy queries of {shape}", tuple(questions), (document,), GOOD, way)


def heavy_bundles(random: Random) -> Case:
    """Return heavy queries among many questions that a trie answers, for some small documents."""
    documents = tuple(write_document(random, 64 << 10)[1] for _ in range(random.randint(2, 6)))
    questions = tuple(_question(random) for _ in range(random.choice((0, 1, 2))))
    documents += (GOOD,) * 3
    return Case("heavy bundles", questions, documents, GOOD, "bundle", _trie_questions(random))


def large_results(random: Random) -> Case:
    """Return many subscriptions that select one large element, or all that are nested in it."""
    size = random.choice((64 << 10, 1 << 20, BYTES_MAX))
    if random.random() < 0.5:
        count, query = random.choice((100, 1_000, 10_000)), random.choice(("/r", "//a", "/r/a"))
        document = f"<r><a>{'x' * size}</a><b/></r>"
        # They differ, so that nobody shares a target with all others.
        fillers: tuple[Question, ...] = tuple(
            (f"{query}[not(. = '{number}')]" if random.random() < 0.5 else query, "query")
            for number in range(count)
        )
    else:
        depth = random.choice((100, 1_000, DEPTH_MAX - 1))
        document = f"<r>{'<a>' * depth}{'x' * size}{'</a>' * depth}<b/></r>"
        fillers = tuple((query, "query") for query in ("//*", "//a", "//*[a]", "//a[not(b)]"))
    way = random.choice(_WAYS)
    return Case("large results", (), (document.encode(),), GOOD, way, fillers)


def many_questions(random: Random) -> Case:
    """Return many cheap subscriptions for a document that all of them match often."""
    shape, document = write_document(random, 256 << 10)
    count = random.choice((100, 1_000, 5_000))
    modes: tuple[Literal["query", "filter"], ...] = ("query", "filter")
    fillers = tuple(
        (f"//{random.choice('abc*')}[. != 'v{number}']", random.choice(modes))
        for number in range(count)
    )
    way = random.choice(_WAYS)
    return Case(f"many questions of {shape}", (), (document,), GOOD, way, fillers)


def many_defaults(random: Random) -> Case:
    """Return queries of attributes for elements that have many by default."""
    document = defaults(random, random.choice((4 << 10, 64 << 10, 512 << 10))).encode()
    queries = ("//a", "//@*", "//a/@n1", "//a[@n1 = 'x']", "//@*[. = 'y']", "//a[@* = 'y']", "/r")
    picked = random.sample(queries, 3)
    questions: tuple[Question, ...] = tuple((query, "query") for query in picked)
    return Case("many defaults", questions, (document,), GOOD, random.choice(_WAYS))


def heavy_joins(random: Random) -> Case:
    """Return joins of documents that agree in many values, beside a cheap query."""
    size = random.choice((50, 200, 700))
    values = random.choice((1, 1, 2, 20))
    documents = [_joined_document(random, size, values) for _ in range(random.randint(2, 6))]
    texts = [_join(random) for _ in range(random.choice((1, 1, 2, 4)))]
    questions: list[Question] = [(text, "query") for text in (*texts, random.choice(_CHEAP))]
    way: Way = random.choice(("run", "batches"))
    return Case("heavy joins", tuple(questions), tuple(documents), GOOD, way)


def heavy_patterns(random: Random) -> Case:
    """Return regular expressions in XQuery that read long texts again and again."""
    size = random.choice((4 << 10, 64 << 10, 512 << 10))
    document = f"<r><a>{random.choice(('a', 'ab', 'a b', 'aé')) * size}</a><b/></r>"
    width = random.choice((3, 30, 300, 3_000))
    patterns = (
        *("a[^b]*c|a", "(a|ab)*c|a", "\\w+\\s*x|a", "a+?b|."),
        *(f"[ab]*a[ab]{{{width}}}c", f"(a?){{{width}}}x|a"),
    )
    calls = (
        *("matches($t, '{}')", "count(tokenize($t, '{}'))"),
        "string-length(replace($t, '({})', '$1$1'))",
    )
    questions: list[Question] = []
    for _ in range(random.choice((1, 2, 4))):
        call = random.choice(calls).replace("{}", random.choice(patterns), 1)
        questions.append((f"for $t in //a return {call}", "query"))
    questions.append((random.choice(_CHEAP), "query"))
    way = random.choice(_WAYS)
    return Case("heavy patterns", tuple(questions), (document.encode(),), GOOD, way)


GENERATORS: list[Callable[[Random], Case]] = [
    *(heavy_queries, heavy_queries, heavy_queries, heavy_queries, heavy_queries),
    *(heavy_bundles, large_results, many_questions, many_defaults, heavy_joins, heavy_joins),
    heavy_patterns,
]
"""Each has the same chance."""


def write_case(seed: int) -> Case:
    """Return the case of a seed."""
    random = Random(seed)
    return random.choice(GENERATORS)(random)


def _question(random: Random) -> Question:
    return write_query(random), "filter" if random.random() < 0.1 else "query"


def _trie_questions(random: Random) -> tuple[Question, ...]:
    """Return questions that tries answer, more than it takes to have one."""
    filters: list[Question] = []
    for number in range(random.choice((80, 300, 1_000))):
        steps = "".join(
            f"{random.choice(('/', '//'))}{random.choice('abc*')}"
            for _ in range(random.randint(1, 5))
        )
        condition = random.choice(("", "", f"[. = '{number}']", f"[@x = '{number}']", "[b]"))
        filters.append((f"/r{steps}{condition}", random.choice(("query", "filter", "filter"))))
    return tuple(filters)


def _joined_document(random: Random, size: int, values: int) -> bytes:
    nested = random.random() < 0.3
    nodes = [f"<{name}>{random.randrange(values)}" for name in random.choices("abc", k=size)]
    if nested:
        ends = "".join(f"</{node[1]}>" for node in reversed(nodes))
        return f"<r>{''.join(nodes)}{ends}</r>".encode()
    return f"<r>{''.join(f'{node}</{node[1]}>' for node in nodes)}</r>".encode()


def _join(random: Random) -> str:
    """Return a join of two or three blocks."""
    first, second, third = random.choices("abc", k=3)
    kinds = ("FOLLOWED BY", "JOIN", "NOT FOLLOWED BY")
    one, two = random.choices(kinds, weights=(4, 3, 1), k=2)
    window = random.choice(("INF", "10", "1"))
    bound = random.choice((f"default//{first}->x", f"default/r[.//{first}->x]"))
    text = f"{bound} {one}{{x = y, {window}}} default//{second}->y"
    if random.random() < 0.4 and one != "NOT FOLLOWED BY":
        text += f" {two}{{x = z, {window}}} default//{third}->z"
    return f"SELECT {random.choice(('*', 'x'))} FROM {text}"
