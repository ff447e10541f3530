"""Installs the hold points in every Python process of a victim: driver, source, workers.

Python imports a module of this name when it starts, if it is on the path. Only victims have this
folder there.
"""

import sys

from tests.spark.kills import holds

# Workers find the same pyspark beside the driver's, with its modules compiled. A victim lives for
# seconds and would spend some of them compiling what is in the archive.
sys.path[:] = [place for place in sys.path if not place.endswith("pyspark.zip")]
holds.install()
