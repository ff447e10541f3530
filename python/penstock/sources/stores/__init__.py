"""Files that lie in an object store or in HDFS, read as those on a disk are.

``Stores`` opens the files of any path; what it knows of stores comes from Hadoop's configuration.
"""

from penstock.sources.stores.base import Opened, Opener, Store, StoreError
from penstock.sources.stores.choosing import LOCAL, Stores, has_store

__all__ = ["LOCAL", "Opened", "Opener", "Store", "StoreError", "Stores", "has_store"]
