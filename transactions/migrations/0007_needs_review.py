"""The operators' queue is found without reading every transaction."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("transactions", "0006_evidence_is_append_only")]
    operations = [
        migrations.AddIndex(
            "transaction",
            models.Index(fields=["created_at"], condition=models.Q(review_state="needed"), name="needs_review"),
        ),
    ]
