"""What a program sees of the package: names, errors, forms for people, loggers, loading."""

import importlib
import logging
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.errors import MissingExtraError, RegistryError, SettingError, UnknownNameError

SHOP = "<shop><book id='1'><t>A</t></book><book id='2'><t>&lt;B&gt;</t></book></shop>"


def in_new_process(code: str) -> str:
    """Return what a program prints, run by itself."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def registry_of(**queries: str) -> Any:
    registry = penstock.Registry()
    for name, text in queries.items():
        registry.add(name, text)
    return registry


@pytest.mark.parametrize("name", penstock.__all__)
def test_every_public_name_is_there_and_says_what_it_is(name: str) -> None:
    assert name in dir(penstock)
    assert getattr(penstock, name).__doc__


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = penstock.nothing
    assert penstock.__version__


def test_the_testing_helpers_have_moved() -> None:
    with pytest.raises(ImportError, match="now the package penstock_testing"):
        importlib.import_module("penstock.testing")


def test_importing_the_package_loads_next_to_nothing() -> None:
    loaded = set(in_new_process("import sys, penstock; print(*sys.modules)").split())
    own = {name for name in loaded if name.partition(".")[0] == "penstock"}
    assert own == {"penstock"}
    heavy = "re dataclasses enum inspect logging json asyncio concurrent.futures".split()
    assert loaded.isdisjoint(heavy)


def test_what_few_programs_need_is_not_loaded_for_all() -> None:
    code = (
        "import sys, penstock\n"
        "registry = penstock.Registry()\n"
        "registry.add('a', '//a')\n"
        "assert len(list(penstock.Engine(registry).run('<a/>'))) == 1\n"
        "print(*sys.modules)"
    )
    loaded = set(in_new_process(code).split())
    few = (
        "asyncio concurrent.futures email html.parser importlib.metadata multiprocessing pandas "
        "penstock.cli penstock.engine.asynchronous penstock.engine.diagnosis penstock.spark "
        "penstock.languages.xquery penstock.planning.tables "
        "penstock.registry.durable pyarrow pyspark rich socket sqlite3 ssl subprocess tarfile "
        "urllib.request xml.parsers.expat xml.sax yaml zipfile zstandard"
    )
    assert loaded.isdisjoint(few.split())


def test_patterns_are_compiled_when_they_are_used() -> None:
    from penstock.languages.lazy_patterns import lazy_pattern

    pattern = lazy_pattern("(")  # no pattern, which nobody notices yet
    with pytest.raises(Exception, match="missing"):
        pattern.match("a")
    assert lazy_pattern("a+").fullmatch("aa") is not None


@pytest.mark.parametrize(
    ("code", "extra"),
    [
        ("list(engine.batches('<a/>'))", "arrow"),
        ("list(engine.matches('<a/>'))", "arrow"),
        ("from penstock.spark import match; match(None, registry)", "spark"),
        ("from penstock.spark.sources import register; register(None)", "spark"),
    ],
)
def test_a_missing_extra_is_named_with_the_line_that_installs_it(code: str, extra: str) -> None:
    program = (
        "import sys\n"
        "for name in ('pyarrow', 'pyspark', 'pandas'): sys.modules[name] = None\n"
        "import penstock\n"
        "registry = penstock.Registry(); registry.add('a', '//a')\n"
        "engine = penstock.Engine(registry)\n"
        f"try:\n    {code}\n"
        "except ImportError as error:\n    print(error)\n"
        "else:\n    print('nothing is missing')"
    )
    assert f"pip install 'penstock-xml[{extra}]'" in in_new_process(program)


def test_the_error_of_a_missing_extra_pickles() -> None:
    error = MissingExtraError("PX0001", "x is missing; pip install 'penstock-xml[x]'")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("registry", ["//book", None, ["//a"], 3])
def test_an_engine_without_a_registry_is_refused(registry: Any) -> None:
    with pytest.raises(TypeError, match=r"an engine takes a registry, not .*Registry\(\)"):
        penstock.Engine(registry)


def test_names_of_files_are_no_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain").write_text("<a/>")
    engine = penstock.Engine(registry_of(a="//a"))
    for source in (["books.xml"], "books.xml", [Path("plain"), "plain"]):
        with pytest.raises(TypeError, match=r"pass pathlib\.Path\("):
            list(engine.run(source))
    assert [row.kind for row in engine.run(["no markup at all", "<a/>"])] == ["error", "element"]


@pytest.mark.parametrize("query", [None, 3, b"//a", ["//a"]])
def test_what_is_no_query_is_refused(query: Any) -> None:
    with pytest.raises(TypeError, match="a query is XPath text"):
        penstock.Registry().add("a", query)


def test_subscriptions_take_namespaces_variables_and_values_beside(tmp_path: Path) -> None:
    for registry in (penstock.Registry(), penstock.Registry.open(tmp_path / "r")):
        options: dict[str, Any] = {"namespaces": {"p": "urn:p"}, "variables": {"v": "1"}}
        registry.add("a", "//p:a[@v = $v]", **options, select={"id": "@id"})
        document = "<a xmlns='urn:p' v='1' id='x'/>"
        (row,) = penstock.Engine(registry).run(document)
        assert row.bindings == {"id": "x"}
        registry.replace("a", "//q:a", namespaces={"q": "urn:p"})
        assert len(list(penstock.Engine(registry).run(document))) == 1
        registry.add("j", "a//x->x JOIN{x = y, 1 h} b//y->y", language="xscl")
        assert registry["j"].query.language == "xscl"


def test_options_belong_to_texts() -> None:
    registry = penstock.Registry()
    with pytest.raises(SettingError, match="takes no namespaces"):
        registry.add("a", penstock.xpath("//a"), namespaces={"p": "urn:p"})
    with pytest.raises(SettingError, match="there is no language 'sql'"):
        registry.add("a", "//a", language="sql")
    assert len(registry) == 0


def test_a_registry_is_asked_by_name(tmp_path: Path) -> None:
    durable = penstock.Registry.open(tmp_path / "r")
    for registry in (registry_of(a="//a"), durable):
        if registry is durable:
            registry.add("a", "//a")
        assert registry["a"].text == "//a"
        with pytest.raises(KeyError) as caught:
            registry["b"]
        assert isinstance(caught.value, UnknownNameError)
        assert str(caught.value) == "PR0002: there is no subscription `b`"
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert durable.at(1)["a"].text == "//a"


def test_a_registry_is_made_only_where_it_may(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="there is no registry"):
        penstock.Registry.open(tmp_path, create=False)
    assert list(tmp_path.iterdir()) == []
    penstock.Registry.open(tmp_path).add("a", "//a")
    assert len(penstock.Registry.open(tmp_path, create=False)) == 1
    (tmp_path / "registry.sqlite").unlink()
    with pytest.raises(RegistryError, match="missing or empty"):
        penstock.Registry.open(tmp_path, create=False)


def test_evaluate_takes_values_beside_and_limits() -> None:
    rows = penstock.evaluate("//t", SHOP, select={"id": "../@id"})
    assert isinstance(rows, list)
    assert [row.bindings for row in rows] == [{"id": "1"}, {"id": "2"}]
    with pytest.raises(penstock.errors.LimitError) as caught:
        penstock.evaluate("//t", SHOP, limits=penstock.Limits(depth_max=2))
    assert caught.value.limit == "depth_max"


def test_forms_for_people_are_short() -> None:
    engine = penstock.Engine(registry_of(t="//t"))
    rows = penstock.evaluate("//t", SHOP)
    assert repr(rows) == "[<Result element t '<t>A</t>'>, <Result element t '<t>&lt;B&gt;</t>'>]"
    many = penstock.evaluate("//b", "<a>" + "<b/>" * 1000 + "</a>")
    assert repr(many).endswith("<Result element b '<b/>'>, … 995 more]")
    (bad,) = engine.run("<a>")
    assert repr(bad).startswith("<Result error 'PD0026: ")
    long = penstock.evaluate("/a", f"<a>{'x' * 1000}</a>")
    things = [
        *(engine, engine.registry, engine.registry["t"], engine.statistics(), long),
        *(penstock.xpath("//t[1]"), penstock.Document(b"x" * 1000, id="d"), penstock.Limits()),
        *(next(iter(engine.matches(SHOP))), engine.open(id="d"), penstock.verdict),
        penstock.Document("x" * 1000),
        penstock.Document(Path("a.xml")),
    ]
    for thing in things:
        assert len(repr(thing)) < 200, thing
    assert repr(penstock.Limits(depth_max=2)) == "Limits(depth_max=2)"
    assert repr(penstock.xpath("//t[1]")) == "<Query xpath: //t[1]>"


def test_notebooks_get_tables_without_markup_of_the_document() -> None:
    engine = penstock.Engine(registry_of(t="//t"))
    list(engine.run(SHOP))
    rows = penstock.evaluate("//t", SHOP, select={"<id>": "../@id"})
    shown = rows._repr_html_()
    assert "&lt;t&gt;A&lt;/t&gt;" in shown
    assert "<th>&lt;id&gt;</th>" in shown
    assert "<t>" not in shown
    assert "2 results" in shown
    for thing in (
        rows[0],
        engine.statistics(),
        next(iter(engine.matches(SHOP))),
        engine.explain(),
        penstock.explain(penstock.xpath("//t[. < 3]")),
    ):
        html = thing._repr_html_()
        assert html.startswith(("<table>", "<pre>"))
        assert "//t[. <" not in html


def test_long_tables_are_cut() -> None:
    many = penstock.evaluate("//b", "<a>" + f"<b>{'x' * 1000}</b>" * 1000 + "</a>")
    assert "… 980 more" in many._repr_html_()
    assert len(many._repr_html_()) < 20_000


def test_the_package_says_nothing_unless_somebody_listens() -> None:
    code = (
        "import penstock; registry = penstock.Registry(); registry.add('a', '//a')\n"
        "list(penstock.Engine(registry).run('<a>'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == done.stderr == b""


def test_loggers_tell_what_failed_and_what_changed(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG, "penstock")
    registry = penstock.Registry.open(tmp_path / "r")
    registry.add("a", "//a")
    registry.load(['{"name": "b", "query": "//b"}'])
    registry.remove("b")
    list(penstock.Engine(registry).run([penstock.Document("<a>", id="broken")]))
    told = [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
    assert ("penstock.registry", "DEBUG", "added a") in told
    assert ("penstock.registry", "DEBUG", "removed b") in told
    assert any(name == "penstock.registry" and "1 added" in text for name, _, text in told)
    assert any(
        (name, level) == ("penstock.engine", "INFO") and "broken failed: PD0026" in text
        for name, level, text in told
    )


def test_the_log_names_the_subscription_that_failed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "penstock")
    registry = registry_of(many="//a", block=penstock.xscl("S//a->x"), one="/r")
    engine = penstock.Engine(registry, penstock.Limits(results_max=1))
    list(engine.run([penstock.Document("<r><a/><a/></r>", id="good", stream="S")]))
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert told[0].startswith("the subscription many failed at good: PL0016: ")
    assert told[1].startswith("the subscription block failed while it was joined: PL0016: ")


def test_a_suspension_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    registry = registry_of(many="//a", one="/r")
    limits = penstock.Limits(results_max=1)
    engine = penstock.Engine(registry, limits, suspend_after=1)
    list(engine.run(["<r><a/><a/></r>"]))
    engine.resume("many")
    (record,) = [one for one in caplog.records if one.levelno == logging.WARNING]
    assert record.getMessage().startswith("the subscription many is suspended: PL0016")
