"""A release says by identity who made and who approved it, what it went back to, and which edits are in it.

SQLite makes the table anew for this and forgets its trigger, so that it is made again, in both directions.
"""

from importlib import import_module

from django.db import migrations, models

immutable = import_module("tooling.migrations.0002_release_is_immutable")


def guard_again(apps, schema_editor):
    immutable.run(schema_editor, {"sqlite": "DROP TRIGGER IF EXISTS tooling_release_is_immutable;"})
    immutable.run(schema_editor, {"sqlite": immutable.SQLITE})


class Migration(migrations.Migration):
    dependencies = [("tooling", "0010_draft_edits_are_append_only")]
    operations = [
        migrations.RunPython(migrations.RunPython.noop, guard_again),
        migrations.AddField(
            model_name="release",
            name="approver",
            field=models.CharField(blank=True, default="", max_length=150, verbose_name="approver"),
        ),
        migrations.AddField(
            model_name="release",
            name="approver_identity",
            field=models.CharField(blank=True, default="", editable=False, max_length=60),
        ),
        migrations.AddField(
            model_name="release",
            name="author_identity",
            field=models.CharField(blank=True, default="", editable=False, max_length=60),
        ),
        migrations.AddField(
            model_name="release",
            name="last_edit",
            field=models.PositiveBigIntegerField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="release",
            name="rolled_back_to",
            field=models.PositiveIntegerField(blank=True, null=True, verbose_name="rolled back to"),
        ),
        migrations.AddConstraint(
            model_name="release",
            constraint=models.CheckConstraint(
                condition=models.Q(approver_identity="") | ~models.Q(approver_identity=models.F("author_identity")),
                name="tooling_release_approver_is_not_author",
            ),
        ),
        migrations.RunPython(guard_again, migrations.RunPython.noop),
    ]
