"""The user is warned once before a transaction expires."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("transactions", "0003_verifying")]
    operations = [
        migrations.AddField("transaction", "warned_at", models.DateTimeField(null=True)),
    ]
