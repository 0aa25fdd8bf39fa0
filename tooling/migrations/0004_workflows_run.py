"""What the forms say about workflows, which run now; no column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tooling', '0003_words_of_what_is_not_built_yet'),
    ]

    operations = [
        migrations.AlterField(
            model_name='policy',
            name='execution_mode',
            field=models.CharField(choices=[('direct_tool', 'call the tool'), ('workflow', 'run a workflow')], default='direct_tool', help_text='A workflow asks other tools before and after; of the tools that change something it calls only this one, once.', max_length=20, verbose_name='execution'),
        ),
        migrations.AlterField(
            model_name='policy',
            name='workflow',
            field=models.CharField(blank=True, default='', help_text='Only where a workflow is run.', max_length=100, verbose_name='workflow'),
        ),
    ]
