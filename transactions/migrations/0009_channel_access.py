"""Operators and programs can be bound to channels."""

from django.conf import settings
from django.db import migrations, models

PERMISSIONS = [
    ("operate", "Can read the operator console"),
    ("see_every_channel", "Can see the transactions of every channel"),
]
HELP = "Who sees its transactions without being allowed to see those of every channel."


class Migration(migrations.Migration):
    dependencies = [
        ("transactions", "0008_time_of_the_database"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.AlterModelOptions(
            "transaction",
            {"permissions": PERMISSIONS, "verbose_name": "transaction", "verbose_name_plural": "transactions"},
        ),
        migrations.AddField(
            "apikey", "channels", models.ManyToManyField(blank=True, related_name="keys", to="transactions.channel")
        ),
        migrations.AddField("apikey", "every_channel", models.BooleanField(default=True)),
        migrations.AddField(
            "channel",
            "operators",
            models.ManyToManyField(
                blank=True,
                help_text=HELP,
                related_name="channels",
                to=settings.AUTH_USER_MODEL,
                verbose_name="operators of this channel",
            ),
        ),
    ]
