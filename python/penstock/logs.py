"""The loggers of the package, all below ``penstock``: silent unless a program wants to hear them.

============================ ======= ==============================================
logger                       level   what
============================ ======= ==============================================
``penstock.engine``          INFO    a document failed
``penstock.engine``          WARNING a subscription was suspended
``penstock.engine``          INFO    a subscription was resumed
``penstock.registry``        DEBUG   a registry was opened or changed
``penstock.registry``        INFO    subscriptions were loaded from a file
``penstock.spark``           WARNING the file of a pipeline's metrics could not be written
============================ ======= ==============================================
"""

from __future__ import annotations

import logging

logging.getLogger("penstock").addHandler(logging.NullHandler())

engine = logging.getLogger("penstock.engine")
registry = logging.getLogger("penstock.registry")
spark = logging.getLogger("penstock.spark")
