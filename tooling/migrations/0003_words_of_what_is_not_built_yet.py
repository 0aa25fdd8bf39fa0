"""What the forms say about fields whose behaviour is not built yet; no column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tooling', '0002_release_is_immutable'),
    ]

    operations = [
        migrations.AlterField(
            model_name='parametermapping',
            name='extract',
            field=models.JSONField(blank=True, default=list, help_text='As in mcp_parameter_mapping.yaml: one argument with strategy, pattern or description each. Only the strategy llm is run today; regex and hybrid are stored and checked, and the argument stays empty.', verbose_name='read from the message'),
        ),
        migrations.AlterField(
            model_name='policy',
            name='execution_mode',
            field=models.CharField(choices=[('direct_tool', 'call the tool'), ('workflow', 'run a workflow – not executed yet')], default='direct_tool', help_text='Workflows are stored and checked, but not executed yet: a request for such a tool is answered as not available yet.', max_length=20, verbose_name='execution'),
        ),
        migrations.AlterField(
            model_name='policy',
            name='idempotency',
            field=models.CharField(choices=[('none', 'none – the server does not recognise a repeated key'), ('key', 'key – the server runs one key once; resending comes later')], default='none', help_text='Stored; automatic reconciliation and resending come later. Today an operator sees the unknown outcome, with either choice. Choose key only if the server really runs one key once: otherwise the operation can happen twice as soon as resending is built.', max_length=10, verbose_name='idempotency'),
        ),
        migrations.AlterField(
            model_name='policy',
            name='on_intent_shift',
            field=models.CharField(choices=[('abandon', 'abandon – the request is dropped'), ('park', 'park – works like abandon until parking is built')], default='abandon', help_text='Abandon: the open request ends, nothing is executed. Park: until parking is built, works like abandon.', max_length=10, verbose_name='when the customer asks for something else'),
        ),
        migrations.AlterField(
            model_name='policy',
            name='reconcile_tool',
            field=models.CharField(blank=True, default='', help_text='Stored; automatic reconciliation comes later. Today an operator sees the unknown outcome. It is the tool that will be asked what really happened; internal or read only.', max_length=100, verbose_name='reconcile tool'),
        ),
        migrations.AlterField(
            model_name='policy',
            name='workflow',
            field=models.CharField(blank=True, default='', help_text='Only with the execution by workflow, which is not built yet.', max_length=100, verbose_name='workflow'),
        ),
        migrations.AlterField(
            model_name='tool',
            name='cache_enabled',
            field=models.BooleanField(default=False, help_text='Not built yet: the choice is stored and checked, but every call goes to the server. Later it will be honoured for read-only tools.', verbose_name='cache answers'),
        ),
        migrations.AlterField(
            model_name='tool',
            name='cache_ttl_seconds',
            field=models.PositiveIntegerField(default=0, help_text='Stored for later; answers are not kept yet.', verbose_name='cache time in seconds'),
        ),
    ]
