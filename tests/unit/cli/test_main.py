"""The command as a whole."""

from importlib.metadata import version

import pytest

from penstock.cli import main

Capture = pytest.CaptureFixture[str]


def test_the_version_is_that_of_the_package(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"penstock {version('penstock')}\n"


def test_help_lists_commands_and_exit_codes(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    for word in ("match", "explain", "check", "exit codes"):
        assert word in out
