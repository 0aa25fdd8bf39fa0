"""Every edit of the draft says who made it and through what, and keeps each thing that it changed."""

import django.db.models.deletion
from django.db import migrations, models


def say_through_what(apps, schema_editor):
    """Until now only imports were recorded: those of the command by its name, all others of programs and users."""
    edits = apps.get_model("tooling", "DraftEdit").objects
    edits.filter(by="manage.py").update(via="command")
    edits.exclude(by="manage.py").update(via="api")


class Migration(migrations.Migration):
    dependencies = [("tooling", "0008_safe_to_simulate")]
    operations = [
        migrations.AddField(
            model_name="draftedit",
            name="identity",
            field=models.CharField(blank=True, default="", max_length=60),
        ),
        migrations.AddField(
            model_name="draftedit",
            name="via",
            field=models.CharField(default="", max_length=20),
            preserve_default=False,
        ),
        migrations.RunPython(say_through_what, migrations.RunPython.noop),
        migrations.CreateModel(
            name="DraftChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("section", models.CharField(max_length=20)),
                ("name", models.CharField(blank=True, default="", max_length=200)),
                ("path", models.JSONField()),
                ("kind", models.CharField(max_length=10)),
                ("old", models.JSONField(null=True)),
                ("new", models.JSONField(null=True)),
                (
                    "edit",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="changes", to="tooling.draftedit"
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [models.Index(fields=["section", "name", "id"], name="tooling_changes_of_an_object")],
            },
        ),
    ]
