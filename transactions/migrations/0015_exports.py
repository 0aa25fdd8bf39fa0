"""Exports are on record: who, what, and how far they came."""

import uuid

from django.db import migrations, models

import transactions.clock


class Migration(migrations.Migration):
    dependencies = [("transactions", "0014_customer_data")]
    operations = [
        migrations.CreateModel(
            "ExportRun",
            [
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("by", models.CharField(max_length=150)),
                ("asked", models.TextField(blank=True)),
                ("format", models.CharField(max_length=10)),
                ("per", models.CharField(max_length=15)),
                ("customer_data", models.BooleanField(default=False)),
                ("total", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=transactions.clock.database_now, editable=False)),
                ("finished_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "export",
                "verbose_name_plural": "exports",
                "ordering": ["-created_at"],
                "default_permissions": ("view",),
            },
        ),
    ]
