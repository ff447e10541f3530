"""The queries of servers prepared for the headers of one configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock import kernel
from penstock.errors import DocumentError
from penstock.limits import Limits
from penstock.routing.configuration import Configuration
from penstock.routing.costs import Selectivities
from penstock.routing.covering import UNKNOWN, Nodes
from penstock.routing.evaluation import Evaluator
from penstock.routing.queries import Query, of_formula
from penstock.routing.statistics import Shares

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Table:
    """Answers queries from headers of one configuration: the kernel's router, and facts about
    parts of elements, which are parsed for them."""

    def __init__(
        self,
        configuration: Configuration,
        servers: Sequence[Sequence[Query]],
        selectivities: Selectivities,
        shares: Shares,
        limits: Limits | None = None,
    ) -> None:
        self.configuration = configuration
        self.nodes = Nodes(configuration, selectivities, shares)
        self.queries = [[self.nodes.add(query.formula) for query in server] for server in servers]
        self.router = kernel.Router(
            configuration.id,
            len(configuration),
            self.nodes.tests,
            self.nodes.listed,
            self.queries,
        )
        self._facts: dict[int, list[int]] = {}
        for number, fact in enumerate(self.nodes.facts):
            self._facts.setdefault(fact.view, []).append(number)
        self._evaluators = {
            view: Evaluator([self._fact_query(number) for number in numbers], None, limits)
            for view, numbers in self._facts.items()
        }

    def _fact_query(self, number: int) -> Query:
        formula = self.nodes.facts[number].formula
        return of_formula(str(number), str(formula.path), formula, formula.path.bindings)

    def decide(
        self, header: bytes, document: Buffer, *, is_full: bool
    ) -> tuple[str | None, bytes, int]:
        """Return why the header is refused, what it tells of every query, and bytes looked at."""
        refusal, truths, touched = self.router.decide(header, document, is_full=is_full)
        if refusal is not None or UNKNOWN not in truths or not self._facts:
            return refusal, truths, touched
        refusal, facts, parsed = self._find_out(header, document)
        if refusal is not None:
            return refusal, b"", 0
        refusal, truths, touched = self.router.decide(
            header, document, facts=facts, is_full=is_full
        )
        return refusal, truths, touched + (0 if is_full else parsed)

    def _find_out(self, header: bytes, document: Buffer) -> tuple[str | None, bytes, int]:
        """Parse the elements whose parts are asked for; return refusal, facts and bytes parsed."""
        facts = bytearray([UNKNOWN] * len(self.nodes.facts))
        parsed = 0
        for view, numbers in self._facts.items():
            part = kernel.header_part(header, document, view)
            if part is None:
                continue
            refusal, element, declarations = part
            if refusal is not None:
                return refusal, b"", 0
            parsed += len(element)
            alone = kernel.Surroundings(declarations, {}).declare(element)
            try:
                answers, _ = self._evaluators[view].answer(alone, "utf-8")
            except DocumentError:
                continue  # a limit; the whole document may pass it as well, and then says so
            for number, holds in zip(numbers, answers, strict=True):
                facts[number] = int(holds)
        return None, bytes(facts), parsed
