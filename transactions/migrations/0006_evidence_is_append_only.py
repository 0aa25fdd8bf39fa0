"""Let the database itself refuse a change of evidence: events, requests, raw answers, and what was asked to confirm.

SQLite gets no triggers for DELETE: it has no TRUNCATE, so that emptying a test database deletes row by row there. A
later migration that makes Django build one of these tables anew on SQLite has to create its trigger again.
"""

from django.db import migrations

SEALED = {
    "transactions_attempt": {
        "request": "OLD.request <> '{}'",
        "raw_answer": "OLD.raw_answer IS NOT NULL",
    },
    "transactions_confirmation": {"text": "", "items": "", "digest": ""},
}
"""table → column → from when on it never changes; always, where nothing is said."""


def message(table):
    return f"{table} is evidence: it is written once and never changed"


def condition(table, differs):
    parts = [
        f"(NEW.{column} {differs} OLD.{column}" + (f" AND {since})" if since else ")")
        for column, since in SEALED[table].items()
    ]
    return " OR ".join(parts)


def postgresql():
    yield """
        CREATE FUNCTION transactions_evidence_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION '% is evidence: it is written once and never changed', TG_TABLE_NAME
                USING ERRCODE = 'integrity_constraint_violation';
        END $$;
    """
    yield trigger("transactions_event", "UPDATE OR DELETE")
    for table in SEALED:
        yield trigger(table, "UPDATE", condition(table, "IS DISTINCT FROM"))
        yield trigger(table, "DELETE")


def trigger(table, verb, when=""):
    name = f"{table}_refuses_{verb.lower().replace(' or ', '_and_')}"
    return f"""
        CREATE TRIGGER {name} BEFORE {verb} ON {table} FOR EACH ROW {f"WHEN ({when})" if when else ""}
        EXECUTE FUNCTION transactions_evidence_is_append_only();
    """


def postgresql_back():
    yield "DROP FUNCTION transactions_evidence_is_append_only() CASCADE;"


def sqlite():
    for table in ("transactions_event", *SEALED):
        when = f"WHEN {condition(table, 'IS NOT')}" if table in SEALED else ""
        yield f"""
            CREATE TRIGGER {table}_refuses_update BEFORE UPDATE ON {table} {when}
            BEGIN SELECT RAISE(ABORT, '{message(table)}'); END;
        """


def sqlite_back():
    for table in ("transactions_event", *SEALED):
        yield f"DROP TRIGGER {table}_refuses_update;"


def run(schema_editor, statements):
    with schema_editor.connection.cursor() as cursor:
        for statement in statements.get(schema_editor.connection.vendor, tuple)():
            cursor.execute(statement)


def forwards(apps, schema_editor):
    run(schema_editor, {"postgresql": postgresql, "sqlite": sqlite})


def backwards(apps, schema_editor):
    run(schema_editor, {"postgresql": postgresql_back, "sqlite": sqlite_back})


class Migration(migrations.Migration):
    dependencies = [("transactions", "0005_workflow_steps")]
    operations = [migrations.RunPython(forwards, backwards)]
