"""What a query is, when its results are decided, and what is held until then."""

from __future__ import annotations

from penstock.planning.expression_verdicts import expression_verdict
from penstock.planning.normalise import normalise
from penstock.planning.templates.explaining import explain_join
from penstock.planning.twig_verdicts import twig_verdict
from penstock.planning.verdicts import Verdict
from penstock.planning.words import COSTS
from penstock.twigs import Event, Message, Query, Selection
from penstock.twigs.printing import print_query
from penstock.twigs.sequences import Sequences


def verdict(query: Query) -> Verdict:
    """Return when results are decided, what is held, and whether a stream may be endless.

    Raises:
        QueryError: The query is nested too deeply.
        TypeError: The query constructs messages or joins documents.
    """
    if isinstance(query.output, Sequences):
        raise TypeError("there are verdicts on paths and values only")
    return _verdict(normalise(query))


def explain(query: Query) -> str:
    """Return the query as written and in normal form, and the verdict on it in words.

    Raises:
        QueryError: The query is nested too deeply.
    """
    sections = [
        ("query", query.text.splitlines()),
        ("representation", print_query(query).splitlines()),
    ]
    if isinstance(query.output, Sequences):
        return _titled(sections)
    normal = normalise(query)
    sections.append(("normal form", print_query(normal).splitlines()))
    if not isinstance(normal.output, Message | Event):
        said = _verdict(normal)
        sections += [
            ("decided", list(said.when)),
            ("held", list(said.held)),
            ("memory", [said.memory]),
            ("cost", [COSTS[said.cost]]),
            ("endless streams", [said.endless]),
        ]
    elif isinstance(normal.output, Event):
        sections += explain_join(query)
    return _titled(sections)


def _titled(sections: list[tuple[str, list[str]]]) -> str:
    """Return sections as text, those without lines left out."""
    parts = []
    for title, lines in sections:
        if lines:
            parts.append("\n".join([title, *("  " + line for line in lines)]))
    return "\n\n".join(parts) + "\n"


def _verdict(normal: Query) -> Verdict:
    if isinstance(normal.output, Selection):
        return expression_verdict(normal.output)
    if isinstance(normal.output, Message | Event):
        raise TypeError("there are verdicts on paths and values only")
    return twig_verdict(normal)
