"""Let the database itself refuse a change of a published release.

SQLite gets no trigger for DELETE: it has no TRUNCATE, so that emptying a test database deletes row by row there.
"""

from django.db import migrations

POSTGRESQL = """
CREATE FUNCTION tooling_release_is_immutable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a release never changes; publish a new one' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER tooling_release_is_immutable BEFORE UPDATE OR DELETE ON tooling_release
    FOR EACH ROW EXECUTE FUNCTION tooling_release_is_immutable();
"""
POSTGRESQL_BACK = """
DROP TRIGGER tooling_release_is_immutable ON tooling_release;
DROP FUNCTION tooling_release_is_immutable();
"""
SQLITE = """
CREATE TRIGGER tooling_release_is_immutable BEFORE UPDATE ON tooling_release
BEGIN SELECT RAISE(ABORT, 'a release never changes; publish a new one'); END;
"""
SQLITE_BACK = "DROP TRIGGER tooling_release_is_immutable;"


def run(schema_editor, statements):
    sql = statements.get(schema_editor.connection.vendor)
    if sql:
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(sql)


def forwards(apps, schema_editor):
    run(schema_editor, {"postgresql": POSTGRESQL, "sqlite": SQLITE})


def backwards(apps, schema_editor):
    run(schema_editor, {"postgresql": POSTGRESQL_BACK, "sqlite": SQLITE_BACK})


class Migration(migrations.Migration):
    dependencies = [("tooling", "0001_definitions")]
    operations = [migrations.RunPython(forwards, backwards)]
