"""What each node of a workflow did is kept beside the attempt."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("transactions", "0004_expiry_warning")]
    operations = [
        migrations.AddField("attempt", "steps", models.JSONField(default=list)),
    ]
