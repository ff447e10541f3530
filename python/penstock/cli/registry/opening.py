"""The registry that an action is about."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.registry.durable import DurableRegistry


def add_folder(action: Any) -> None:
    """Add the folder to an action."""
    action.add_argument("folder", metavar="FOLDER", help="the registry")


def existing(options: argparse.Namespace) -> DurableRegistry:
    """Return the registry of the folder.

    Raises:
        FileNotFoundError: There is none.
        RegistryError: It cannot be read.
    """
    from penstock.registry.durable import DurableRegistry

    return DurableRegistry(existing_folder(options))


def existing_folder(options: argparse.Namespace) -> Path:
    """Return the folder.

    Raises:
        FileNotFoundError: It holds no registry.
        RegistryError: It lies in an object store.
    """
    from penstock.registry.storage.folder import folder_of
    from penstock.registry.storage.opening import is_registry

    folder = folder_of(options.folder)
    if not is_registry(folder):
        raise FileNotFoundError(f"there is no registry {folder}")
    return folder
