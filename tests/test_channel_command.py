"""Channels and API keys are made from the command line, once, and say what is wrong."""

import pytest
from django.core.management import CommandError, call_command

from transactions.models import ApiKey, Channel

pytestmark = pytest.mark.django_db


def test_a_channel_is_created_as_told():
    call_command(
        "channel",
        "create",
        "shop",
        "--origin=https://Shop.example/",
        "--origin=http://127.0.0.1:8000",
        "--origin=https://shop.example:443",
        "--locale=en",
        "--jwt-secret-env=SHOP_KEY",
        "--anonymous",
        "--allow-no-origin",
    )

    channel = Channel.objects.get()
    assert (channel.key, channel.locale, channel.jwt_secret_env) == ("shop", "en", "SHOP_KEY")
    assert channel.origins == ["https://shop.example", "http://127.0.0.1:8000"]
    assert (channel.anonymous, channel.allow_no_origin) == (True, True)


def test_a_channel_is_closed_unless_told_otherwise():
    call_command("channel", "create", "shop", "--origin=https://shop.example")

    channel = Channel.objects.get()
    assert (channel.locale, channel.anonymous, channel.allow_no_origin) == ("pt-BR", False, False)


@pytest.mark.parametrize(
    "origin",
    ["*", "https://*.example", "null", "shop.example", "https://shop.example/chat", "ftp://shop.example",
     "https://user@shop.example", "https://shop.example?x", "https://shop.example:port", "http://[", ""],
)  # fmt: skip
def test_what_is_no_origin_is_refused(origin):
    with pytest.raises(CommandError, match="is no origin"):
        call_command("channel", "create", "shop", f"--origin={origin}")

    assert not Channel.objects.exists()


def test_an_address_of_six_is_an_origin():
    call_command("channel", "create", "shop", "--origin=http://[::1]:8000")

    assert Channel.objects.get().origins == ["http://[::1]:8000"]


def test_a_key_that_no_address_could_carry_is_refused():
    with pytest.raises(CommandError, match="is no key"):
        call_command("channel", "create", "a shop")


def test_a_channel_is_changed_only_when_that_was_meant():
    call_command("channel", "create", "shop", "--origin=https://shop.example")

    with pytest.raises(CommandError, match="--update"):
        call_command("channel", "create", "shop", "--origin=https://other.example")
    assert Channel.objects.get().origins == ["https://shop.example"]

    call_command("channel", "create", "shop", "--origin=https://other.example", "--update")
    assert Channel.objects.get().origins == ["https://other.example"]


def test_a_new_key_is_the_only_thing_on_standard_output_and_only_its_hash_is_kept(capsys):
    call_command("apikey", "create", "exporter", "--role=operator")

    key = capsys.readouterr().out.removesuffix("\n")
    assert len(key) >= 40
    assert key.isprintable()
    assert " " not in key
    held = ApiKey.objects.get()
    assert (held.name, held.role, held.hash) == ("exporter", "operator", ApiKey.hash_of(key))


def test_a_role_is_one_that_we_know():
    with pytest.raises(CommandError):
        call_command("apikey", "create", "exporter", "--role=admin")


def test_a_name_is_used_once(capsys):
    call_command("apikey", "create", "exporter", "--role=operator")

    with pytest.raises(CommandError, match="exists already"):
        call_command("apikey", "create", "exporter", "--role=publisher")
    assert ApiKey.objects.get().role == "operator"


def test_a_revoked_key_opens_nothing(client, capsys):
    call_command("apikey", "create", "exporter", "--role=operator")
    header = {"authorization": f"Bearer {capsys.readouterr().out.strip()}"}
    assert client.get("/api/v1/transactions/", headers=header).status_code == 200

    call_command("apikey", "revoke", "exporter")

    assert client.get("/api/v1/transactions/", headers=header).status_code == 401
    with pytest.raises(CommandError, match="no working API key"):
        call_command("apikey", "revoke", "exporter")
