"""What type checkers and processes see of the public names."""

import copy
import pickle
from pathlib import Path

import pytest
from mypy import api

import penstock

PROGRAM = """\
from pathlib import Path

import penstock

shop = "<shop><book><price>9.5</price></book></shop>"
registry: penstock.Registry = penstock.Registry()
registry.add("cheap", "//book", mode="filter", owner="ann", delivery={"to": "mail"})
for row in penstock.Engine(registry).run(shop):
    print(row.subscription, row.kind, row.value)
assert penstock.evaluate("sum(//price)", shop) == 9.5
total: float = penstock.evaluate("sum(//price)", shop)
rows: penstock.Results = penstock.evaluate("//price", shop)
for found in penstock.evaluate("//price", shop, select={"id": "@id"}):
    print(found.value)
items = [item for item in penstock.evaluate(penstock.xquery("//price"), shop)]
kept: penstock.Registry = penstock.Registry.open(Path("rules"))
kept.add("dear", "//book")


def count(given: penstock.Registry) -> int:
    return len(given)


print(count(kept) + count(registry), penstock.Engine(kept).table(shop))
"""


def test_the_programs_of_the_documentation_pass_strict_checks(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    told, errors, code = api.run(["--strict", "--config-file=", str(path)])
    assert (code, errors) == (0, ""), told


def test_the_registry_of_a_folder_is_a_registry(tmp_path: Path) -> None:
    kept = penstock.Registry.open(tmp_path / "rules")
    assert isinstance(kept, penstock.Registry)
    again = pickle.loads(pickle.dumps(kept))
    kept.add("a", "//a")
    assert [one.name for one in again] == ["a"]


def test_the_registry_of_a_folder_has_methods_of_its_own(tmp_path: Path) -> None:
    """What a registry in memory keeps is not there."""
    kept = type(penstock.Registry.open(tmp_path / "rules"))
    inherited = {"open", "__module__", "__doc__", "__abstractmethods__", "_is_protocol"}
    memory = {
        name for name in vars(penstock.Registry) if callable(getattr(penstock.Registry, name))
    }
    private = {"_entry", "_keep", "_drop", "_restore", "_change", "_forget_snapshot"}
    missing = memory - {*vars(kept)} - inherited - private - {"_read_between"}
    assert {name for name in missing if not name.startswith("__")} == set()


def test_what_is_of_one_process_says_so() -> None:
    registry = penstock.Registry()
    for thing, way_out in (
        (registry, r"Registry\.open\(path\)"),
        (penstock.Engine(registry), r"penstock\.Engine\(registry\)"),
    ):
        for act in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=f"is of one process .*{way_out}"):
                act(thing)


def test_the_package_lists_its_public_names() -> None:
    shown = {name for name in dir(penstock) if not name.startswith("__")}
    assert shown == {*penstock.__all__}
    assert "__version__" in dir(penstock)
