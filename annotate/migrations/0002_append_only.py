"""The database refuses to change or delete a judgment."""

from django.db import migrations

from annotate import append_only


class Migration(migrations.Migration):
    dependencies = [("annotate", "0001_initial")]

    operations = [
        migrations.RunPython(
            lambda apps, schema_editor: append_only.install(schema_editor.connection),
            lambda apps, schema_editor: append_only.remove(schema_editor.connection),
        )
    ]
