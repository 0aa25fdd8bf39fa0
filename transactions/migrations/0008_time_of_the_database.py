"""Rows say when they were made by the clock of the database. The columns stay as they are."""

import transactions.clock
from django.db import migrations, models

CREATED_AT = models.DateTimeField(default=transactions.clock.database_now, editable=False)


class Migration(migrations.Migration):
    dependencies = [("transactions", "0007_needs_review")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(model, "created_at", CREATED_AT.clone())
                for model in ("conversation", "turn", "transaction", "confirmation")
            ]
        )
    ]
