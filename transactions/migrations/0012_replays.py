"""Replays of definitions over what really happened."""

import uuid

from django.db import migrations, models

import transactions.clock


class Migration(migrations.Migration):
    dependencies = [("transactions", "0011_validator_runs_are_kept")]
    operations = [
        migrations.CreateModel(
            name="ReplayRun",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("created_at", models.DateTimeField(default=transactions.clock.database_now, editable=False)),
                ("author", models.CharField(max_length=200)),
                ("last", models.PositiveIntegerField()),
                ("tool", models.CharField(blank=True, max_length=200)),
                ("release", models.PositiveIntegerField(default=0)),
                ("base", models.PositiveIntegerField(default=0)),
                ("hash", models.CharField(db_index=True, max_length=64)),
                ("content", models.TextField()),
                ("chosen", models.JSONField(default=list)),
                ("lines", models.JSONField(default=list)),
                ("lease", models.UUIDField(null=True)),
                ("leased_until", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={"verbose_name": "replay", "verbose_name_plural": "replays", "ordering": ["-created_at"]},
        ),
        migrations.AddIndex(
            "replayrun",
            models.Index(condition=models.Q(("finished_at", None)), fields=["created_at"], name="replays_at_work"),
        ),
    ]
