"""The kernel's modules form no circles: each knows those before it in the table of `lib.rs`."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

KERNEL = Path(__file__).resolve().parent.parent / "crates" / "kernel" / "src"

# Comments, strings and characters, in which paths mean nothing; a lifetime is no character.
SILENT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|r(?P<fence>\#*)".*?"(?P=fence)|"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\])'""",
    flags=re.DOTALL,
)
TOKEN = re.compile(
    r"\bmod\s+(?P<module>\w+)\s*\{|(?P<brace>[{}])|\b(?P<path>(?:crate|super)(?:::super)*)::(?!super\b)"
)
PATH = re.compile(r"[{}]|(?P<name>\w+|\*)[^,{};]*")


def layers(table: str) -> list[list[str]]:
    """Return the modules of each row of the table, the lowest first."""
    rows = re.findall(r"^//! \| (`[^|]+`) \|", table, flags=re.MULTILINE)
    return [re.findall(r"`(\w+)`", row) for row in rows]


def sources() -> dict[str, str]:
    """Return the kernel's files by their paths, without `lib.rs`."""
    paths = sorted(KERNEL.rglob("*.rs"))
    names = {path: path.relative_to(KERNEL).as_posix() for path in paths}
    return {name: path.read_text("utf-8") for path, name in names.items() if name != "lib.rs"}


def module_of(name: str) -> list[str]:
    """Return the path of the module that a file holds."""
    parts = name.removesuffix(".rs").split("/")
    return parts[:-1] if parts[-1] == "mod" else parts


def first_names(text: str, start: int) -> Iterator[str]:
    """Yield the first name of the path at a place; of each path, if it is a list in braces."""
    depth = 0
    for token in PATH.finditer(text, start):
        if token["name"] and depth < 2:
            yield token["name"]
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return


def top_level_names(name: str, text: str) -> Iterator[str]:
    """Yield the names at the root of the crate that a file speaks of; `*` is all of them."""
    text = SILENT.sub(" ", text)
    module = module_of(name)
    inner: list[bool] = []
    for token in TOKEN.finditer(text):
        if token["module"]:
            module.append(token["module"])
            inner.append(True)
        elif token["brace"] == "{":
            inner.append(False)
        elif token["brace"]:
            if inner.pop():
                module.pop()
        else:
            supers = token["path"].split("::").count("super")
            if token["path"].startswith("crate") or supers == len(module):
                yield from first_names(text, token.end())


def breaches(order: list[list[str]], files: Mapping[str, str]) -> list[str]:
    """Return `file: module` for every use of a module that is not lower than the file's own."""
    height = {module: place for place, layer in enumerate(order) for module in layer}
    return [
        f"{name}: {used}"
        for name, text in files.items()
        for used in top_level_names(name, text)
        if used == "*"
        or (used in height and used != (own := module_of(name)[0]) and height[used] >= height[own])
    ]


ORDER = layers((KERNEL / "lib.rs").read_text("utf-8"))


def test_every_module_has_one_place_in_the_order() -> None:
    placed = [module for layer in ORDER for module in layer]
    assert sorted(placed) == sorted({module_of(name)[0] for name in sources()})


def test_modules_know_only_lower_ones() -> None:
    assert breaches(ORDER, sources()) == []


def test_the_files_are_read() -> None:
    uses = {used for name, text in sources().items() for used in top_level_names(name, text)}
    assert {"plan", "rows", "circuit", "automaton", "trie", "events"} <= uses


def test_a_use_of_a_higher_module_is_found_however_it_is_written() -> None:
    order = [["values", "events"], ["rows"], ["plan"], ["trie"]]
    for name, text in {
        "rows/mod.rs": "use crate::plan::Plan;",
        "rows/columns.rs": "fn f(plan: &crate::plan::Plan) {}",
        "rows/found.rs": "use super::super::plan::{Axis, Plan};",
        "rows/list.rs": "use crate::{\n    events::{Span, Scope},\n    plan::Plan,\n};",
        "plan/mod.rs": "mod tests { mod inner { use super::super::super::trie::Trie; } }",
        "plan/image.rs": "fn f<'a>(c: &'a str) -> bool { c == '\"' && crate::trie::ask() }",
        "values.rs": "use super::events::Span;",
        "events.rs": "use crate::*;",
    }.items():
        assert len(breaches(order, {name: text})) == 1, name


def test_uses_of_lower_modules_and_of_ones_own_are_no_breach() -> None:
    order = [["values"], ["rows"], ["plan"], ["trie"]]
    files = {
        "plan/mod.rs": "use crate::{rows::Rows, values};\nuse crate::plan::image::Plan;",
        "plan/image.rs": '// crate::trie\nconst A: &str = "crate::trie::Trie";',
        "plan/reader.rs": "fn f() { g(crate::rows::len(), trie) }",
        "plan/trie.rs": "use super::trie::Own; mod tests { use super::super::trie::Own; }",
        "rows/mod.rs": "pub(in crate::rows) fn f() {} mod tests { use super::plan; }",
    }
    assert breaches(order, files) == []


def test_a_breach_in_the_kernel_itself_would_be_found() -> None:
    files = sources()
    files["rows/mod.rs"] += "use crate::plan::Plan;\n"
    files["circuit/mod.rs"] += "use super::automaton::Automaton;\n"
    assert sorted(breaches(ORDER, files)) == ["circuit/mod.rs: automaton", "rows/mod.rs: plan"]
