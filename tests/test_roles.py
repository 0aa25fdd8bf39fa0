"""The shipped groups: who may see and change what."""

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command

pytestmark = pytest.mark.django_db


def permissions_of(group):
    found = Group.objects.get(name=group).permissions.values_list("content_type__app_label", "codename")
    return {f"{label}.{codename}" for label, codename in found}


def test_operators_read_and_operate_transactions_and_change_no_definition():
    held = permissions_of("operator")

    assert {"transactions.operate", "transactions.view_transaction", "transactions.view_item"} <= held
    assert not {name for name in held if name.startswith("tooling.") or "change_" in name or "add_" in name}
    assert "transactions.view_apikey" not in held


def test_business_admins_hold_every_permission_on_definitions():
    every = Permission.objects.filter(content_type__app_label="tooling").values_list("codename", flat=True)

    held = permissions_of("business admin")

    assert {f"tooling.{codename}" for codename in every} <= held
    assert "transactions.operate" in held


def test_migrating_again_keeps_what_an_administrator_added():
    extra = Permission.objects.get(content_type__app_label="auth", codename="view_user")
    Group.objects.get(name="operator").permissions.add(extra)

    call_command("migrate", verbosity=0)

    assert "auth.view_user" in permissions_of("operator")
    assert "transactions.operate" in permissions_of("operator")
