"""The Django application of the definitions."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ToolingConfig(AppConfig):
    name = "tooling"
    verbose_name = _("Definitions")
