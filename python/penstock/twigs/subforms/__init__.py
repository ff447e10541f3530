"""Which expressions are twigs: ``as_twigs`` and ``as_condition`` recognise the sub-form.

A twig looks forward and asks its nodes for conditions. Positions, counts, other axes and sets that
are compared with each other have no twig.
"""

from penstock.twigs.subforms.recognition import RESULT, Recognition, as_condition, as_twigs

__all__ = ["RESULT", "Recognition", "as_condition", "as_twigs"]
