"""What was found when live MCP servers were compared with the published definitions."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tooling', '0004_workflows_run'),
    ]

    operations = [
        migrations.CreateModel(
            name='ServerState',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('server', models.CharField(max_length=100, unique=True, verbose_name='MCP server')),
                ('checked_at', models.DateTimeField(null=True, verbose_name='checked at')),
                ('listed_at', models.DateTimeField(null=True, verbose_name='last answer at')),
                ('failure', models.TextField(blank=True, default='', verbose_name='failure')),
                ('baseline', models.JSONField(default=dict)),
                ('fingerprint', models.CharField(blank=True, default='', max_length=64)),
                ('findings', models.JSONField(default=list, verbose_name='differences')),
                ('differs_since', models.DateTimeField(null=True, verbose_name='differs since')),
            ],
            options={
                'verbose_name': 'state of an MCP server',
                'verbose_name_plural': 'states of MCP servers',
                'default_permissions': (),
            },
        ),
    ]
