"""Queries and documents that nest deeply. Add others to the list."""

from __future__ import annotations

from random import Random

from penstock.languages.xpath.parser import NESTING_MAX
from penstock_testing.adversary.costs.cases import Case, Question, Way

GOOD = b"<a><b x='1'>1</b></a>"
FUNCTIONS = (
    # Copies, from the top and from the bottom.
    "local:g($n) { if ($n/self::text()) then $n else element {name($n)} "
    "{$n/@*, for $c in $n/node() return local:g($c)} }; local:g(/a)",
    "local:g($n) { if ($n/*) then <c>{local:g($n/*[1])}</c> else $n }; count(local:g(/a)//c)",
    # Numbers of calls.
    "local:g($n as xs:integer) { if ($n eq 0) then 0 else 1 + local:g($n - 1) }; local:g(DEPTH)",
    "local:g($n as xs:integer) { if ($n eq 0) then () else ($n, local:g($n - 1)) }; "
    "count(local:g(DEPTH))",
    "local:g($n as xs:integer) { if ($n eq 0) then () else "
    "for $i in 1 to 2 where $i = 1 order by $i return <x>{local:g($n - 1)}</x> }; "
    "string(count(local:g(DEPTH)))",
    "local:g($n as xs:integer) { some $i in (1, 2) satisfies "
    "($i = 3 or (if ($n eq 0) then true() else local:g($n - 1))) }; local:g(DEPTH)",
    # Two functions that call each other, and conditions inside of predicates.
    "local:g($n as xs:integer) { if ($n le 0) then 0 else local:h($n - 1) }; "
    "declare function local:h($n as xs:integer) { max((0, 1 + local:g($n - 1))) }; local:g(DEPTH)",
    "local:g($n) { count($n/*[local:g(.) ge 0]) }; local:g(/a)",
    "local:g($n) { local:g(<x>{$n}</x>) }; local:g(<y/>)",
)
"""Functions that call themselves."""


def _parentheses(depth: int) -> str:
    return f"{'(' * depth}1{')' * depth}"


def _elements(depth: int) -> str:
    return f"{'<x>{' * depth}//a[1]/@x{'}</x>' * depth}"


def _loops(depth: int) -> str:
    loops = " ".join(f"for $v{n} in (1, //b)[1] return" for n in range(depth))
    return f"{loops} $v0"


def _conditions(depth: int) -> str:
    return f"{'if (//b) then (' * depth}1{') else 0' * depth}"


def _calls(depth: int) -> str:
    return f"{'concat(' * depth}string(//b[1]){', 1)' * depth}"


def _predicates(depth: int) -> str:
    return f"//a{'[.//*' * depth}{']' * depth}"


def _ancestors(depth: int) -> str:
    return f"//a{'[ancestor-or-self::a' * depth}{']' * depth}"


def _negations(depth: int) -> str:
    return f"//a[{'not(' * depth}b{')' * depth}]"


NESTED = (_parentheses, _elements, _loops, _conditions, _calls, _predicates, _ancestors, _negations)
"""Queries that nest as deeply as wished; those that begin with `//` are XPath as well."""
QUERIES = (
    *("//*", "//a//a/b", "//a[not(a)]", "count(//a[.//b])", "//b[ancestor::a[3]]", "//a[. = //b]"),
    *("//a[following::b = .]", "//b[count(ancestor::*) > 3]", "string(/)", "//a[a or b][last()]"),
)
JOINS = ("SELECT * FROM default//a->x JOIN{x = y, 10} default//b->y", "SELECT * FROM default//a/b")
WAYS: tuple[Way, ...] = ("run", "ordered", "parts", "push", "pushed parts", "batches", "bundle")


def write_case(seed: int) -> Case:
    """Return the case of a seed: queries of several kinds for a document that is deep."""
    random = Random(seed)
    depth = random.choice((3, 100, 700, 990, 3_000, 9_990))
    close = "</a>" * depth
    text = f"<b x='1'>{random.choice(('1', 'x'))}</b>"
    spaces = " xmlns:p='urn:p'" if random.random() < 0.2 else ""
    document = f"{f'<a{spaces}>' * depth}{text}{close}".encode()
    questions: list[Question] = []
    for _ in range(random.choice((1, 2, 4))):
        questions.append((write_query(random, depth), "query"))
    return Case("deep", tuple(questions), (document,), GOOD, random.choice(WAYS))


def write_query(random: Random, depth: int) -> str:
    """Return a query that calls, nests, or goes deeply into a document."""
    kind = random.random()
    if kind < 0.4:
        calls = random.choice((depth, 700, 990, 999, 1_001, 5_000))
        return f"declare function {random.choice(FUNCTIONS).replace('DEPTH', str(calls))}"
    if kind < 0.8:
        levels = random.choice((3, NESTING_MAX // 2 - 2, NESTING_MAX - 4))
        query = random.choice(NESTED)(levels)
        is_path = query.startswith("//") and random.random() < 0.5
        return query if is_path else f"declare variable $none := (); {query}"
    return random.choice((*QUERIES, *JOINS))
