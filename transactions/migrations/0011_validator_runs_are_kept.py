"""What every run of a validator came to is kept, so that a conversation can be played again."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("transactions", "0010_who_operates_sees_every_channel")]
    operations = [migrations.AddField("transaction", "validations", models.JSONField(default=list))]
