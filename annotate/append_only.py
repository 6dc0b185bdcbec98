"""Judgments never change: the database itself refuses, whoever asks."""

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = "annotate_judgment"
REFUSAL = "Judgments are append-only."

SQLITE = {
    f"{TABLE}_no_{event}": (
        f"CREATE TRIGGER IF NOT EXISTS {TABLE}_no_{event} BEFORE {event.upper()} ON {TABLE} "
        f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    )
    for event in ("update", "delete")
}
POSTGRES_FUNCTION = (
    f"CREATE OR REPLACE FUNCTION {TABLE}_refuse() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$"
)
POSTGRES_TRIGGER = (
    f"CREATE OR REPLACE TRIGGER {TABLE}_append_only BEFORE UPDATE OR DELETE ON {TABLE} "
    f"FOR EACH ROW EXECUTE FUNCTION {TABLE}_refuse()"
)


def install(connection: BaseDatabaseWrapper) -> None:
    """Make the database refuse to change or delete a judgment."""
    sqlite = connection.vendor == "sqlite"
    statements = list(SQLITE.values()) if sqlite else [POSTGRES_FUNCTION, POSTGRES_TRIGGER]
    _execute(connection, statements)


def remove(connection: BaseDatabaseWrapper) -> None:
    """Undo :func:`install`: for taking the migration back, and for emptying test databases."""
    sqlite = connection.vendor == "sqlite"
    _execute(
        connection,
        [f"DROP TRIGGER IF EXISTS {name}" for name in SQLITE]
        if sqlite
        else [f"DROP TRIGGER IF EXISTS {TABLE}_append_only ON {TABLE}"],
    )


def _execute(connection: BaseDatabaseWrapper, statements: list[str]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
