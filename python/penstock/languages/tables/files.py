"""Tables in files: YAML or JSON with a record, columns, and how to read them."""

from __future__ import annotations

import json
from pathlib import Path

from penstock.errors import SettingError
from penstock.languages.tables.frontend import table
from penstock.twigs import Query

_FIELDS = {"record", "columns", "namespaces", "variables", "on_error"}


def read_definition(name: str) -> Query:
    """Return the table of a file.

    Raises:
        QueryError: The table is not valid.
        SettingError: The file is no YAML, or has other fields.
        OSError: The file cannot be read.
    """
    text = Path(name).read_text("utf-8")
    try:
        written = json.loads(text)
    except ValueError:
        import yaml

        try:
            written = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise SettingError("PC0001", f"{name} is no YAML: {error}") from None
    if not isinstance(written, dict) or not {"record", "columns"} <= written.keys() <= _FIELDS:
        fields = ", ".join(sorted(_FIELDS))
        message = f"{name} is no table: it has `record` and `columns`, and may have {fields}"
        raise SettingError("PC0003", message)
    return table(**written)
