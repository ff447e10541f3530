"""The code of queries: equal queries have equal bytes, and what is shared is written once."""

import penstock
from penstock.planning.sequences.encoding import MAGIC, encode
from penstock.twigs import sequences as q


def code(text: str) -> bytes:
    output = penstock.xquery(text).output
    assert isinstance(output, q.Sequences)
    return encode(output, [(None, output.body)], ["", "other"])


def test_equal_queries_have_equal_bytes() -> None:
    text = "declare function local:f($x) { $x + 1 }; for $a in //a return <b>{local:f($a)}</b>"
    assert code(text) == code(text)
    assert code(text).startswith(MAGIC)


def test_names_of_variables_do_not_matter() -> None:
    assert code("for $a in //x return $a/y") == code("for $b in //x return $b/y")


def test_equal_parts_are_written_once() -> None:
    one = len(code("(count(//some/long/path), 1)"))
    two = len(code("(count(//some/long/path), count(//some/long/path), 1)"))
    assert two == one + 1


def test_a_long_query_is_encoded_without_recursion() -> None:
    query = q.Sequences(q.Sequence(tuple([q.Atomic("integer", str(n)) for n in range(5000)])))
    assert len(encode(query, [(None, query.body)], [""])) > 5000
