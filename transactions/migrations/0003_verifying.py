"""Unknown outcomes are asked about, by a reconcile tool or a resend with the same key."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("transactions", "0002_evidence_chain")]
    operations = [
        migrations.AddField("attempt", "is_resend", models.BooleanField(default=False)),
        migrations.AddField("transaction", "verify_tries", models.PositiveSmallIntegerField(default=0)),
        migrations.AddField("transaction", "verify_due_at", models.DateTimeField(null=True)),
        migrations.AddField("transaction", "verify_until", models.DateTimeField(null=True)),
        migrations.AddIndex(
            "transaction",
            models.Index(fields=["verify_due_at"], condition=~Q(verify_due_at=None), name="due_to_verify"),
        ),
    ]
