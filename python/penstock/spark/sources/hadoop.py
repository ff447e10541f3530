"""What Hadoop's configuration says of object stores and HDFS, for readers that are no Java."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.sinks.base import java_of
from penstock.sources.stores import LOCAL, Stores
from penstock.sources.stores.hdfs import USER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECRETS = ("fs.s3a.access.key", "fs.s3a.secret.key", "fs.s3a.session.token")
"""Hadoop keeps these in its configuration, or in a store of credentials."""
_PLAIN = (
    *("fs.s3a.endpoint", "fs.s3a.endpoint.region", "fs.s3a.path.style.access"),
    *("fs.s3a.connection.ssl.enabled", "fs.s3a.aws.credentials.provider"),
    *("fs.s3a.assumed.role.arn", "fs.defaultFS", "hadoop.security.authentication"),
    *("dfs.http.policy", "dfs.namenode.http-address", "dfs.namenode.https-address"),
)
_PREFIXES = (
    *("fs.s3a.bucket.", "fs.azure.account.key.", "dfs.ha.namenodes."),
    *("dfs.namenode.http-address.", "dfs.namenode.https-address."),
)


def stores_of(spark: SparkSession) -> Stores:
    """Return how a session's driver reaches stores; a session without a driver knows nothing."""
    jvm = java_of(spark)
    if jvm is None:
        return LOCAL
    hadoop = spark._jsparkSession.sessionState().newHadoopConf()
    found: dict[str, str | None] = {name: hadoop.get(name) for name in _PLAIN}
    for name in _SECRETS:
        found[name] = _password(hadoop, name)
    for prefix in _PREFIXES:
        for name, value in dict(hadoop.getPropsWithPrefix(prefix)).items():
            found[prefix + name] = str(value)
    user = jvm.org.apache.hadoop.security.UserGroupInformation.getCurrentUser()
    found[USER] = user.getShortUserName()
    return Stores({name: value for name, value in found.items() if value})


def _password(hadoop: Any, name: str) -> str | None:
    characters = hadoop.getPassword(name)
    return None if characters is None else "".join(characters)
