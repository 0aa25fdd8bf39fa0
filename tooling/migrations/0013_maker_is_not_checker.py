"""Let the database itself keep maker and checker apart, and every request as it was made and decided.

A request begins as pending and changes once, by its decision. Nobody approves it whose edits of the draft it holds;
who that is stands in rows that nobody can change either. SQLite gets no trigger for DELETE: it has no TRUNCATE, so
that emptying a test database deletes row by row there.
"""

from django.db import migrations

BORN = "a publish request begins as one that waits"
DECIDED = "a publish request is decided once and its content never changes"
MAKER = "whoever changed the draft cannot approve that it is published"
KEPT = ("content", "hash", "base", "first_edit", "last_edit", "comment", "author", "author_identity", "created_at")
CHANGED = " OR ".join(f"NEW.{column} <> OLD.{column}" for column in KEPT)
IS_MAKER = """EXISTS (
    SELECT 1 FROM tooling_draftedit WHERE identity = NEW.decider_identity
    AND id > NEW.first_edit AND id <= NEW.last_edit
)"""

POSTGRESQL = f"""
CREATE FUNCTION tooling_maker_is_not_checker() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR (TG_OP = 'UPDATE' AND (OLD.status <> 'pending' OR {CHANGED})) THEN
        RAISE EXCEPTION '{DECIDED}' USING ERRCODE = 'integrity_constraint_violation';
    ELSIF TG_OP = 'INSERT' AND NEW.status <> 'pending' THEN
        RAISE EXCEPTION '{BORN}' USING ERRCODE = 'integrity_constraint_violation';
    ELSIF NEW.status = 'approved' AND {IS_MAKER} THEN
        RAISE EXCEPTION '{MAKER}' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER tooling_maker_is_not_checker BEFORE INSERT OR UPDATE OR DELETE ON tooling_publishrequest
    FOR EACH ROW EXECUTE FUNCTION tooling_maker_is_not_checker();
"""
POSTGRESQL_BACK = """
DROP TRIGGER tooling_maker_is_not_checker ON tooling_publishrequest;
DROP FUNCTION tooling_maker_is_not_checker();
"""
SQLITE = {
    "tooling_request_begins_pending": f"""BEFORE INSERT ON tooling_publishrequest WHEN NEW.status <> 'pending'
BEGIN SELECT RAISE(ABORT, '{BORN}'); END;""",
    "tooling_request_is_decided_once": f"""BEFORE UPDATE ON tooling_publishrequest
WHEN OLD.status <> 'pending' OR {CHANGED}
BEGIN SELECT RAISE(ABORT, '{DECIDED}'); END;""",
    "tooling_maker_is_not_checker": f"""BEFORE UPDATE ON tooling_publishrequest
WHEN NEW.status = 'approved' AND {IS_MAKER}
BEGIN SELECT RAISE(ABORT, '{MAKER}'); END;""",
}


def run(schema_editor, statements):
    with schema_editor.connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def forwards(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        run(schema_editor, [POSTGRESQL])
    elif schema_editor.connection.vendor == "sqlite":
        run(schema_editor, [f"CREATE TRIGGER {name} {body}" for name, body in SQLITE.items()])


def backwards(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        run(schema_editor, [POSTGRESQL_BACK])
    elif schema_editor.connection.vendor == "sqlite":
        run(schema_editor, [f"DROP TRIGGER {name};" for name in SQLITE])


class Migration(migrations.Migration):
    dependencies = [("tooling", "0012_publish_requests")]
    operations = [migrations.RunPython(forwards, backwards)]
