"""A smaller case that still does not agree with the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.spark.random_pipelines.cases import PipelineCase, StepCase

TRIES_MAX = 60


def minimise(case: PipelineCase, is_wrong: Callable[[PipelineCase], bool]) -> PipelineCase:
    """Return the case without the runs, sinks, files, sources and queries that do not matter."""
    tries = 0
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for smaller in _smaller(case):
            tries += 1
            if tries > TRIES_MAX:
                return case
            if is_wrong(smaller):
                case, is_smaller = smaller, True
                break
    return case


def _smaller(case: PipelineCase) -> Iterator[PipelineCase]:
    """Yield the cases that lack one thing, the largest things first."""
    for at in range(len(case.steps) - 1, -1, -1):
        if len(case.steps) > 1:
            yield replace(case, steps=_without_step(case, at))
    for at in range(len(case.sinks)):
        if len(case.sinks) > 1:
            yield replace(case, sinks=case.sinks[:at] + case.sinks[at + 1 :])
    for at in range(len(case.sources)):
        if len(case.sources) > 1:
            gone = case.sources[at].folder
            steps = tuple(
                replace(
                    step,
                    changes={key: data for key, data in step.changes.items() if key[0] != gone},
                )
                for step in case.steps
            )
            yield replace(case, sources=case.sources[:at] + case.sources[at + 1 :], steps=steps)
    for key in {key for step in case.steps for key in step.changes}:
        steps = tuple(
            replace(step, changes={one: data for one, data in step.changes.items() if one != key})
            for step in case.steps
        )
        yield replace(case, steps=steps)
    for name in case.queries:
        if len(case.queries) > 1:
            left = {one: query for one, query in case.queries.items() if one != name}
            yield replace(case, queries=left)


def _without_step(case: PipelineCase, at: int) -> tuple[StepCase, ...]:
    """Return the runs without one; its changes go to the next."""
    steps = list(case.steps)
    gone = steps.pop(at)
    if at < len(steps):
        steps[at] = replace(steps[at], changes={**gone.changes, **steps[at].changes})
    return tuple(steps)
