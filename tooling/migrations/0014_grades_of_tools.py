"""The newest contract check of every tool, and which server is being checked."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tooling', '0013_maker_is_not_checker'),
    ]

    operations = [
        migrations.CreateModel(
            name='ContractCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('server', models.CharField(max_length=100, unique=True, verbose_name='MCP server')),
                ('until', models.DateTimeField(null=True)),
            ],
            options={
                'verbose_name': 'running check of a server',
                'verbose_name_plural': 'running checks of servers',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ToolGrade',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tool', models.CharField(max_length=100, unique=True, verbose_name='tool')),
                ('server', models.CharField(max_length=100, verbose_name='MCP server')),
                ('definition', models.CharField(max_length=64)),
                ('grade', models.CharField(choices=[('good', 'good'), ('usable', 'usable'), ('unsafe', 'unsafe'), ('not_checked', 'not checked')], max_length=20, verbose_name='grade')),
                ('report', models.JSONField(default=dict, verbose_name='report')),
                ('checked_at', models.DateTimeField(verbose_name='checked at')),
                ('checked_by', models.CharField(blank=True, default='', max_length=150, verbose_name='checked by')),
            ],
            options={
                'verbose_name': 'grade of a tool',
                'verbose_name_plural': 'grades of tools',
                'ordering': ['tool'],
                'default_permissions': (),
            },
        ),
    ]
