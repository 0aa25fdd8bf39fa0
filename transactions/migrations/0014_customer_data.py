"""Who the customers are is hidden from whoever may not see it, and looks at it are on record."""

import django.db.models.deletion
from django.db import migrations, models

import transactions.clock

PERMISSIONS = [
    ("operate", "Can read the operator console"),
    ("see_every_channel", "Can see the transactions of every channel"),
    ("see_customer_data", "Can see who the customers are"),
]


class Migration(migrations.Migration):
    dependencies = [("transactions", "0013_saved_simulations")]
    operations = [
        migrations.AlterModelOptions(
            "transaction",
            {"permissions": PERMISSIONS, "verbose_name": "transaction", "verbose_name_plural": "transactions"},
        ),
        migrations.AddField("apikey", "sees_customer_data", models.BooleanField(default=True)),
        migrations.CreateModel(
            "Disclosure",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("by", models.CharField(max_length=150)),
                (
                    "what",
                    models.CharField(
                        choices=[("record", "the record"), ("evidence", "the signed evidence")], max_length=10
                    ),
                ),
                ("at", models.DateTimeField(default=transactions.clock.database_now, editable=False)),
                (
                    "transaction",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="disclosures",
                        to="transactions.transaction",
                    ),
                ),
            ],
            options={
                "verbose_name": "look at customer data",
                "verbose_name_plural": "looks at customer data",
                "ordering": ["-pk"],
                "default_permissions": ("view",),
            },
        ),
    ]
