"""How large checkouts are: `python -m benchmarks structure FOLDER …`.

Counts the lines of the kernel and of the Python package without their tests, and lists functions
that are too long. Lines of code are those that are neither blank nor comment nor docstring.
"""

import argparse
import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import table

FUNCTION_LINES_MAX = 80

# rustfmt puts the end of an item where the item begins, so indentation is enough to find it.
_RUST_FUNCTION = re.compile(
    r"^( *)(?:pub(?:\([^)]*\))? )?(?:default |const |async |unsafe |extern \"\w+\" )*fn (\w+)"
)
_TEST_MODULE = re.compile(r"^( *)#\[cfg\(test\)\]\n\1mod (\w+)(;\n| \{\n(?:.*\n)*?\1\}\n)", re.M)


@dataclass(frozen=True)
class Function:
    """A function and how many lines it has, without its decorators."""

    place: str
    name: str
    lines: int


def rust_texts(folder: Path) -> dict[str, str]:
    """Return the sources of the crates by their paths, without modules that are tests."""
    texts, tests = {}, set()
    for path in sorted(folder.glob("crates/*/src/**/*.rs")):
        text = path.read_text("utf-8")
        inside = path.parent if path.stem in ("lib", "main", "mod") else path.with_suffix("")
        for match in _TEST_MODULE.finditer(text):
            tests |= {inside / f"{match[2]}.rs", inside / match[2] / "mod.rs"}
        texts[path] = _TEST_MODULE.sub("", text)
    return {
        str(path.relative_to(folder)): text for path, text in texts.items() if path not in tests
    }


def python_texts(folder: Path) -> dict[str, str]:
    """Return the sources of the package by their paths, without its tools for tests."""
    package = folder / "python" / "penstock"
    return {
        str(path.relative_to(folder)): path.read_text("utf-8")
        for path in sorted(package.rglob("*.py"))
        if package / "testing" not in path.parents
    }


def rust_code_lines(text: str) -> int:
    """Return how many lines hold code."""
    lines = (line.strip() for line in text.splitlines())
    return sum(bool(line) and not line.startswith("//") for line in lines)


def python_code_lines(text: str) -> int:
    """Return how many lines hold code."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        # A string that is a statement is a docstring of what contains it or precedes it.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            documented.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(map(str.strip, text.splitlines()), start=1)
    return sum(
        bool(line) and not line.startswith("#") and number not in documented
        for number, line in lines
    )


def rust_functions(place: str, text: str) -> Iterator[Function]:
    """Yield the functions of a source that rustfmt formatted."""
    lines = text.splitlines()
    for start, line in enumerate(lines):
        if match := _RUST_FUNCTION.match(line):
            indent = match[1]
            is_end = re.compile(rf"{indent}(\}}|\S.*(;|\}}))$").match
            ends = (end for end in range(start, len(lines)) if is_end(lines[end]))
            yield Function(f"{place}:{start + 1}", match[2], next(ends, start) - start + 1)


def python_functions(place: str, text: str) -> Iterator[Function]:
    """Yield the functions of a source, those in classes and in functions too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            yield Function(f"{place}:{node.lineno}", node.name, lines)


def too_long(functions: Iterable[Function]) -> list[Function]:
    """Return the functions that are too long, the longest first."""
    found = (one for one in functions if one.lines > FUNCTION_LINES_MAX)
    return sorted(found, key=lambda one: -one.lines)


@dataclass(frozen=True)
class Part:
    """What is counted of a checkout: its kernel or its Python package."""

    files: int
    lines: int
    code: int
    functions: list[Function]


def kernel(folder: Path) -> Part:
    """Return the figures of all crates."""
    return _part(rust_texts(folder), rust_code_lines, rust_functions)


def package(folder: Path) -> Part:
    """Return the figures of the Python package."""
    return _part(python_texts(folder), python_code_lines, python_functions)


def _part(
    texts: dict[str, str],
    code_lines: Callable[[str], int],
    functions: Callable[[str, str], Iterator[Function]],
) -> Part:
    return Part(
        len(texts),
        sum(len(text.splitlines()) for text in texts.values()),
        sum(map(code_lines, texts.values())),
        [function for one in texts.items() for function in functions(*one)],
    )


def main(arguments: list[str]) -> int:
    """Print the figures of checkouts, beside the first one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks structure", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    folders = parser.parse_args(arguments).folders
    rows, long = [], []
    for name, count in (("kernel", kernel), ("Python", package)):
        first: Part | None = None
        for folder in folders:
            part = count(folder)
            first = first or part
            cells = [f"{part.files}"]
            for now, before in ((part.lines, first.lines), (part.code, first.code)):
                cells += [f"{now:,}", f"{now / before - 1:+.1%}"]
            longest = max(part.functions, key=lambda one: one.lines)
            rows.append([name, str(folder), *cells, f"{longest.name}: {longest.lines}"])
            long += [
                f"- {folder / one.place}: `{one.name}` has {one.lines} lines"
                for one in too_long(part.functions)
            ]
    head = ["", "checkout", "files", "lines", "", "code", "", "longest function"]
    print(
        "\n".join([*table(head, rows), "", f"Over {FUNCTION_LINES_MAX} lines: {len(long)}", *long])
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
