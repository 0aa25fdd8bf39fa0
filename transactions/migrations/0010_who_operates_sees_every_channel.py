"""Whoever could read the console saw every channel, and still does: groups and users get the new permission."""

from django.conf import settings
from django.db import migrations


def keep_seeing(apps, schema_editor):
    permissions = apps.get_model("auth", "Permission").objects.using(schema_editor.connection.alias)
    old = permissions.filter(content_type__app_label="transactions", codename="operate").first()
    if old is None:
        return  # a new installation: nobody could read anything yet
    name = "Can see the transactions of every channel"
    new, _ = permissions.get_or_create(
        content_type=old.content_type, codename="see_every_channel", defaults={"name": name}
    )
    for group in old.group_set.all():
        group.permissions.add(new)
    for user in old.user_set.all():
        user.user_permissions.add(new)


class Migration(migrations.Migration):
    dependencies = [
        ("transactions", "0009_channel_access"),
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [migrations.RunPython(keep_seeing, migrations.RunPython.noop)]
