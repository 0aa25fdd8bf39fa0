"""Who changed the draft from outside the admin, and when."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tooling', '0006_words_of_what_is_built_now'),
    ]

    operations = [
        migrations.CreateModel(
            name='DraftEdit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('by', models.CharField(max_length=150)),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'default_permissions': (),
            },
        ),
    ]
