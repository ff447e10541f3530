"""The systems for many subscriptions list the same matches as lxml, query by query."""

from dataclasses import replace

import pytest

from benchmarks import peers
from benchmarks.workloads.dtd import load_schema
from benchmarks.workloads.sets import Workload
from benchmarks.workloads.subscriptions import queries
from papers import native

REFERENCE = "lxml_loop"
IN_PROCESS = tuple(name for name in peers.MANY_PEERS if name not in (REFERENCE, "spark_xpath"))
COMPILED = ("yfilter_nfa", "xpass_plain", "xpass_compressed")
NESTED = replace(
    Workload("nitf", "path", "unselective").query_parameters, length_max=4, nested_max=2
)


def present(name: str) -> None:
    reason = peers.load(name).missing()
    if reason:
        pytest.skip(reason)


def texts_of(kind: str, schema: str, count: int) -> list[str]:
    if kind == "nested":
        return list(queries(load_schema(schema), NESTED, count))
    selectivity = "selective" if kind == "template" else "unselective"
    return list(Workload(schema, kind, selectivity).queries(count))


def check(name: str, mode: str, texts: list[str], documents: list[bytes]) -> None:
    """Hold a system's answers against the reference, twice: some learn from documents."""
    theirs = peers.load(name).subscribe(texts, mode)
    expected = peers.load(REFERENCE).subscribe(texts, mode)
    for document in documents * 2:
        assert theirs.answer(document) == expected.answer(document)


@pytest.mark.parametrize("mode", ["filter", "query"])
@pytest.mark.parametrize("name", IN_PROCESS)
def test_answers_on_generated_documents_are_the_references(name: str, mode: str) -> None:
    present(name)
    for schema in ("nitf", "book"):
        documents = list(Workload(schema, "path", "unselective").documents(6))
        for kind in peers.load(name).KINDS:
            check(name, mode, texts_of(kind, schema, 200), documents)


@pytest.mark.spark
def test_answers_of_spark_are_the_references() -> None:
    present("spark_xpath")
    workload = Workload("nitf", "twig", "unselective")
    texts = list(workload.queries(30))
    theirs = peers.load("spark_xpath").subscribe(texts, "filter")
    expected = peers.load(REFERENCE).subscribe(texts, "filter")
    try:
        for document in workload.documents(2):
            assert theirs.answer(document) == expected.answer(document)
    finally:
        theirs.close()


@pytest.mark.parametrize("name", COMPILED)
def test_recursive_names_are_told_apart(name: str) -> None:
    present(name)
    texts = ["//a//a", "/a/a", "//a/b", "/a//a//b", "//*//a", "/*/*/b", "//b", "/b", "//c"]
    if "nested" in peers.load(name).KINDS:
        texts += ["//a[a]/b", "//a[a[b]]", "//a[.//b]//a", "/a[a][b]", "//a[b][a/b]/a", "//a[*/*]"]
    documents = [b"<a><a><b/><a><b/></a></a><b/></a>", b"<a><b><a/></b></a>", b"<x><a/></x>"]
    for mode in ("filter", "query"):
        check(name, mode, texts, documents)


@pytest.mark.parametrize("name", COMPILED)
def test_a_fresh_start_gives_the_same_answers(name: str) -> None:
    present(name)
    workload = Workload("nitf", "path", "unselective")
    subscribed = peers.load(name).subscribe(workload.queries(200), "query")
    (document,) = workload.documents(1)
    before = subscribed.answer(document)
    subscribed.forget()
    assert subscribed.answer(document) == before


@pytest.mark.parametrize("name", COMPILED)
def test_what_a_compiled_peer_cannot_read_is_refused(name: str) -> None:
    present(name)
    for text in ("//a[b = 'c']", "//a[", "//@a", "a or b"):
        with pytest.raises(ValueError, match="no path of this peer"):
            peers.load(name).subscribe([text], "filter")
    with pytest.raises(ValueError, match="closes"):
        peers.load(name).subscribe(["//a"], "filter").read([b"<a></b>"])


def test_the_automaton_refuses_nested_paths() -> None:
    present("yfilter_nfa")
    with pytest.raises(ValueError, match="without nested"):
        peers.load("yfilter_nfa").subscribe(["//a[b]"], "filter")


def test_a_missing_compiler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(native.LIBRARY, raising=False)
    monkeypatch.setattr(native.shutil, "which", lambda _: None)
    assert "need cargo" in str(native.missing.__wrapped__())
