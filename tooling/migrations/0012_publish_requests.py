"""Requests that a second person publishes a draft; whoever made it cannot be who approves it."""

from django.db import migrations, models

STATUSES = [("pending", "waiting"), ("approved", "approved"), ("rejected", "rejected"), ("withdrawn", "withdrawn")]


class Migration(migrations.Migration):
    dependencies = [("tooling", "0011_releases_say_who")]
    operations = [
        migrations.CreateModel(
            name="PublishRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "content",
                    models.TextField(
                        help_text="Canonical JSON; kept as text, so that its hash can be checked byte by byte.",
                        verbose_name="content",
                    ),
                ),
                (
                    "hash",
                    models.CharField(help_text="SHA-256 of the content, in hex.", max_length=64, verbose_name="hash"),
                ),
                ("base", models.PositiveIntegerField(verbose_name="newest release then")),
                ("first_edit", models.PositiveBigIntegerField(editable=False)),
                ("last_edit", models.PositiveBigIntegerField(editable=False)),
                ("comment", models.TextField(verbose_name="comment")),
                ("author", models.CharField(max_length=150, verbose_name="author")),
                ("author_identity", models.CharField(editable=False, max_length=60)),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="requested at")),
                (
                    "status",
                    models.CharField(choices=STATUSES, default="pending", max_length=10, verbose_name="status"),
                ),
                ("decider", models.CharField(blank=True, default="", max_length=150, verbose_name="decided by")),
                ("decider_identity", models.CharField(blank=True, default="", editable=False, max_length=60)),
                ("decided_at", models.DateTimeField(blank=True, null=True, verbose_name="decided at")),
                ("reason", models.TextField(blank=True, default="", verbose_name="reason")),
                ("release", models.PositiveIntegerField(blank=True, null=True, verbose_name="release")),
            ],
            options={
                "verbose_name": "publish request",
                "verbose_name_plural": "publish requests",
                "ordering": ["-pk"],
                "default_permissions": ("view",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(status__in=[status for status, _ in STATUSES]),
                        name="tooling_request_status_is_known",
                    ),
                    models.CheckConstraint(
                        condition=~models.Q(author_identity=""), name="tooling_request_has_an_author"
                    ),
                    models.CheckConstraint(
                        condition=~models.Q(status__in=["approved", "rejected"])
                        | (
                            models.Q(decider_identity__startswith="user:")
                            & ~models.Q(decider_identity=models.F("author_identity"))
                        ),
                        name="tooling_request_checker_is_not_maker",
                    ),
                    models.CheckConstraint(
                        condition=~models.Q(status="withdrawn")
                        | models.Q(decider_identity=models.F("author_identity")),
                        name="tooling_request_withdrawn_by_its_author",
                    ),
                    models.CheckConstraint(
                        condition=~models.Q(status="rejected") | ~models.Q(reason=""),
                        name="tooling_request_rejected_with_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(status="approved", release__isnull=False)
                        | (~models.Q(status="approved") & models.Q(release__isnull=True)),
                        name="tooling_request_approved_is_released",
                    ),
                    models.UniqueConstraint(
                        fields=["status"], condition=models.Q(status="pending"), name="tooling_one_request_waits"
                    ),
                ],
            },
        ),
    ]
