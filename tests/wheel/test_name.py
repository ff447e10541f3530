"""Another project has the name `penstock` on the public index: what is said where both are."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.wheel.wheels import (
    ROOT,
    commands,
    install,
    packages,
    pip,
    site_of,
    write_wheel,
)

WAY_OUT = "`pip uninstall penstock penstock-xml`, then install penstock-xml again"
SHARED = (
    "another distribution, `penstock`, is installed in the folder of penstock-xml, and each "
    f"replaced files of the other; {WAY_OUT}"
)
REPLACED = (
    "penstock: the package `penstock` is not that of penstock-xml: another distribution of that "
    f"name replaced it or removed its files; {WAY_OUT}"
)
THEIRS = {
    "a package": b"def gates(): return 3\n",
    "a package for another Python": b"this is no Python at all\n",
}


@pytest.fixture(scope="module", params=["sources", pytest.param("wheel", marks=pytest.mark.slow)])
def ours(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return our wheel: one of the sources as they are, or that of `make build`."""
    if request.param == "wheel":
        wheel: Path = request.getfixturevalue("built")
        return wheel
    folder = tmp_path_factory.mktemp("ours")
    return write_wheel(folder, "penstock-xml", packages(), commands())


def theirs(folder: Path, start: bytes = THEIRS["a package"]) -> Path:
    """Return a wheel of another project that is called as our package is."""
    return write_wheel(folder, "penstock", {"penstock/__init__.py": start})


def environment_in(folder: Path) -> Path:
    """Make an environment that has the libraries of this one, and no package of ours."""
    libraries = site_of(folder) / "libraries.pth"
    libraries.write_text(sysconfig.get_path("purelib"))
    return folder


def run(environment: Path, *command: str) -> tuple[int, str, str]:
    """Run a program of an environment where nothing else is around."""
    done = subprocess.run(
        [environment / "bin" / command[0], *command[1:]],
        cwd=environment,
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_alone_nothing_is_said(ours: Path, tmp_path: Path) -> None:
    environment = environment_in(tmp_path)
    install(environment, ours)
    program = "import penstock; print(penstock.evaluate('1 + 1', '<a/>'), penstock.__version__)"
    assert run(environment, "python", "-W", "error", "-c", program) == (0, "2.0 0.1.0\n", "")
    assert run(environment, "penstock", "--version") == (0, "penstock 0.1.0\n", "")


def test_where_ours_came_last_import_and_command_say_it(ours: Path, tmp_path: Path) -> None:
    environment = environment_in(tmp_path)
    install(environment, theirs(tmp_path), ours)
    code, _, error = run(environment, "python", "-c", "import penstock; penstock.Engine")
    assert code == 0
    assert f"PenstockWarning: {SHARED}\n" in error
    code, output, error = run(environment, "penstock", "--version")
    assert (code, output, error) == (0, "penstock 0.1.0\n", f"penstock: warning: {SHARED}\n")


@pytest.mark.parametrize("start", THEIRS.values(), ids=THEIRS)
def test_where_theirs_came_last_the_command_says_it(
    ours: Path, tmp_path: Path, start: bytes
) -> None:
    environment = environment_in(tmp_path)
    install(environment, ours, theirs(tmp_path, start))
    assert run(environment, "penstock", "--version") == (4, "", f"{REPLACED}\n")


def test_where_theirs_was_removed_the_command_says_it(ours: Path, tmp_path: Path) -> None:
    environment = environment_in(tmp_path)
    install(environment, ours, theirs(tmp_path))
    pip(environment, "uninstall", "--yes", "penstock")
    assert run(environment, "penstock", "--version") == (4, "", f"{REPLACED}\n")


def test_what_is_said_helps(ours: Path, tmp_path: Path) -> None:
    environment = environment_in(tmp_path)
    install(environment, ours, theirs(tmp_path))
    pip(environment, "uninstall", "--yes", "penstock", "penstock-xml")
    install(environment, ours)
    assert run(environment, "penstock", "--version") == (0, "penstock 0.1.0\n", "")


def test_theirs_goes_before_a_checkout_and_the_command_says_it(tmp_path: Path) -> None:
    environment = environment_in(tmp_path)
    install(environment, theirs(tmp_path))
    site = (environment / "lib").glob("python*/site-packages")
    (next(site) / "penstock_xml.pth").write_text(str(ROOT / "python"))
    program = "import sys, penstock_xml; sys.exit(penstock_xml.command())"
    assert run(environment, "python", "-c", program) == (4, "", f"{REPLACED}\n")


def test_the_readme_names_the_case() -> None:
    assert WAY_OUT.partition(",")[0].strip("`") in (ROOT / "README.md").read_text()
