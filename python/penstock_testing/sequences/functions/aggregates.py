"""Functions that sum up sequences."""

from __future__ import annotations

from penstock_testing.sequences.arithmetic import calculate
from penstock_testing.sequences.casting import cast
from penstock_testing.sequences.comparing import compare_values, is_nan
from penstock_testing.sequences.context import Context
from penstock_testing.sequences.errors import DynamicError
from penstock_testing.sequences.functions.strings import check_collation
from penstock_testing.sequences.functions.table import function
from penstock_testing.sequences.items import Atom, Items, atomize, integer, is_numeric, primitive

_DURATIONS = ("dayTimeDuration", "yearMonthDuration")


@function("count", "item*")
def _count(_context: Context, items: Items) -> Items:
    return [integer(len(items))]


def _numbers_if_untyped(items: Items) -> list[Atom]:
    return [cast(one, "double") if one.type == "untypedAtomic" else one for one in atomize(items)]


def _check_addable(atoms: list[Atom], name: str) -> None:
    is_number = all(is_numeric(atom) for atom in atoms)
    if not is_number and not any(all(a.type == kind for a in atoms) for kind in _DURATIONS):
        raise DynamicError("FORG0006", f"{name} takes numbers, or durations of one kind")


def _added(atoms: list[Atom]) -> Atom:
    total = atoms[0]
    for atom in atoms[1:]:
        total = calculate("+", total, atom)
    return total


@function("sum", "anyAtomicType*", "anyAtomicType?", least=1)
def _sum(_context: Context, items: Items, *zero: Items) -> Items:
    atoms = _numbers_if_untyped(items)
    if not atoms:
        return zero[0] if zero else [integer(0)]
    _check_addable(atoms, "sum")
    return [_added(atoms)]


@function("avg", "anyAtomicType*")
def _avg(_context: Context, items: Items) -> Items:
    atoms = _numbers_if_untyped(items)
    if not atoms:
        return []
    _check_addable(atoms, "avg")
    return [calculate("div", _added(atoms), integer(len(atoms)))]


def _extreme(name: str, sign: str) -> None:
    @function(name, "anyAtomicType*", "string", least=1)
    def _find(_context: Context, items: Items, *collation: Items) -> Items:
        for one in collation:
            check_collation(one)
        atoms = _one_type(_numbers_if_untyped(items), name)
        best: Atom | None = None
        for atom in atoms:
            if is_nan(atom):
                return [atom]
            if best is None or compare_values(sign, atom, best):
                best = atom
        return [] if best is None else [best]


def _one_type(atoms: list[Atom], name: str) -> list[Atom]:
    """Return numbers in the largest of their types; all other values have to be of one."""
    kinds = {primitive(atom.type) for atom in atoms}
    if atoms and all(is_numeric(atom) for atom in atoms):
        for kind in ("double", "float"):
            if kind in kinds:
                return [cast(atom, kind) for atom in atoms]
        return atoms
    if kinds <= {"string", "anyURI"} and len(kinds) == 2:
        return [Atom("string", atom.value) for atom in atoms]
    has_order = not any(atom.type in ("duration", "QName") for atom in atoms)
    is_one_duration = "duration" not in kinds or len({atom.type for atom in atoms}) == 1
    if len(kinds) > 1 or not has_order or not is_one_duration:
        raise DynamicError("FORG0006", f"the values of {name} do not compare")
    return atoms


_extreme("min", "lt")
_extreme("max", "gt")
