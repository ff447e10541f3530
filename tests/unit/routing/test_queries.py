"""Texts and conditions become formulas."""

import datetime as dt

import pytest

import penstock
from penstock.errors import QueryError, RegistryError
from penstock.planning.compile import compile_query
from penstock.routing import Condition, queries
from penstock.routing.formulas import TRUE, All, Any, Check, First, Negation, Opaque, Some, as_xpath
from penstock.routing.paths import Bindings, Path, bindings_of, positions, prefixes
from penstock.routing.queries import queries_of, read_query
from penstock.routing.reading import filter_program, read_formula


def test_comparisons_with_constants_are_taken_apart() -> None:
    assert read_formula("/a/b = 'x'") == Some(Path("/a/b"), Check("=", "x"))
    assert read_formula("5 < /a/b") == Some(Path("/a/b"), Check(">", 5.0))
    assert read_formula("/a/b >= ' 2 '") == Some(Path("/a/b"), Check(">=", 2.0))
    assert read_formula("/a != -1") == Some(Path("/a"), Check("!=", -1.0))


def test_logic_is_taken_apart() -> None:
    a, b = Some(Path("/a"), Check("=", 1.0)), Some(Path("/b"), Check("=", 2.0))
    assert read_formula("/a = 1 and /b = 2") == All((a, b))
    assert read_formula("/a = 1 or not(/b = 2)") == Any((a, Negation(b)))
    both = tuple(Some(Path(path), Check("=", 1.0)) for path in ("/a", "/b"))
    assert read_formula("(/a | /b) = 1") == Any(both)


def test_the_value_of_a_function_is_that_of_the_first_node() -> None:
    assert read_formula("contains(/a, 'x')") == First(Path("/a"), Check("contains", "x"))
    found = read_formula("/a[contains(., 'x')]")
    assert isinstance(found, Some)
    assert (found.path, found.where) == (Path("/a"), Check("contains", "x"))


def test_a_predicate_about_a_child_is_one_about_the_longer_path() -> None:
    assert read_formula("/a/b[c = 'x']") == Some(Path("/a/b/c"), Check("=", "x"))


def test_predicates_of_the_root_element_are_conditions_by_themselves() -> None:
    b, c = Some(Path("/a/b"), Check("=", "x")), Some(Path("/a/c/d"), Check("<", 2.0))
    rest = Some(Path("/a/e"), TRUE)
    assert read_formula("/a[b = 'x']/e") == All((b, rest))
    assert read_formula("/a[b = 'x' and not(c/d < 2)]/e") == All((All((b, Negation(c))), rest))
    found = All(
        (b, First(Path("/a/c/d"), Check("contains", "y")), Some(Path("/a/e"), Check("=", 1.0)))
    )
    assert read_formula("/a[b = 'x'][contains(c/d, 'y')]/e = 1") == found
    for text in ("/a[1]/e", "/a[position() = 1]/e", "/a[b = /c]/e", "//a[b = 'x']/e", "/a/b[c]/e"):
        assert read_formula(text) == Some(Path(text), TRUE)


def test_other_expressions_stay_whole() -> None:
    for text in ("count(/a) > 1", "/a = /b", "string-length(/a) = 2", "(//a)[1]"):
        assert isinstance(read_formula(text), Opaque)


def test_dates_and_expressions_are_tests() -> None:
    date = Check(">=", "2026-01-01", is_date=True)
    for text in ("date(/a) >= date('2026-01-01')", "/a >= date('2026-01-01')"):
        assert read_formula(text) == Some(Path("/a"), date)
    assert read_formula("matches(/a, '^x')") == Some(Path("/a"), Check("matches", "^x"))
    assert read_query("q", "/a = 1").program is not None
    assert read_query("q", "/a = 1 and matches(/a, 'x')").program is None


