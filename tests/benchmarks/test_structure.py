"""Checkouts are counted without their tests, and long functions are found."""

from pathlib import Path

import pytest

from benchmarks import structure
from benchmarks.structure import FUNCTION_LINES_MAX, Function, python_functions, rust_functions
from tests.conftest import ROOT

RUST = """\
//! A comment.
mod helpers;

trait Reader {
    fn next(
        &mut self,
    ) -> usize;
    fn name(&self) -> &str {
        "reader"
    }
}

pub(crate) const fn one() -> u32 { 1 }

/// A comment.
#[inline]
pub unsafe fn two<T>(values: &[T]) -> usize
where
    T: Copy,
{
    if values.is_empty() {
        return 0;
    }
    values.len()
}

#[cfg(test)]
mod tests {
    #[test]
    fn works() {
        assert_eq!(super::one(), 1);
    }
}
"""
PYTHON = '''\
"""A docstring
of two lines."""


class Reader:
    """A docstring."""

    limit: int = 1
    """A docstring."""

    @property
    def name(self) -> str:
        """A docstring."""
        # A comment.
        def inner() -> str:
            return "reader"

        return inner()
'''


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for place, text in {
        "crates/kernel/src/lib.rs": RUST,
        "crates/kernel/src/plan.rs": "#[cfg(test)]\nmod checks;\nfn f() {}\n",
        "crates/kernel/src/plan/checks.rs": "fn g() {}\n",
        "crates/kernel/tests/plan.rs": "fn h() {}\n",
        "python/penstock/reader.py": PYTHON,
        "python/penstock_testing/tree.py": PYTHON,
    }.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path


def test_functions_of_rust_end_where_they_begin() -> None:
    assert list(rust_functions("lib.rs", RUST)) == [
        Function("lib.rs:5", "next", 3),
        Function("lib.rs:8", "name", 3),
        Function("lib.rs:13", "one", 1),
        Function("lib.rs:17", "two", 9),
        Function("lib.rs:30", "works", 3),
    ]


def test_functions_of_python_are_found_at_every_depth() -> None:
    assert list(python_functions("reader.py", PYTHON)) == [
        Function("reader.py:12", "name", 7),
        Function("reader.py:15", "inner", 2),
    ]


def test_no_function_of_the_crates_is_overlooked() -> None:
    texts = structure.rust_texts(ROOT)
    found = sum(len(list(rust_functions(place, text))) for place, text in texts.items())
    lines = [line for text in texts.values() for line in text.splitlines()]
    assert found == sum("fn " in line.partition("//")[0].split('"')[0] for line in lines)


def test_tests_are_not_counted(checkout: Path) -> None:
    kernel, package = structure.kernel(checkout), structure.package(checkout)
    assert [one.name for one in kernel.functions] == ["next", "name", "one", "two", "f"]
    assert (kernel.files, kernel.lines) == (2, 27)
    assert (package.files, package.lines) == (1, 18)


def test_blank_lines_comments_and_docstrings_are_no_code(checkout: Path) -> None:
    assert structure.package(checkout).code == 7
    assert structure.kernel(checkout).code == 21


def test_functions_over_the_bound_are_too_long() -> None:
    short, long, longer = (Function("f", "f", FUNCTION_LINES_MAX + more) for more in (0, 1, 2))
    assert structure.too_long([short, long, longer]) == [longer, long]


def test_a_checkout_is_shown_beside_the_first_one(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert structure.main([str(checkout), str(checkout)]) == 0
    text = capsys.readouterr().out
    assert text.count("| two: 9 ") == text.count("| name: 7 ") == 2
    assert text.count("+0.0%") == 8
    assert "Over 80 lines: 0" in text
