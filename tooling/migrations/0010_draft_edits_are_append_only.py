"""Let the database itself refuse that a record of the draft's changes is changed.

SQLite gets no trigger for DELETE: it has no TRUNCATE, so that emptying a test database deletes row by row there.
"""

from django.db import migrations

TABLES = ("tooling_draftedit", "tooling_draftchange")
POSTGRESQL = """
CREATE FUNCTION tooling_draft_edits_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what was changed in the draft stays on record' USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""
POSTGRESQL_TABLE = """
CREATE TRIGGER {table}_is_append_only BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION tooling_draft_edits_are_append_only();
"""
SQLITE_TABLE = """
CREATE TRIGGER {table}_is_append_only BEFORE UPDATE ON {table}
BEGIN SELECT RAISE(ABORT, 'what was changed in the draft stays on record'); END;
"""


def run(schema_editor, statements):
    with schema_editor.connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def forwards(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        run(schema_editor, [POSTGRESQL, *(POSTGRESQL_TABLE.format(table=table) for table in TABLES)])
    elif schema_editor.connection.vendor == "sqlite":
        run(schema_editor, [SQLITE_TABLE.format(table=table) for table in TABLES])


def backwards(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        run(schema_editor, [f"DROP TRIGGER {table}_is_append_only ON {table};" for table in TABLES])
        run(schema_editor, ["DROP FUNCTION tooling_draft_edits_are_append_only();"])
    elif schema_editor.connection.vendor == "sqlite":
        run(schema_editor, [f"DROP TRIGGER {table}_is_append_only;" for table in TABLES])


class Migration(migrations.Migration):
    dependencies = [("tooling", "0009_who_changed_the_draft")]
    operations = [migrations.RunPython(forwards, backwards)]
