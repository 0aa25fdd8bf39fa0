"""Simulations that are saved and played again by every publishing."""

import transactions.clock
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('transactions', '0012_replays'),
    ]

    operations = [
        migrations.CreateModel(
            name='SimulationCase',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True, verbose_name='name')),
                ('scene', models.JSONField(default=dict)),
                ('readings', models.JSONField(default=list)),
                ('answers', models.JSONField(default=list)),
                ('expected', models.JSONField(default=dict)),
                ('revision', models.PositiveIntegerField(default=0)),
                ('last_result', models.CharField(blank=True, choices=[('', 'never run'), ('as_expected', 'as expected'), ('differs', 'differs'), ('needs_reading', 'needs the model again')], default='', max_length=20)),
                ('last_run_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.CharField(max_length=150)),
                ('changed_by', models.CharField(max_length=150)),
                ('created_at', models.DateTimeField(default=transactions.clock.database_now, editable=False)),
                ('changed_at', models.DateTimeField(default=transactions.clock.database_now, editable=False)),
            ],
            options={
                'verbose_name': 'saved simulation',
                'verbose_name_plural': 'saved simulations',
                'ordering': ['name'],
            },
        ),
    ]
