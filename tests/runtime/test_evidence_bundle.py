"""The evidence of one transaction leaves as a signed bundle; every part that was changed afterwards is named."""

from __future__ import annotations

import base64
import copy
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import OutputWrapper
from django.test import Client

from agentplatform.checks import check_evidence_key
from tests.builders import a_whole_story, an_api_key
from tests.runtime.staging import opens
from tests.runtime.test_execution import LABELS, confirmed
from tests.runtime.world import World
from tooling.models import Release
from transactions.api.evidence import bundle_of
from transactions.core.bundles import problems_of
from transactions.core.evidence import fingerprint
from transactions.models import Attempt, Event, Transaction
from transactions.services import signing

pytestmark = [pytest.mark.django_db, pytest.mark.runtime]

SEED = base64.b64encode(bytes(range(32))).decode()


def two_transactions() -> World:
    """Two settled transactions of one conversation."""
    world = confirmed()
    world.work()
    opens(world, "cancelar_vas_avulso", {"subject": ", ".join(LABELS)})
    world.validate()
    world.says("sim")
    world.work()
    return world


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command("evidence_bundle", *arguments, stdout=out)
    return out.getvalue()


def refused(*arguments: str) -> tuple[str, str]:
    """What the command prints before it fails, and why it fails."""
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("evidence_bundle", *arguments, stdout=OutputWrapper(out))
    return out.getvalue(), str(caught.value)


def test_a_bundle_holds_the_transaction_its_release_and_the_chain_of_its_conversation() -> None:
    world = two_transactions()
    first = world.transactions[0]

    bundle = bundle_of(first)

    assert bundle["transaction"]["id"] == str(first.pk)
    assert bundle["transaction"]["attempts"][0]["raw_answer"] == first.attempts.get().raw_answer
    assert bundle["release"] == {"number": 1, "hash": Release.objects.get().hash}
    world.conversation.refresh_from_db()
    chain = bundle["chain"]
    assert (chain["length"], chain["head"]) == (world.conversation.chain_length, world.conversation.chain_head)
    assert problems_of(bundle) == []
    assert signing.signature_problem(bundle, expected_key=signing.public_key()) is None


def test_a_bundle_shows_the_messages_that_led_to_it_and_nothing_of_other_transactions() -> None:
    world = two_transactions()
    first, second = world.transactions

    bundle = bundle_of(first)

    shown = [row["event"] for row in bundle["chain"]["events"] if "event" in row]
    assert {event["transaction"] for event in shown} == {None, str(first.pk)}
    assert "sim" in [event["data"]["text"] for event in shown if event["kind"] == "user.message"]
    assert str(second.pk) not in json.dumps(bundle)
    assert len(bundle["chain"]["events"]) == Event.objects.count()


def test_the_command_prints_a_bundle_that_it_finds_whole_without_the_rows(tmp_path: Path) -> None:
    world = two_transactions()
    path = tmp_path / "bundle.json"
    path.write_text(said(str(world.transaction.pk)), "utf-8")
    key = said("--public-key").strip()
    Transaction.objects.update(status="FAILED")

    assert said("--check", str(path)).startswith(f"{path} is whole, signed with {key}; whose key")
    assert said("--check", str(path), "--public-key", key) == f"{path} is whole, signed with {key}\n"


def change(*path: str | int, to: Any) -> Callable[[Any], None]:
    def apply(bundle: Any) -> None:
        for step in path[:-1]:
            bundle = bundle[step]
        bundle[path[-1]] = to

    return apply


def first_own_event(bundle: Any, kind: str) -> Any:
    return next(row["event"] for row in bundle["chain"]["events"] if row.get("event", {}).get("kind") == kind)


CHANGES: dict[str, tuple[Callable[[Any], None], set[str]]] = {
    "a raw answer": (change("transaction", "attempts", 0, "raw_answer", to={"ok": True}), {"attempts"}),
    "a request": (change("transaction", "attempts", 0, "request", "arguments", to={}), {"attempts"}),
    "an attempt is gone": (change("transaction", "attempts", to=[]), {"attempts"}),
    "a confirmation's text": (change("transaction", "confirmations", 0, "text", to="?"), {"confirmations"}),
    "a confirmation's digest": (change("transaction", "confirmations", 0, "digest", to="?"), {"confirmations"}),
    "the status": (change("transaction", "status", to="FAILED"), {"status"}),
    "an event of the transaction": (change("transaction", "events", 1, "data", to={}), {"events"}),
    "the message": (lambda bundle: first_own_event(bundle, "user.message")["data"].update(text="não"), {"chain"}),
    "an event of another transaction": (change("chain", "events", -1, "content", to="0" * 64), {"chain"}),
    "an event is gone": (lambda bundle: bundle["chain"]["events"].pop(3), {"chain"}),
    "the newest event is gone": (lambda bundle: bundle["chain"]["events"].pop(), {"chain"}),
    "an item": (change("transaction", "items", 0, "status", to="FAILED"), {"items"}),
    "an item's protocol": (change("transaction", "items", 0, "protocol", to="FAKE"), {"items"}),
    "an item's reason": (change("transaction", "items", 0, "reason", to="?"), {"items"}),
    "an item is gone": (change("transaction", "items", to=[]), {"items"}),
    "the answer to a confirmation": (
        change("transaction", "confirmations", 0, "status", to="rejected"),
        {"confirmations"},
    ),
    "who answered": (change("transaction", "confirmations", 0, "answered_by", to="button"), {"confirmations"}),
    "an argument": (change("transaction", "arguments", 0, "value", to="?"), {"arguments"}),
    "the validator's answer": (change("transaction", "pre_validation", "answer", to={}), {"pre_validation"}),
    "why it ended so": (change("transaction", "reason_code", to="tool_failed"), {"reason_code"}),
    "the review": (change("transaction", "review_state", to="resolved"), {"review_state"}),
    "the tool": (change("transaction", "tool", to="other"), {"tool"}),
    "the release": (change("release", "hash", to="0" * 64), set()),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_part_that_was_changed_is_named(name: str, tmp_path: Path) -> None:
    bundle = bundle_of(two_transactions().transactions[0])
    before = copy.deepcopy(bundle)
    apply, parts = CHANGES[name]
    apply(bundle)
    assert bundle != before
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps(bundle))

    told, why = refused("--check", str(path))

    found = {line.partition(":")[0] for line in told.splitlines()}
    assert found >= parts | {"signature"}
    assert "signature: the bundle was changed after it was signed" in told
    assert why == f"{path} does not hold"


