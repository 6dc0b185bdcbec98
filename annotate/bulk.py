"""Parts of statements that write many rows at once, for where objects would be too slow."""

from typing import Any

from django.db import connection, models


def table(model: type[models.Model]) -> str:
    return quoted(model._meta.db_table)


def quoted(name: str) -> str:
    return connection.ops.quote_name(name)


def defaults(model: type[models.Model], given: set[str]) -> dict[str, str]:
    """Literals for the columns that must have a value and get none of the caller."""
    found: dict[str, str] = {}
    for field in model._meta.concrete_fields:
        left_out = field.primary_key or field.null or field.has_db_default()
        if field.column and not left_out and field.column not in given:
            found[field.column] = _literal(field.get_default())
    return found


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return str(value)
    return "'" + str(value).replace("'", "''").replace("%", "%%") + "'"
