"""Work and memory stay bounded where the number of embeddings explodes.

Work is counted in steps (facts, climbs and passes), never in seconds.
"""

from __future__ import annotations

import pytest

from penstock.kernel import Plan, Session
from penstock.languages.xpath import xpath
from penstock.planning.compile import compile_query


def run(query: str, document: bytes, chunk_bytes: int = 4096) -> tuple[int, int]:
    """Return the steps taken and the number of results."""
    session = Session(Plan.build([compile_query(xpath(query))]))
    session.begin()
    for start in range(0, len(document), chunk_bytes):
        session.feed(document[start : start + chunk_bytes])
    session.finish()
    return session.statistics().steps, session.row_count()


def nested(depth: int, before: str = "", inside: str = "<c/>", after: str = "") -> bytes:
    """Return ``depth`` nested ``a``, with content before and after the inner element of each."""
    return (f"<a>{before}" * depth + inside + f"{after}</a>" * depth).encode()


@pytest.mark.parametrize("steps", [2, 4, 8])
@pytest.mark.parametrize(
    ("before", "after"), [("<b/>", ""), ("", "<b/>")], ids=["guards-first", "guards-last"]
)
def test_nested_closures_cost_a_polynomial(steps: int, before: str, after: str) -> None:
    query = "//a[b]" * steps + "//c"
    work = {}
    for depth in (20, 40, 80):
        work[depth], results = run(query, nested(depth, before, "<c/>", after))
        assert results == 1
    # Quadratic in the depth: doubling it may cost four times as much, and a little.
    assert work[40] <= 5 * work[20]
    assert work[80] <= 5 * work[40]
    assert work[80] <= 80 * 80 * steps * 4


def test_guards_that_fail_cost_a_polynomial() -> None:
    query = "//a[b]" * 8 + "//c"
    work = {depth: run(query, nested(depth)) for depth in (20, 40, 80)}
    assert all(results == 0 for _, results in work.values())
    assert work[80][0] <= 80 * 80 * 8 * 4


def test_negated_guards_cost_a_polynomial() -> None:
    query = "//a[not(b)]" * 6 + "//c"
    work = {depth: run(query, nested(depth, after="<b/>")) for depth in (20, 40, 80)}
    assert all(results == 0 for _, results in work.values())
    assert work[80][0] <= 80 * 80 * 6 * 4


def test_a_descendant_predicate_costs_its_depth_once() -> None:
    shallow, _ = run("//a[.//z]", nested(40, inside="<z/>" * 50))
    single, _ = run("//a[.//z]", nested(40, inside="<z/>"))
    # The first z makes it true for every ancestor; the others find that and stop.
    assert shallow <= single + 3 * 50


def test_what_is_held_does_not_grow_with_the_stream() -> None:
    session = Session(Plan.build([compile_query(xpath("/r/item[flag]/name"))]))
    session.begin()
    session.feed(b"<r>")
    kept = set()
    for number in range(2000):
        flag = b"<flag/>" if number % 2 else b""
        session.feed(b"<item><name>n</name><other>" + b"x" * 50 + b"</other>" + flag + b"</item>")
        statistics = session.statistics()
        assert statistics.held == 0
        kept.add(statistics.kept_bytes)
    assert session.row_count() == 1000
    assert kept == {0}


def test_results_selected_inside_do_not_pile_up_outside() -> None:
    """The outer element stays undecided for ever, the inner ones decide their own."""
    session = Session(Plan.build([compile_query(xpath("//a[b]//c"))]))
    session.begin()
    session.feed(b"<a>")
    for _ in range(5000):
        session.feed(b"<a><b/><c/></a>")
    assert session.row_count() == 5000
    assert session.statistics().held <= 32


def test_a_tiny_cache_gives_the_same_results() -> None:
    document = b"<r>" + b"".join(b"<n%d><m%d><k/></m%d></n%d>" % (i, i, i, i) for i in range(300))
    document += b"</r>"
    queries = [f"//n{i}[m{i}]//k" for i in range(300)]
    plan = Plan.build([compile_query(xpath(query)) for query in queries])
    answers = []
    for cache_bytes_max in (1, 4096, 32 << 20):
        session = Session(plan, cache_bytes_max=cache_bytes_max)
        session.begin()
        session.feed(document)
        session.finish()
        answers.append(session.take().rows()[0])
        assert (session.statistics().cache_clears > 0) == (cache_bytes_max < 32 << 20)
    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0]) == 300