def test_a_change_that_was_signed_anew_is_found_by_the_expected_key(settings: Any, tmp_path: Path) -> None:
    bundle = bundle_of(two_transactions().transaction)
    key = signing.public_key()
    settings.EVIDENCE_KEY = SEED
    bundle["transaction"]["attempts"][0]["secondary_error"] = "?"
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps(signing.signed(bundle)))

    told, _ = refused("--check", str(path), "--public-key", key)

    assert told == f"signature: it was signed with another key, {signing.public_key()}\n"
    assert "is whole" in said("--check", str(path))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no readable bundle"),
        ("[]", "holds no JSON object"),
        ("{}", "does not hold"),
        ('{"format": "agentplatform.evidence/1", "chain": 3, "signature": {}}', "does not hold"),
        ('{"format": "agentplatform.evidence/1", "chain": ' + "[" * 700 + "]" * 700 + "}", "does not hold"),
        ('{"signature": {"algorithm": "Ed25519", "public_key": "!", "value": "é"}}', "does not hold"),
    ],
)
def test_what_is_no_bundle_is_refused_with_a_reason(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_text(text, "utf-8")

    assert why in refused("--check", str(path))[1]


def test_a_missing_file_an_unknown_transaction_and_nothing_at_all_are_told(tmp_path: Path) -> None:
    assert "no readable bundle" in refused("--check", str(tmp_path / "none.json"))[1]
    assert "there is no transaction" in refused("12345678-1234-1234-1234-123456789012")[1]
    assert "name a transaction" in refused()[1]


def test_a_transaction_that_is_older_than_the_chain_is_vouched_for_by_the_signature() -> None:
    bundle = bundle_of(a_whole_story())

    assert (bundle["chain"]["length"], bundle["chain"]["events"]) == (0, [])
    assert bundle["chain"]["older"] == Event.objects.count()
    assert problems_of(bundle) == []
    assert signing.signature_problem(bundle) is None


# The key ------------------------------------------


def test_the_key_is_the_setting_or_derived_from_the_secret_key(settings: Any) -> None:
    derived = signing.public_key()
    settings.SECRET_KEY = "another-secret-" * 4
    other = signing.public_key()
    settings.EVIDENCE_KEY = SEED
    chosen = signing.public_key()
    settings.SECRET_KEY = "a-third-secret-" * 4

    assert len({derived, other, chosen}) == 3
    # The public key of the seed 00 01 … 1f, as RFC 8032's algorithm has it.
    assert chosen == signing.public_key() == "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="


@pytest.mark.parametrize("value", ["short", base64.b64encode(b"x" * 31).decode(), "é" * 44])
def test_a_key_that_signs_nothing_is_found_at_the_start(value: str, settings: Any) -> None:
    assert check_evidence_key() == []
    settings.EVIDENCE_KEY = value

    (error,) = check_evidence_key()

    assert error.id == "agentplatform.E002"
    assert "EVIDENCE_KEY is not the base64 of 32 bytes" in error.msg


# Over HTTP ------------------------------------------


def test_operators_get_the_bundle_over_http_and_nobody_else(client: Client) -> None:
    transaction = two_transactions().transaction
    url = f"/api/v1/transactions/{transaction.pk}/evidence/"

    response = client.get(url, headers=an_api_key())

    assert response.status_code == 200
    assert response["Content-Disposition"] == f'attachment; filename="evidence-{transaction.pk}.json"'
    bundle = json.loads(response.content)
    assert problems_of(bundle) == []
    assert signing.signature_problem(bundle, expected_key=signing.public_key()) is None
    answer = bundle["transaction"]["attempts"][0]["raw_answer"]
    assert fingerprint(answer) == fingerprint(Attempt.objects.get(transaction=transaction).raw_answer)
    assert client.get(url).status_code == 401
    missing = url.replace(str(transaction.pk), "12345678-1234-1234-1234-123456789012")
    assert client.get(missing, headers=an_api_key("another")).status_code == 404
