"""What a live server listed is kept, so that drafts are compared with it without asking again."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tooling", "0014_grades_of_tools")]

    operations = [
        migrations.AddField(
            model_name="serverstate",
            name="listing",
            field=models.JSONField(default=dict),
        ),
    ]
