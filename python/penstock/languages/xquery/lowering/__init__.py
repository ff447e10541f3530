"""From the syntax tree to expressions over sequences: names resolved, static rules checked.

As in ``parsing``, each class adds a part to the one before it.
"""

from penstock.languages.xquery.lowering.prolog import ModuleLowering

__all__ = ["ModuleLowering"]
