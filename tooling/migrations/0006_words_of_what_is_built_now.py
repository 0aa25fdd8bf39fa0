"""The forms say what parking, reconciling and resending do; no column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tooling', '0005_server_states'),
    ]

    operations = [
        migrations.AlterField(
            model_name='policy',
            name='idempotency',
            field=models.CharField(choices=[('none', 'none – the server does not recognise a repeated key'), ('key', 'key – the server runs one key once')], default='none', help_text='Key: a call that got no answer, and that no reconcile tool can explain, is sent again under the same key. Choose it only if the server really runs one key once: otherwise the operation can happen twice. None: it is never sent again, and an operator decides.', max_length=10, verbose_name='idempotency'),
        ),
        migrations.AlterField(
            model_name='policy',
            name='on_intent_shift',
            field=models.CharField(choices=[('abandon', 'abandon – the request is dropped'), ('park', 'park – it is set aside and offered again')], default='abandon', help_text='Abandon: the open request ends, nothing is executed. Park: what waits for its confirmation is set aside, offered again, checked and confirmed afresh.', max_length=10, verbose_name='when the customer asks for something else'),
        ),
        migrations.AlterField(
            model_name='policy',
            name='reconcile_tool',
            field=models.CharField(blank=True, default='', help_text='Asked what really happened when a call got no answer, five times within a quarter of an hour; then an operator decides. Internal or read only.', max_length=100, verbose_name='reconcile tool'),
        ),
    ]