def test_conditions_have_the_types_of_their_constants() -> None:
    def formula(condition: Condition) -> object:
        found = read_query("q", condition).formula
        assert isinstance(found, All)
        return found.parts[0]

    assert formula(Condition("/a", "=", "1")) == Some(Path("/a"), Check("=", "1"))
    assert formula(Condition("/a", "=", 1)) == Some(Path("/a"), Check("=", 1.0))
    date = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    expected = Check("<", "2026-01-02T03:04:05+00:00", is_date=True)
    assert formula(Condition("/a", "<", date)) == Some(Path("/a"), expected)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("/a = date('yesterday')", "PQ0602"),
        ("matches(/a, '(')", "PQ0602"),
        ("/a and", "PQ0104"),
        ("unknown(/a)", "PQ0112"),
        (Condition("/a", "~", "x"), "PQ0604"),  # type: ignore[arg-type]
        (Condition("/a", "contains", 1), "PQ0604"),
        (Condition("count(/a)", "=", 1), "PQ0601"),
    ],
)
def test_what_is_no_query_is_refused(source: str | Condition, code: str) -> None:
    with pytest.raises(QueryError, match=code):
        read_query("q", source)


def test_filters_of_a_registry_are_queries() -> None:
    registry = penstock.Registry()
    registry.add("f", penstock.xpath("/p:a = 1", namespaces={"p": "urn:p"}), mode="filter")
    (query,) = queries_of(registry)
    assert query.formula == Some(Path("/p:a", (("p", ("urn:p",)),)), Check("=", 1.0))
    registry.add("q", "/a")
    with pytest.raises(RegistryError, match="`q` is no filter"):
        queries_of(registry)


def test_formulas_are_printed_as_xpath() -> None:
    formula = All(
        (Some(Path("/a"), Check("=", "it's")), Negation(First(Path("/b"), Check("<", 0.5))))
    )
    text = as_xpath(formula)
    assert text == """(boolean((/a)[. = "it's"])) and (not(string(/b) < 0.5))"""
    assert as_xpath(Some(Path("/a"), Check("=", "'\""))) is None
    assert as_xpath(Some(Path("/a"), Check("<", 1e-7))) == "boolean((/a)[. < 0.0000001])"


def test_prefixes_say_what_stays_inside() -> None:
    found = {p.path.text: (p.rest, p.is_inside) for p in prefixes(Path("/a/b[c][2]//d/@e"))}
    assert found["/a/b[c][2]//d"] == ("/@e", True)
    assert found["/a/b[c]"] == ("[2]//d/@e", False)
    assert found["/a/b"] == ("[c][2]//d/@e", False)
    assert found["/a/b[c][2]"] == ("//d/@e", True)
    outward = {p.path.text: p.is_inside for p in prefixes(Path("/a/b[/c]/d[../e]/f"))}
    assert outward == {"/a/b[/c]/d[../e]": True, "/a/b[/c]/d": False, "/a/b[/c]": False,
                       "/a/b": False, "/a": False}  # fmt: skip


def test_positions_are_taken_apart() -> None:
    (found,) = positions(Path("/a/b[@x][2]/c"))
    assert (found.base.text, found.step.text, found.position) == ("/a/b[@x]/c", "/a/b[@x]", 2)
    assert list(positions(Path("/a/b[1.5]/c[last()]"))) == []


def test_equal_texts_compile_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def counted(text: str, bindings: Bindings) -> bytes:
        compiled.append(text)
        return filter_program(text, bindings)

    monkeypatch.setattr(queries, "filter_program", counted)
    text = "/only/here = 1 and /only/there = 2"
    read = queries_of({f"q{number}": text for number in range(100)})
    assert compiled == [text]
    assert {(query.formula, query.program) for query in read} == {
        (read_formula(text), filter_program(text, ()))
    }


def test_queries_of_a_registry_keep_the_program_that_it_compiled() -> None:
    registry = penstock.Registry()
    registry.add("text", "/a[b = 1]/c", mode="filter")
    registry.add("bound", "/p:a", mode="filter", namespaces={"p": "urn:p"})
    registry.add("made", penstock.xpath("/a[b = 1]"), mode="filter")
    for query, subscription in zip(queries_of(registry), registry, strict=True):
        assert query.program == compile_query(subscription.query, is_filter=True)
        options = dict(subscription.query.options)
        bindings = bindings_of(options.get("namespaces"))
        assert query.formula == read_formula(subscription.text, bindings)
