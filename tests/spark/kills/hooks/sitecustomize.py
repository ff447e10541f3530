"""Installs the hold points in every Python process of a victim: driver, source, workers.

Python imports a module of this name when it starts, if it is on the path. Only victims have this
folder there.
"""

from tests.spark.kills import holds

holds.install()
