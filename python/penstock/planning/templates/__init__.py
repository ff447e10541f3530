"""XSCL queries as rows of templates: what stage 1 delivers and stage 2 evaluates."""

from penstock.planning.templates.compiling import compile_join
from penstock.planning.templates.rows import (
    LEFT,
    RIGHT,
    Alone,
    JoinQuery,
    Place,
    Row,
    Term,
    WitnessTree,
)
from penstock.planning.templates.shapes import TOP, Template
from penstock.planning.templates.variables import LOWER, MATCH, PARTIAL, UPPER, Edge, Variable

__all__ = [
    "LEFT",
    "LOWER",
    "MATCH",
    "PARTIAL",
    "RIGHT",
    "TOP",
    "UPPER",
    "Alone",
    "Edge",
    "JoinQuery",
    "Place",
    "Row",
    "Template",
    "Term",
    "Variable",
    "WitnessTree",
    "compile_join",
]
