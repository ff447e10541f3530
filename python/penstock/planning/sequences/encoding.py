"""The bytes of expressions over sequences: tables of small numbers, as in a program.

The tables are strings, names, constants, node tests, types, expressions, functions, variables of
the prolog, and entries: the expressions that are evaluated from outside. Each refers to tables
before it, and an expression to expressions before it. Variables are numbers, counted anew in every
function and entry. The reader is ``crates/sequences/src/code``; the two change together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.planning.program import (
    AXES,
    COMPARISONS,
    KINDS,
    constant_bytes,
    many,
    varint,
    varints,
)
from penstock.planning.records.encoding import ByteReader
from penstock.planning.sequences.inlining import inline_variables
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import NodeTest
from penstock.twigs.sequence_parts import all_parts

MAGIC = b"PSQ1"

(
    _CONSTANT,
    _VARIABLE,
    _ITEM,
    _GLOBAL,
    _GATHERED,
    _HERE,
    _ROOT,
    _DOCUMENT,
    _POSITION,
    _LAST,
    _SEQUENCE,
    _RANGE,
    _STEP,
    _FILTER,
    _UNION,
    _COMBINE,
    _EACH,
    _ARITHMETIC,
    _SIGNED,
    _GENERAL_COMPARE,
    _VALUE_COMPARE,
    _NODE_COMPARE,
    _AND,
    _OR,
    _IF,
    _FLWOR,
    _QUANTIFIED,
    _OWN_CALL,
    _CALL,
    _INSTANCE_OF,
    _TREAT_AS,
    _CAST_AS,
    _CASTABLE_AS,
    _TYPE_SWITCH,
    _CHARACTERS,
    _NEW_ELEMENT,
    _NEW_ATTRIBUTE,
    _NEW_TEXT,
    _NEW_COMMENT,
    _NEW_INSTRUCTION,
    _NEW_DOCUMENT,
) = range(41)
_FOR, _LET, _WHERE, _ORDER_BY, _FOR_ON = range(5)
_OF_DOCUMENT, _OF_CONTEXT, _OF_VARIABLE = range(3)

_OPERATORS = {name: code for code, name in enumerate("+ - * div idiv mod".split())}
_VALUE_COMPARISONS = {name: code for code, name in enumerate("eq ne lt le gt ge".split())}
_NODE_COMPARISONS = {"is": 0, "<<": 1, ">>": 2}
_OCCURRENCES = {"": 0, "?": 1, "*": 2, "+": 3, "0": 4}
_ITEM_KINDS = {"item": 0, "node": 1, "atomic": 2}
_UNTYPED = {"error": 0, "false": 1}

Entry = tuple[str | None, Any]
"""The variable that an expression is evaluated for, or None for the document; the expression."""


def encode(query: q.Sequences, entries: Sequence[Entry], documents: Sequence[str]) -> bytes:
    """Return the code of expressions that are evaluated from outside.

    Functions and variables of the prolog are those of the query. ``documents`` are the names of the
    streams that are read, by their numbers in the kernel.
    """
    return _Encoder(query, documents).code(entries)


def strings_of(code: bytes) -> list[str]:
    """Return the strings of some code, each of which is there once."""
    reader = ByteReader(code, len(MAGIC))
    reader.number()
    return reader.many(reader.string)


@dataclass
class _Table:
    """Distinct entries in order of arrival."""

    places: dict[Hashable, int] = field(default_factory=dict)
    entries: list[bytes] = field(default_factory=list)

    def place(self, entry: bytes) -> int:
        found = self.places.setdefault(entry, len(self.entries))
        if found == len(self.entries):
            self.entries.append(entry)
        return found

    def encoded(self) -> bytes:
        return varint(len(self.entries)) + b"".join(self.entries)


@dataclass
class _Frame:
    """The variables of a function or an entry: their slots, and those that hold one item."""

    slots: dict[str, int] = field(default_factory=dict)
    items: set[str] = field(default_factory=set)

    def bind(self, name: str, is_item: bool = False) -> int:
        if is_item:
            self.items.add(name)
        return self.slots.setdefault(name, len(self.slots))

    def bind_all(self, parts: Iterable[Any]) -> None:
        """Give slots to the variables that these parts bind."""
        for part in parts:
            match part:
                case q.For(variable=variable, position=position):
                    self.bind(variable, is_item=True)
                    if position is not None:
                        self.bind(position, is_item=True)
                case q.Let(variable=variable) | q.Case(variable=str() as variable):
                    self.bind(variable)


class _Encoder:
    """Writes the tables. A method that is called after a part returns its number or its bytes."""

    def __init__(self, query: q.Sequences, documents: Sequence[str]) -> None:
        self._query = query
        self._documents = {name: number for number, name in enumerate(documents)}
        self._globals = {variable.name: at for at, variable in enumerate(query.variables)}
        self._strings = _Table()
        self._names = _Table()
        self._constants = _Table()
        self._tests = _Table()
        self._types = _Table()
        self._expressions = _Table()
        self._frame = _Frame()
        # The numbers of the parts of the expression under way, by the identity of their objects.
        self._numbers: dict[int, int] = {}

    def code(self, entries: Sequence[Entry]) -> bytes:
        functions = [self._function(function) for function in self._query.functions]
        variables = [self._global(variable) for variable in self._query.variables]
        encoded = [self._entry(variable, body) for variable, body in entries]
        tables = (
            self._strings,
            self._names,
            self._constants,
            self._tests,
            self._types,
            self._expressions,
        )
        return b"".join(
            [
                MAGIC,
                varint(_UNTYPED[self._query.untyped]),
                *[table.encoded() for table in tables],
                *[_counted(part) for part in (functions, variables, encoded)],
            ]
        )

    def _function(self, function: q.Function) -> bytes:
        self._frame = _Frame()
        parameters = [
            varints(self._frame.bind(parameter.name), self._optional_type(parameter.type))
            for parameter in function.parameters
        ]
        body = self._body(function.body)
        head = varint(self._name(function.name)) + _counted(parameters)
        return head + varints(self._optional_type(function.result), body)

    def _global(self, variable: q.Global) -> bytes:
        self._frame = _Frame()
        body = self._body(variable.value)
        return varints(self._string(variable.name), body, self._optional_type(variable.type))

    def _entry(self, variable: str | None, body: Any) -> bytes:
        self._frame = _Frame()
        head = varint(_OF_DOCUMENT)
        if variable is not None:
            head = varints(_OF_VARIABLE, self._frame.bind(variable))
        return head + varint(self._body(body))

    def _body(self, body: Any) -> int:
        body = inline_variables(body)
        parts = [*all_parts(body)]
        self._frame.bind_all(parts)
        self._numbers = {}
        # Every part comes behind what it is a part of, so this is from the leaves up.
        for part in reversed(parts):
            write = _WRITERS.get(type(part))
            if write is not None:
                self._numbers[id(part)] = self._expressions.place(write(self, part))
        return self._number(body)

    def _number(self, part: Any) -> int:
        return self._numbers[id(part)]

    def _all(self, parts: Iterable[Any]) -> bytes:
        return many([self._number(part) for part in parts])

    def _string(self, text: str) -> int:
        return self._strings.place(constant_bytes(text))

    def _name(self, name: q.Name) -> int:
        parts = (name.local, name.uri, name.prefix)
        return self._names.place(varints(*[self._string(part) for part in parts]))

    def _test(self, test: NodeTest) -> int:
        local = 0 if test.local is None else 1 + self._string(test.local)
        uris = None if test.uris is None else [self._string(uri) for uri in test.uris]
        encoded = b"\0" if uris is None else b"\1" + many(uris)
        return self._tests.place(varints(KINDS[test.kind], local) + encoded)

    def _type(self, kind: q.SequenceType) -> int:
        item = kind.item
        encoded = varints(_OCCURRENCES[kind.occurrence], _ITEM_KINDS[item.kind])
        if item.kind == "node":
            assert item.test is not None
            element = 0 if item.element is None else 1 + self._test(item.element)
            encoded += varints(self._test(item.test), element)
        elif item.kind == "atomic":
            encoded += varint(self._string(item.name))
        return self._types.place(encoded)

    def _optional_type(self, kind: q.SequenceType | None) -> int:
        return 0 if kind is None else 1 + self._type(kind)

    def _optional_slot(self, name: str | None) -> int:
        return 0 if name is None else 1 + self._frame.slots[name]

    def _declarations(self, declared: Iterable[tuple[str, str]]) -> bytes:
        return _counted(
            [varints(self._string(prefix), self._string(uri)) for prefix, uri in declared]
        )

    def _new_name(self, name: Any) -> bytes:
        if isinstance(name, str):
            name = q.Name(name)
        if isinstance(name, q.Name):
            return varints(0, self._name(name))
        return varints(1, self._number(name))

    def variable(self, part: q.Variable) -> bytes:
        slot = self._frame.slots.get(part.name)
        if slot is None:
            return varints(_GLOBAL, self._globals[part.name])
        return varints(_ITEM if part.name in self._frame.items else _VARIABLE, slot)

    def atomic(self, part: q.Atomic) -> bytes:
        constant = varints(self._string(part.type), self._string(part.text))
        return varints(_CONSTANT, self._constants.place(constant))

    def document(self, part: q.Stream) -> bytes:
        return varints(_DOCUMENT, self._documents[part.name])

    def step(self, part: x.Step) -> bytes:
        head = varints(_STEP, self._number(part.base), AXES[part.axis], self._test(part.test))
        return head + self._all(part.predicates)

    def filter(self, part: x.Filter) -> bytes:
        return varints(_FILTER, self._number(part.base)) + self._all(part.predicates)

    def flwor(self, part: q.Flwor) -> bytes:
        clauses = _counted([self._clause(clause) for clause in part.clauses])
        return varint(_FLWOR) + clauses + varint(self._number(part.result))

    def _clause(self, clause: q.Clause) -> bytes:
        match clause:
            case q.For(goes_on=goes_on):
                return varint(_FOR_ON if goes_on else _FOR) + self._for(clause)
            case q.Let(variable=variable, source=source, type=kind):
                slot = self._frame.slots[variable]
                return varints(_LET, slot, self._number(source), self._optional_type(kind))
            case q.Where(test=test):
                return varints(_WHERE, self._number(test))
            case q.OrderBy(keys=keys):
                encoded = [
                    varints(self._number(key.key), key.is_descending, key.is_empty_greatest)
                    for key in keys
                ]
                return varint(_ORDER_BY) + _counted(encoded)

    def _for(self, clause: q.For) -> bytes:
        slot, position = self._frame.slots[clause.variable], self._optional_slot(clause.position)
        kind = self._optional_type(clause.type)
        return varints(slot, self._number(clause.source), position, kind)

    def quantified(self, part: q.Quantified) -> bytes:
        bindings = _counted([self._for(binding) for binding in part.bindings])
        head = varints(_QUANTIFIED, part.quantifier == "every")
        return head + bindings + varint(self._number(part.test))

    def call(self, part: x.Call) -> bytes:
        return varints(_CALL, self._string(part.function)) + self._all(part.arguments)

    def own_call(self, part: q.OwnCall) -> bytes:
        return varints(_OWN_CALL, part.function) + self._all(part.arguments)

    def instance_of(self, part: q.InstanceOf) -> bytes:
        return varints(_INSTANCE_OF, self._number(part.operand), self._type(part.type))

    def treat_as(self, part: q.TreatAs) -> bytes:
        return varints(_TREAT_AS, self._number(part.operand), self._type(part.type))

    def cast(self, part: q.CastAs | q.CastableAs) -> bytes:
        code = _CAST_AS if isinstance(part, q.CastAs) else _CASTABLE_AS
        return varints(code, self._number(part.operand), self._string(part.type), part.is_optional)

    def type_switch(self, part: q.TypeSwitch) -> bytes:
        cases = [
            varints(
                self._optional_type(case.type),
                self._optional_slot(case.variable),
                self._number(case.result),
            )
            for case in part.cases
        ]
        return varints(_TYPE_SWITCH, self._number(part.operand)) + _counted(cases)

    def new_element(self, part: q.NewElement) -> bytes:
        own = dict(part.namespaces)
        declared = {**own, **{prefix: uri for prefix, uri in part.around if prefix not in own}}
        return b"".join(
            [
                varint(_NEW_ELEMENT),
                self._new_name(part.name),
                self._declarations(declared.items()),
                self._all(part.content),
                self._declarations(part.scope),
            ]
        )

    def new_attribute(self, part: q.NewAttribute) -> bytes:
        head = varint(_NEW_ATTRIBUTE) + self._new_name(part.name)
        return head + self._all(part.value) + self._declarations(part.scope)

    def new_instruction(self, part: q.NewInstruction) -> bytes:
        head = varint(_NEW_INSTRUCTION) + self._new_name(part.target)
        return head + varint(self._number(part.value))

    def characters(self, part: q.Characters) -> bytes:
        return varints(_CHARACTERS, self._string(part.text))


def _counted(parts: Sequence[bytes]) -> bytes:
    return varint(len(parts)) + b"".join(parts)


Writer = Callable[[_Encoder, Any], bytes]


def _leaf(code: int) -> Writer:
    return lambda encoder, part: varint(code)


def _numbers(code: int, *names: str) -> Writer:
    """A code and the numbers of parts."""
    return lambda encoder, part: varints(
        code, *[encoder._number(getattr(part, name)) for name in names]
    )


def _list(code: int) -> Writer:
    return lambda encoder, part: varint(code) + encoder._all(part.parts)


def _operator(code: int, operators: dict[str, int]) -> Writer:
    """A code, an operator and two operands."""
    return lambda encoder, part: varints(
        code, operators[part.operator], encoder._number(part.left), encoder._number(part.right)
    )


_WRITERS: dict[type, Writer] = {
    q.Atomic: _Encoder.atomic,
    q.Variable: _Encoder.variable,
    q.Gathered: lambda encoder, part: varints(_GATHERED, part.index),
    x.Here: _leaf(_HERE),
    x.Root: _leaf(_ROOT),
    q.Stream: _Encoder.document,
    x.Position: _leaf(_POSITION),
    x.Last: _leaf(_LAST),
    q.Sequence: _list(_SEQUENCE),
    q.Range: _numbers(_RANGE, "first", "last"),
    x.Step: _Encoder.step,
    x.Filter: _Encoder.filter,
    x.Union: _list(_UNION),
    q.Combine: _operator(_COMBINE, {"intersect": 0, "except": 1}),
    q.Each: _numbers(_EACH, "base", "body"),
    q.Arithmetic: _operator(_ARITHMETIC, _OPERATORS),
    q.Signed: lambda encoder, part: varints(
        _SIGNED, part.operator == "-", encoder._number(part.operand)
    ),
    q.GeneralCompare: _operator(_GENERAL_COMPARE, COMPARISONS),
    q.ValueCompare: _operator(_VALUE_COMPARE, _VALUE_COMPARISONS),
    q.NodeCompare: _operator(_NODE_COMPARE, _NODE_COMPARISONS),
    x.And: _list(_AND),
    x.Or: _list(_OR),
    q.If: _numbers(_IF, "test", "then", "otherwise"),
    q.Flwor: _Encoder.flwor,
    q.Quantified: _Encoder.quantified,
    q.OwnCall: _Encoder.own_call,
    x.Call: _Encoder.call,
    q.InstanceOf: _Encoder.instance_of,
    q.TreatAs: _Encoder.treat_as,
    q.CastAs: _Encoder.cast,
    q.CastableAs: _Encoder.cast,
    q.TypeSwitch: _Encoder.type_switch,
    q.Characters: _Encoder.characters,
    q.NewElement: _Encoder.new_element,
    q.NewAttribute: _Encoder.new_attribute,
    q.NewText: _numbers(_NEW_TEXT, "value"),
    q.NewComment: _numbers(_NEW_COMMENT, "value"),
    q.NewInstruction: _Encoder.new_instruction,
    q.NewDocument: _numbers(_NEW_DOCUMENT, "content"),
}
"""How each kind of expression is written. Clauses, keys and cases are written with their owners."""
