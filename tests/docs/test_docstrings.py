"""Docstrings are true: their examples run, and the public functions have some."""

import doctest
import importlib

import pytest

import penstock

MODULES = [
    "penstock",
    "penstock.engine.engine",
    "penstock.engine.evaluation",
    "penstock.joins.joiner",
    "penstock.languages.xpath.frontend",
    "penstock.languages.xscl.frontend",
    "penstock.limits",
    "penstock.planning.explain",
    "penstock.registry.changeable",
    "penstock.registry.memory",
    "penstock.results.documents",
    "penstock.results.lists",
    "penstock.results.rows",
]
WITH_EXAMPLES = [
    *(penstock.Document, penstock.Engine, penstock.Heartbeat, penstock.Limits, penstock.Registry),
    *(penstock.Result, penstock.Results, penstock.evaluate, penstock.explain, penstock.verdict),
    *(penstock.xpath, penstock.xscl, penstock.Engine.arun, penstock.Engine.open),
    *(penstock.Registry.add, penstock.Registry.open),
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_run(module: str) -> None:
    done = doctest.testmod(importlib.import_module(module), raise_on_error=False)
    assert done.attempted > 0, "no examples"
    assert done.failed == 0


@pytest.mark.parametrize("thing", WITH_EXAMPLES, ids=lambda thing: thing.__qualname__)
def test_public_functions_have_examples(thing: object) -> None:
    assert ">>>" in (thing.__doc__ or "")
