"""A program of joins is the compiled query: it can be read back, and equal queries are equal."""

from __future__ import annotations

from random import Random

import pytest

import penstock
from penstock.errors import QueryError, RegistryError
from penstock.planning.program import Request, request_of
from penstock.planning.programs import compile_program
from penstock.planning.records import Asked, is_publishing, output_of, read_records
from penstock.planning.templates import compile_join
from penstock.twigs import Event, Query
from penstock_testing.generate import JoinKnobs, random_xscl

MESSAGE = (
    "SELECT <e t='{y}'>é {x}<f xmlns='urn:n'/></e> FROM S//a->x[k->y] JOIN{y = z, 1 s} T//b->z"
)


def random_queries(seed: int, count: int) -> list[Query]:
    random, queries = Random(seed), list[Query]()
    while len(queries) < count:
        try:
            query = penstock.xscl(random_xscl(random, JoinKnobs(predicate=0.3, constant=0.3)))
            compile_program(query)
        except QueryError:
            continue
        if isinstance(query.output, Event):
            queries.append(query)
    return queries


def test_a_program_is_read_back_as_the_query_it_was_written_of() -> None:
    chains = 0
    for query in random_queries(1, 300):
        compiled = compile_join(query)
        program = compile_program(query)
        again, output = read_records(program, Asked())
        assert again == compiled, query.text
        assert output == output_of(program)
        assert output.streams == tuple(block.stream for block in query.blocks)
        assert (output.event, output.publish) == (query.output, query.output.publish)  # type: ignore[union-attr]
        chains += len(compiled.rows) > 1
    assert chains > 30


def test_equal_queries_have_equal_programs_however_they_come() -> None:
    for query in random_queries(2, 100):
        renamed = penstock.xscl(f"  {query.text} ")
        program = compile_program(query)
        assert program == compile_program(renamed)
        for _ in range(3):
            assert program == compile_program(query.text, language="xscl")


def test_what_programs_ask_is_asked_once() -> None:
    asked, programs = Asked(), [compile_program(query) for query in random_queries(3, 40)]
    for program in programs:
        read_records(program, asked)
    once = asked.program()
    for program in programs:
        read_records(program, asked)
    assert asked.program() == once
    assert len(asked.numbers) < sum(len(_asked(program).numbers) for program in programs)


def _asked(program: bytes) -> Asked:
    asked = Asked()
    read_records(program, asked)
    return asked


def test_constructed_content_survives() -> None:
    output = output_of(compile_program(penstock.xscl(MESSAGE)))
    assert output.event == penstock.xscl(MESSAGE).output
    assert not is_publishing(compile_program(penstock.xscl(MESSAGE)))
    assert is_publishing(compile_program(penstock.xscl(f"{MESSAGE} PUBLISH P")))


def test_the_request_says_what_a_program_asks_for() -> None:
    for text in ("S//a", "S//a->x JOIN{x = y, 1} S//b->y"):
        assert request_of(compile_program(text, language="xscl")) is Request.RECORDS
    assert request_of(compile_program("//a")) is Request.ROWS
    assert output_of(compile_program("S//a", language="xscl")).is_node
    for data in (b"", b"PSP3", b"PSK2\0", b"PSP3\7"):
        with pytest.raises(ValueError, match=r"program|Request"):
            request_of(data)


def test_records_have_no_other_mode() -> None:
    for mode in ("filter", "running"):
        with pytest.raises(RegistryError) as caught:
            compile_program("S//a->x JOIN{x = y, 1} S//b->y", mode, "xscl")  # type: ignore[arg-type]
        assert caught.value.code == "PR0004"
