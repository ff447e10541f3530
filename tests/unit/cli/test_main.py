"""The command as a whole."""

import os
import pty
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock
from penstock.cli import main
from penstock.cli.main import COMMANDS, parser
from penstock.cli.parsing import Parser
from penstock.versions import own_version

Capture = pytest.CaptureFixture[str]


def parsers(parent: Parser) -> Iterator[Parser]:
    """Yield a parser and those of its commands."""
    yield parent
    for action in parent._actions:
        if isinstance(action.choices, dict):
            for child in action.choices.values():
                yield from parsers(child)


def usage_error(capsys: Capture, *arguments: str) -> str:
    """Return what is said of a command line that is refused."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("flag", ["-V", "--version"])
def test_the_version_is_that_of_the_package(flag: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        main([flag])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"penstock {own_version()}\n"


def test_the_version_stands_in_one_more_place_and_is_the_same() -> None:
    manifest = tomllib.loads((Path(__file__).parents[3] / "Cargo.toml").read_text())
    assert penstock.__version__ == manifest["workspace"]["package"]["version"]


def modules_of(*arguments: str) -> set[str]:
    """Return the modules of this package that a command loads."""
    code = "import sys; from penstock.__main__ import command\ntry: command()\n"
    code += "finally: print(*sys.modules, file=sys.stderr)"
    run = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    return set(done.stderr.splitlines()[-1].split())


def test_the_version_loads_nothing() -> None:
    for flag in ("-V", "--version"):
        loaded = modules_of(flag)
        assert {name for name in loaded if name.startswith("penstock")} == {
            "penstock",
            "penstock.__main__",
            "penstock_xml",
        }
        assert not loaded & {"argparse", "re", "importlib.metadata"}


def test_a_command_loads_no_other_one() -> None:
    for name in ("completion", "run", "check"):
        loaded = {f"penstock.cli.{one}" for one in COMMANDS} & modules_of(name, "--help")
        assert loaded == {f"penstock.cli.{name}"}
    assert not {f"penstock.cli.{one}" for one in COMMANDS} & modules_of("--help")


def test_the_list_of_commands_has_the_help_of_each() -> None:
    (actions,) = [action for action in parser()._actions if isinstance(action.choices, dict)]
    listed = {one.dest: one.help for one in actions._choices_actions}  # type: ignore[attr-defined]
    assert listed == COMMANDS


def test_help_lists_commands_and_exit_codes(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    for word in ("match", "explain", "check", "exit codes", "examples:"):
        assert word in out


def test_every_command_has_examples_that_it_takes() -> None:
    count = 0
    for one in parsers(parser()):
        assert one.examples, one.prog
        for example in one.examples:
            command = shlex.split(re.split(" [|>] ", example)[0])
            assert command[0] == "penstock"
            parser().parse_args(command[1:])
            count += 1
    assert count > 20


def test_a_mistyped_command_gets_a_suggestion(capsys: Capture) -> None:
    assert "did you mean `match`?" in usage_error(capsys, "mtach", "//a")
    assert "did you mean `replace`?" in usage_error(capsys, "registry", "replcae")


def test_a_mistyped_option_gets_a_suggestion(capsys: Capture) -> None:
    assert "did you mean `--format`?" in usage_error(capsys, "match", "//a", "--fromat", "csv")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_options(shell: str, capsys: Capture) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("match", "registry", "export", "parquet", "follow"):
        assert word in script


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ma"], ["match"]),
        (["registry", "re"], ["replace", "remove", "repair"]),
        (["match", "--format", "c"], ["csv"]),
        (["match", "--fol"], ["--follow"]),
        (["registry", "export", "--format", ""], ["jsonl", "csv"]),
        (["match", "//a", "--ord"], ["--order"]),
    ],
)
def test_bash_completes_words(words: list[str], expected: list[str], capsys: Capture) -> None:
    main(["completion", "bash"])
    script = capsys.readouterr().out
    script += f"COMP_WORDS=(penstock {shlex.join(words)}); COMP_CWORD={len(words)}\n"
    script += '_penstock; printf "%s\\n" "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash"], input=script, capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == sorted(expected)
    assert done.stderr == ""


def on_terminal(command: list[str], folder: Path, **environment: str) -> bytes:
    """Return what a command writes to a terminal that is its stderr."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "penstock", *command],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", **environment},
    ) as running:
        os.close(theirs)
        written = b""
        try:
            while piece := os.read(ours, 1 << 16):
                written += piece
        except OSError:
            pass  # how a terminal ends
        os.close(ours)
    assert running.returncode == 0
    return written


def test_progress_is_shown_on_a_terminal_without_colours_on_request(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<r>" + "<x>1</x>" * 400_000 + "</r>")
    command = ["match", "--count", "//x", "a.xml"]
    assert b"reading" in on_terminal(command, tmp_path)
    plain = on_terminal(command, tmp_path, NO_COLOR="1")
    assert b"reading" in plain
    assert re.search(rb"\x1b\[[0-9;]*3[0-9]", plain) is None
    assert on_terminal([*command, "--quiet"], tmp_path) == b""


def test_errors_give_advice_that_can_be_typed(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<a/>")
    for query, advice in (
        ("//cap:alert", "bind it: -n cap=URI"),
        ("//a[. = $x]", "give it one: --variable x=TEXT"),
        ("//{urn:a}a", "bind a prefix with -n p=URI and write p:name"),
    ):
        assert main(["match", query, str(path)]) == 2
        assert f"help: {advice}\n" in capsys.readouterr().err


def test_the_library_gives_advice_for_programs() -> None:
    import penstock

    with pytest.raises(penstock.QueryError) as caught:
        penstock.xpath("//cap:alert")
    assert caught.value.help == "bind it: namespaces={'cap': 'http://…'}"


def test_variables_and_a_context_can_be_given(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<a><b><c>1</c></b><b><c>2</c></b></a>")
    command = ["match", "--context", "//b[2]", "--variable", "x=2", "c[. = $x]/text()"]
    assert main([*command, str(path)]) == 0
    assert capsys.readouterr().out == "2\n"


def test_a_swapped_query_and_file_are_recognised(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "shop.xml"
    path.write_text("<a/>")
    said = usage_error(capsys, "match", str(path), "//a:book[1]")
    assert "the query comes first" in said
    assert f"penstock match '//a:book[1]' {path}" in said
    assert "is a file" in usage_error(capsys, "match", str(path))


def test_a_query_that_is_also_a_file_is_a_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("book").write_text("<book/>")
    assert main(["match", "book", "book"]) == 0
    assert capsys.readouterr().out == "<book/>\n"
