"""What binds variables: FLWOR, quantifiers, type switches."""

from __future__ import annotations

from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.functions import CODEPOINTS
from penstock.languages.xquery.lowering.calls import CallLowering
from penstock.languages.xquery.rejections import rejection
from penstock.twigs import sequences as q


class ClauseLowering(CallLowering):
    """Adds what binds variables to the lowering."""

    def flwor(self, flwor: y.Flwor) -> q.Item:
        """Return a FLWOR expression; a variable is known behind its own clause."""
        with self.block():
            clauses = tuple(self._clause(clause) for clause in flwor.clauses)
            return q.Flwor(clauses, self.lower(flwor.result))

    def _clause(self, clause: y.Clause) -> q.Clause:
        match clause:
            case y.For():
                return self._for(clause)
            case y.Let():
                source = self.lower(clause.source)
                kind = self.optional_type(clause.type)
                return q.Let(self.bind(clause.variable), source, kind)
            case y.Where():
                return q.Where(self.lower(clause.test))
            case y.OrderBy():
                return q.OrderBy(tuple(self._key(key) for key in clause.keys))

    def _for(self, clause: y.For) -> q.For:
        source = self.lower(clause.source)
        kind = self.optional_type(clause.type)
        if clause.position is not None and self.key_of(clause.position) == self.key_of(
            clause.variable
        ):
            message = f"`${clause.variable.text}` is both the item and its position"
            way_out = "give the position another name"
            raise self.error("PQ0505", message, clause.position.span, way_out, "XQST0089")
        variable = self.bind(clause.variable)
        position = None if clause.position is None else self.bind(clause.position)
        return q.For(variable, source, position, kind)

    def _key(self, key: y.OrderKey) -> q.OrderKey:
        if key.collation not in (None, CODEPOINTS):
            raise rejection("collation", key.span, self.text)
        is_greatest = self.is_empty_greatest if key.empty is None else key.empty == "greatest"
        return q.OrderKey(self.lower(key.key), key.is_descending, is_greatest)

    def quantified(self, quantified: y.Quantified) -> q.Item:
        """Return a quantified expression."""
        with self.block():
            bindings = tuple(self._for(binding) for binding in quantified.bindings)
            return q.Quantified(quantified.quantifier, bindings, self.lower(quantified.test))

    def type_switch(self, switch: y.TypeSwitch) -> q.Item:
        """Return a type switch."""
        operand = self.lower(switch.operand)
        return q.TypeSwitch(operand, tuple(self._case(case) for case in switch.cases))

    def _case(self, case: y.Case) -> q.Case:
        with self.block():
            kind = self.optional_type(case.type)
            variable = None if case.variable is None else self.bind(case.variable)
            return q.Case(kind, variable, self.lower(case.result))
