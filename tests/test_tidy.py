"""The repository keeps its own rules: size, portability, finished sentences, one way in."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.structure import python_functions, rust_functions, too_long
from tests.conftest import group_of

ROOT = Path(__file__).resolve().parent.parent
IGNORED_FOLDERS = {".git", ".venv", "__pycache__", "node_modules", "out", "site", "target"}
CODE_SUFFIXES = {".py", ".pyi", ".rs", ".sh"}
TEXT_SUFFIXES = CODE_SUFFIXES | {".in", ".md", ".toml", ".txt", ".yaml", ".yml", ""}
LINES_MAX = 500
SLEEPS = {"sleep", "time.sleep"}
# These kill a process at a random moment, and any moment will do.
RANDOM_MOMENTS = {"test_kafka_kills.py", "test_kills.py", "victims.py"}

# The needles are put together here so that this file does not hold what it forbids.
# Only whole machine paths count: `/root/item` is a fine query.
MACHINE_PATH = re.compile("/" + r"(?:work/(?:main|shared|\.)|root/\.|home/\w+/|tmp/\w)")
REGISTRY_HOST = re.compile("|".join(("pypi" + r"\.org", "python" + "hosted", "crates" + r"\.io")))
UNFINISHED = re.compile(r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X")) + r")\b")


def files(suffixes: set[str]) -> Iterator[Path]:
    """Yield the repository's own files with one of these suffixes."""
    for folder, subfolders, names in os.walk(ROOT):
        subfolders[:] = [
            name
            for name in sorted(subfolders)
            if name not in IGNORED_FOLDERS and (not name.startswith(".") or name == ".ci")
        ]
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix in suffixes and not name.startswith("."):
                yield path


def lines_with(pattern: re.Pattern[str], suffixes: set[str]) -> list[str]:
    """Return `file:line: text` for every line that the pattern finds."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files(suffixes)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]


def test_source_files_can_be_read_in_one_sitting() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines())
        for path in files(CODE_SUFFIXES)
    }
    assert {name: length for name, length in lengths.items() if length > LINES_MAX} == {}


def test_functions_are_short() -> None:
    finders = {".py": python_functions, ".rs": rust_functions}
    functions = [
        function
        for path in files(set(finders))
        for function in finders[path.suffix](str(path.relative_to(ROOT)), path.read_text("utf-8"))
    ]
    assert too_long(functions) == []


def test_no_file_names_a_path_of_one_machine() -> None:
    assert lines_with(MACHINE_PATH, TEXT_SUFFIXES) == []


def test_no_file_names_a_package_index() -> None:
    assert lines_with(REGISTRY_HOST, TEXT_SUFFIXES) == []


def test_nothing_is_marked_as_unfinished() -> None:
    assert lines_with(UNFINISHED, TEXT_SUFFIXES - {".txt"}) == []


def test_every_python_module_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in files({".py"})
        if not ast.get_docstring(ast.parse(path.read_text("utf-8")))
    ]
    assert silent == []


def test_only_the_kernel_module_imports_the_native_one() -> None:
    importers = {
        str(path.relative_to(ROOT))
        for path in files({".py"})
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if (isinstance(node, ast.ImportFrom) and "_native" in (node.module or "").split("."))
        or (
            isinstance(node, ast.ImportFrom | ast.Import)
            and any("_native" in alias.name.split(".") for alias in node.names)
        )
    }
    assert importers <= {"python/penstock/kernel.py"}


def bare_sleeps(tree: ast.AST, is_waiting: bool = False) -> Iterator[int]:
    """Yield the lines of sleeps that stand in no loop that waits for something."""
    for node in ast.iter_child_nodes(tree):
        is_inside = is_waiting or isinstance(node, ast.While)
        if isinstance(node, ast.Call) and not is_inside and ast.unparse(node.func) in SLEEPS:
            yield node.lineno
        yield from bare_sleeps(node, is_inside)


def test_no_test_sleeps_but_to_wait_for_a_condition() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in files({".py"})
        if path.is_relative_to(ROOT / "tests") and path.name not in RANDOM_MOMENTS
        for line in bare_sleeps(ast.parse(path.read_text("utf-8")))
    ]
    assert found == []


def test_a_sleep_outside_of_a_loop_is_found() -> None:
    assert list(bare_sleeps(ast.parse("for _ in x:\n    time.sleep(1)"))) == [2]
    assert list(bare_sleeps(ast.parse("while not x():\n    time.sleep(1)"))) == []


def test_imports_go_one_way() -> None:
    script = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_locks_hold_a_hash_for_every_requirement() -> None:
    for lock in sorted((ROOT / "requirements").glob("*.txt")):
        blocks = re.split(r"\n(?=[a-z0-9])", lock.read_text("utf-8"))
        unpinned = [block for block in blocks[1:] if "==" not in block or "--hash=" not in block]
        assert unpinned == [], lock.name


def test_licence_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_every_documented_make_target_exists() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, flags=re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text("utf-8")
        documented = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, flags=re.MULTILINE))
        assert "test" in documented, name
        assert documented <= targets, name


def test_readme_names_the_first_commands_and_tables_what_works() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert "make demo" in text
    assert "make test" in text
    assert re.search(r"^\|[ |:-]+\|$", text, flags=re.MULTILINE), "the table of what works"


def test_continuous_integration_runs_the_documented_test_command() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text("utf-8")


def test_the_files_that_changes_touch_exist() -> None:
    text = (ROOT / "docs" / "notes" / "changes.md").read_text("utf-8")
    assert len(re.findall("^## ", text, flags=re.MULTILINE)) >= 10
    folders = "benchmarks|corpus|crates|docs|papers|python|tests"
    named = set(re.findall(rf"`((?:{folders})/[\w/.]+)`", text))
    assert len(named) > 30
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_spark_and_the_documentation_are_tested_in_processes_of_their_own() -> None:
    tests = ("tests/spark/test_match.py::test_a", "tests/spark/joins/test_stream.py::test_a")
    groups = {group_of(one) for one in (*tests, "tests/docs/test_recipes.py::test_a")}
    assert len(groups) == 3
    assert group_of("tests/spark/test_plans.py::test_b[1]") == group_of(tests[0])
