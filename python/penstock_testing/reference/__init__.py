"""The reference evaluator: queries over trees in memory, by the definitions and nothing else."""

from penstock_testing.reference.evaluation import aggregate, beside, evaluate
from penstock_testing.reference.expressions import Scope, holds
from penstock_testing.reference.joins import Arrival, Joined, events, join
from penstock_testing.reference.messages import messages
from penstock_testing.reference.streams import Outcome, run
from penstock_testing.reference.values import Atomic

__all__ = [
    "Arrival",
    "Atomic",
    "Joined",
    "Outcome",
    "Scope",
    "aggregate",
    "beside",
    "evaluate",
    "events",
    "holds",
    "join",
    "messages",
    "run",
]
