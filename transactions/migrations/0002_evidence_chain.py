"""Every event is bound to the one before it in its conversation."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("transactions", "0001_runtime")]
    operations = [
        migrations.AddField("conversation", "chain_length", models.PositiveIntegerField(default=0)),
        migrations.AddField("conversation", "chain_head", models.CharField(blank=True, max_length=64)),
        migrations.AddField("event", "number", models.PositiveIntegerField(null=True)),
        migrations.AddField("event", "hash", models.CharField(blank=True, max_length=64)),
        migrations.AddConstraint(
            "event", models.UniqueConstraint(fields=("conversation", "number"), name="one_event_per_number")
        ),
    ]
