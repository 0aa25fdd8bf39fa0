"""``manage.py evidence_bundle``: the signed evidence of one transaction, and the check of such a file."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from transactions.api.evidence import BrokenRecord, bundle_of
from transactions.core.bundles import Problem, problems_of
from transactions.models import Transaction
from transactions.services import signing


class Command(BaseCommand):
    help = (
        "Prints the signed evidence of a transaction, or checks such a file, for which no database is needed. "
        "Exit status 1 if a part of it does not hold."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("transaction", nargs="?", type=UUID, metavar="TRANSACTION_ID")
        parser.add_argument("--check", type=Path, metavar="FILE", help="check this bundle")
        parser.add_argument(
            "--public-key",
            nargs="?",
            const="",
            metavar="KEY",
            help="with --check: the key that must have signed it; alone: print the key of this installation",
        )

    def handle(self, *, transaction: UUID | None, check: Path | None, public_key: str | None, **options: Any) -> None:
        if check is not None:
            self._check(check, expected_key=public_key or None)
        elif transaction is not None:
            self._print(transaction)
        elif public_key is not None:
            self.stdout.write(signing.public_key())
        else:
            raise CommandError("name a transaction, or --check FILE, or --public-key")

    def _print(self, pk: UUID) -> None:
        transaction = Transaction.objects.filter(pk=pk).first()
        if transaction is None:
            raise CommandError(f"there is no transaction {pk}")
        try:
            bundle = bundle_of(transaction)
        except BrokenRecord as error:
            raise CommandError(f"nothing is signed, for the record of {pk} does not hold: {error.detail}") from error
        self.stdout.write(json.dumps(bundle, indent=1, ensure_ascii=False))

    def _check(self, path: Path, *, expected_key: str | None) -> None:
        bundle = read_bundle(path)
        found = problems_of(bundle)
        if detail := signing.signature_problem(bundle, expected_key=expected_key):
            found.insert(0, Problem("signature", detail))
        for problem in found:
            self.stdout.write(f"{problem.part}: {problem.detail}")
        if found:
            raise CommandError(f"{path} does not hold")
        signer = bundle["signature"]["public_key"]
        known = "" if expected_key else "; whose key that is, --public-key KEY checks"
        self.stdout.write(f"{path} is whole, signed with {signer}{known}")


def read_bundle(path: Path) -> dict[str, Any]:
    try:
        bundle = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CommandError(f"{path} is no readable bundle: {error}") from error
    if not isinstance(bundle, dict):
        raise CommandError(f"{path} is no bundle: it holds no JSON object")
    return bundle
