"""What can be known after each event: three-valued truth on every prefix of a document.

An element exists from its start tag on, with its attributes; any other node from its own event
on. The string value of an element or of the document is unknown until it ends. Truth is ``True``,
``False`` or ``None``, and a value that is unknown is ``None``; both only ever get more definite.
From this follow the earliest event at which a result can be decided, and which candidates must
still be held after an event because they may become results.
"""

from penstock_testing.kleene.lifetimes import Lifetimes
from penstock_testing.kleene.steps import Step, earliest, known_at, needed, steps, steps_at

__all__ = ["Lifetimes", "Step", "earliest", "known_at", "needed", "steps", "steps_at"]
