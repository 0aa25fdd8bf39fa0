"""The Django application of the wiring: system checks and the shipped groups."""

from django.apps import AppConfig, apps
from django.contrib import admin
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class AgentplatformConfig(AppConfig):
    name = "agentplatform"
    verbose_name = "Agent Platform"

    def ready(self) -> None:
        from agentplatform import checks, roles

        admin.site.site_header = admin.site.site_title = "Agent Platform"
        admin.site.index_title = _("Definitions and records")
        checks.register_all()
        # Signals come only from applications with models; by this one's turn all permissions exist.
        post_migrate.connect(roles.create_groups, sender=apps.get_app_config("transactions"), dispatch_uid="roles")
