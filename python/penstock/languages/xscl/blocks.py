"""Blocks become twigs: steps as in XPath, bound steps and the predicates that bind as branches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from penstock.languages.xpath.expressions import ExpressionLowering
from penstock.languages.xpath.syntax import Expression, Logical, Path, Span, Step
from penstock.languages.xscl.syntax import BlockSyntax, Name
from penstock.twigs import TRUE, Axis, Block, Branch, TwigNode
from penstock.twigs.nodetests import ANY_NODE, DOCUMENT_NODE
from penstock.twigs.subforms import Recognition
from penstock.twigs.subforms.chains import Chain, ChainStep, Mark
from penstock.twigs.subforms.reach import DOCUMENT, Kinds


@dataclass(slots=True)
class Blocks:
    """Lowers the blocks of one query, and knows their variables afterwards."""

    lowering: ExpressionLowering
    bindings: Mapping[Span, Name]
    recognition: Recognition
    block_of: dict[str, int] = field(default_factory=dict)
    """The number of the block that binds a variable."""
    kinds_of: dict[str, Kinds] = field(default_factory=dict)
    """The kinds of nodes that a variable can have."""
    roots: list[str] = field(default_factory=list)
    """The variable at the end of each block's path."""
    _spans: list[Span] = field(default_factory=list)

    def lower(self, blocks: tuple[BlockSyntax, ...]) -> tuple[Block, ...]:
        """Return the blocks.

        Raises:
            QueryError: A variable is bound twice, or where there may be no node for it, or a part
                of a path is not evaluated.
        """
        self._spans = sorted(self.bindings)
        self._claim_names(blocks)
        return tuple(self._block(number, block) for number, block in enumerate(blocks))

    def _claim_names(self, blocks: tuple[BlockSyntax, ...]) -> None:
        """Give every variable its block."""
        for number, block in enumerate(blocks):
            names = [self.bindings[span] for span in self._spans_in(block.span)]
            for name in [block.document, *names] if block.document else names:
                if name.text in self.block_of:
                    message = f"`{name.text}` is bound twice"
                    way_out = "give every node a name of its own"
                    raise self.lowering.error("PQ0402", message, name.span, way_out)
                self.block_of[name.text] = number

    def _block(self, number: int, block: BlockSyntax) -> Block:
        document = None if block.document is None else block.document.text
        branches: tuple[Branch, ...] = ()
        # The name of a node without one is the number of its block, which nobody can write.
        root = str(number)
        if block.path is not None and block.path.steps:
            bound = self.bindings.get(block.path.steps[-1].span)
            root = root if bound is None else bound.text
            branches = (Branch(self._twig(block.path.steps, DOCUMENT, root)),)
        else:
            root = document = document or root
        self.block_of[root] = number
        if document is not None:
            self.kinds_of[document] = DOCUMENT
        self.roots.append(root)
        twig = TwigNode(Axis.SELF, DOCUMENT_NODE, variable=document, branches=branches)
        return Block((twig,), block.stream.text)

    def _twig(self, steps: tuple[Step, ...], kinds: Kinds, end: str | None = None) -> TwigNode:
        """Return a path as a twig; its last node is bound to ``end`` if it has no name itself."""
        chain = Chain(False, (), kinds)
        marks: list[Mark] = []
        for step in steps:
            name = self.bindings.get(step.span)
            variable = (end if step is steps[-1] else None) if name is None else name.text
            plain, binding = self._split(step.predicates)
            longer = self.extended(chain, replace(step, predicates=plain))
            if longer is chain and (variable is not None or binding):
                here = ChainStep(Axis.SELF, ANY_NODE, TRUE, chain.kinds)
                longer = chain.then(here, chain.kinds)
            if longer is not chain:
                branches = tuple(self._branch(path, longer.kinds) for path in binding)
                marks.append((variable, branches))
            if variable is not None:
                self.kinds_of[variable] = longer.kinds
            chain = longer
        node = chain.twig(marks)
        assert node is not None, "a path that binds has a step"
        return node

    def extended(self, chain: Chain, step: Step) -> Chain:
        """Return a chain with one more step."""
        return self.recognition.extended(chain, self.lowering.step(step))

    def _branch(self, path: Expression, kinds: Kinds) -> Branch:
        """Return the branch of a predicate that binds variables."""
        if not isinstance(path, Path) or path.start is not None:
            (span, *_) = self._spans_in(path.span)
            message = "a variable is bound here where there may be no node for it"
            way_out = "bind it in a predicate that is a path: [.//author[. = 'x']->a]"
            raise self.lowering.error("PQ0404", message, span, way_out)
        if path.absolute:
            message = "a path that binds a variable begins at its node"
            way_out = "write .// for what is below the node"
            raise self.lowering.error("PQ0404", message, path.span, way_out)
        return Branch(self._twig(path.steps, kinds))

    def _split(
        self, predicates: tuple[Expression, ...]
    ) -> tuple[tuple[Expression, ...], list[Expression]]:
        """Return the predicates that bind nothing, and the parts of others that bind something."""
        plain: list[Expression] = []
        binding: list[Expression] = []
        for predicate in predicates:
            for part in _conjuncts(predicate):
                (binding if any(self._spans_in(part.span)) else plain).append(part)
        return tuple(plain), binding

    def _spans_in(self, span: Span) -> Iterator[Span]:
        """Yield the spans of bound steps inside a span, outermost first."""
        for inner in self._spans:
            if span[0] <= inner[0] and inner[1] <= span[1]:
                yield inner


def _conjuncts(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Logical) and expression.operator == "and":
        for part in expression.parts:
            yield from _conjuncts(part)
    else:
        yield expression
