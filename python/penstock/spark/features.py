"""What versions of Spark have: the only place that knows the number of a version.

A feature is looked for where it is: vendors bring features of later versions into earlier ones.
"""

from __future__ import annotations

from enum import Enum
from importlib import import_module

from penstock.errors import DeploymentError


class Feature(Enum):
    """Something that not every version has: what it is, since when, and where it is found."""

    PYTHON_SOURCES = ("data sources in Python", "4.0", "pyspark.sql.datasource", "DataSource")
    ARTIFACTS = ("artifacts of every session", "4.0", "pyspark.core.files", "SparkFiles")
    ARROW_TABLES = ("Arrow tables as DataFrames", "4.0", "pyspark.sql", "DataFrame.toArrow")
    READ_LIMITS = (
        "bounds of micro-batches for data sources in Python",
        "4.2",
        "pyspark.sql.streaming.datasource",
        "ReadLimit",
    )

    @property
    def what(self) -> str:
        """What it is, in a few words."""
        return self.value[0]

    @property
    def since(self) -> str:
        """The first version of Spark that has it."""
        return self.value[1]

    @property
    def is_there(self) -> bool:
        """Whether the Spark that is installed here has it.

        Raises:
            ImportError: pyspark is not installed.
        """
        import_module("pyspark")
        _, _, home, name = self.value
        try:
            found: object = import_module(home)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError):
            return False
        return True


def require(feature: Feature, user: str, way_out: str) -> None:
    """Return if the Spark that is installed here has a feature.

    Raises:
        DeploymentError: It has not; the message says who needs it, and what to do instead.
        ImportError: pyspark is not installed.
    """
    if not feature.is_there:
        import pyspark

        needs = f"{user} {feature.what}, which Spark has since {feature.since}"
        message = f"{needs}, and this is Spark {pyspark.__version__}; {way_out}"
        raise DeploymentError("PV0001", message)
