"""Plan files: one format, mapped in place, and no damaged byte is taken for a sound one."""

import struct
from array import array
from pathlib import Path

import pytest

from penstock.errors import DamageError
from penstock.kernel import Session
from penstock.registry.plans.files import (
    PlanFile,
    pack_plan,
    read_plan,
    remove_plans,
    write_plan,
)
from penstock.registry.plans.names import FlatNames
from penstock.registry.plans.tiers import PlannedSubscription, build_tier
from penstock.registry.subscriptions import compile_subscription

NAMES = ("a", "é", "", "\ud800", "b" * 100)
SERIALS = (3, 4, 7, 8, 2**40)


def content(serials: tuple[int, ...] = SERIALS) -> PlanFile:
    programs = [compile_subscription("s", f"//x{number}").program for number in range(len(NAMES))]
    tier = build_tier(map(PlannedSubscription, SERIALS, SERIALS, NAMES, programs))
    return PlanFile(array("Q", serials), tier.names, tier.plan)


@pytest.mark.parametrize("serials", [(), SERIALS])
def test_a_plan_comes_back_with_names_and_serials(tmp_path: Path, serials: tuple[int, ...]) -> None:
    write_plan(tmp_path / "p.plan", content(serials))
    read = read_plan(tmp_path / "p.plan")
    assert tuple(read.serials) == serials
    assert read.names == NAMES
    session = Session(read.plan)
    document = b"<x3/>"
    session.read([(document, None, "default")])
    assert [read.names[row[0]] for row in session.take().rows()[0]] == ["\ud800"]


def test_an_empty_plan_comes_back(tmp_path: Path) -> None:
    tier = build_tier([])
    write_plan(tmp_path / "p.plan", PlanFile((), FlatNames.of(()), tier.plan))
    assert read_plan(tmp_path / "p.plan").names == ()


def test_no_changed_byte_goes_unnoticed(tmp_path: Path) -> None:
    path = tmp_path / "p.plan"
    write_plan(path, content())
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 8]) + whole[place + 1 :])
        with pytest.raises(DamageError) as caught:
            read_plan(path)
        assert caught.value.code == "PR0034"


@pytest.mark.parametrize("kept", [0, 10, 47, -1])
def test_a_file_that_is_cut_off_is_noticed(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "p.plan"
    write_plan(path, content())
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DamageError, match="cut off"):
        read_plan(path)


def test_a_file_of_another_format_or_under_another_name_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "p.plan"
    write_plan(path, content())
    path.rename(tmp_path / "q.plan")
    with pytest.raises(DamageError, match="damaged"):
        read_plan(tmp_path / "q.plan")
    assert read_plan(tmp_path / "q.plan", "p.plan").names == NAMES
    whole = (tmp_path / "q.plan").read_bytes()
    path.write_bytes(whole[:8] + struct.pack("=I", 2) + whole[12:])
    with pytest.raises(DamageError, match="not a plan of this version"):
        read_plan(path)


def test_a_plan_without_a_name_is_named_by_its_content(tmp_path: Path) -> None:
    packed, other = pack_plan(content()), pack_plan(content(()))
    assert packed.name == pack_plan(content()).name != other.name
    (tmp_path / packed.name).write_bytes(b"".join(packed.parts))
    assert read_plan(tmp_path / packed.name).names == NAMES


def test_removal_spares_what_is_kept_and_what_is_fresh(tmp_path: Path) -> None:
    for name in ("kept.plan", "old.plan", "old.base", ".half.tmp", "other.txt"):
        (tmp_path / name).write_bytes(b"x")
    remove_plans(tmp_path, ["kept.plan"])
    assert len(list(tmp_path.iterdir())) == 5
    remove_plans(tmp_path, ["kept.plan"], fresh_seconds=-1.0)
    assert {path.name for path in tmp_path.iterdir()} == {"kept.plan", ".half.tmp", "other.txt"}
