"""An attack on the machine's stack: deep documents, deep queries, deep calls in small threads.

What a thread has of the stack must not matter: it gets the rows, or the errors, that a thread with
much of it gets.
"""

from penstock_testing.adversary.stacks.attack import attack

__all__ = ["attack"]
