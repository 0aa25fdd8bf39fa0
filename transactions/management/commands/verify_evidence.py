"""``manage.py verify_evidence``: whether every row of evidence is as it was written.

Covered: every event (its content, place and number); of attempts the request, the raw answer and a workflow's steps;
of confirmations the text, items, digest, status and answered_by; of turns the text and client_message_id; of
transactions the status, multi_item_status, reason_code, reason, review_state, release, tool, parent, arguments and what
the record shows of pre_validation; of items the label, status, protocol and the reason as it was shown.

Not covered: what begins before the chain, and fingerprints before the release that writes them; an item's evidence,
verdict_source, rule and fields (the raw answer that they were read from is), rows that nobody confirmed, what an item
that is still unknown was given by an answer nobody was told of; times, leases, counters and an attempt's normalised
answer. Where a chain does not hold, the rows that change are not compared with it. Whoever rewrites a whole chain is
found only by what was kept elsewhere, such as a signed bundle.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from transactions.core.evidence import Finding
from transactions.models import Conversation
from transactions.services.evidence import Tally, verify


class Command(BaseCommand):
    help = "Checks the chain of evidence of every conversation; names each row that is wrong. Exit status 1 if one is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--conversation", type=UUID, metavar="ID", help="check this one alone")

    def handle(self, *, conversation: UUID | None, **options: Any) -> None:
        if conversation is not None and not Conversation.objects.filter(pk=conversation).exists():
            raise CommandError(f"there is no conversation {conversation}")
        tally, wrong = Tally(), 0
        for name, finding in verify(tally, conversation):
            self.stdout.write(line_of(name, finding))
            wrong += 1
        self.stdout.write(summary_of(tally))
        if wrong:
            raise CommandError(f"{wrong} {'row is' if wrong == 1 else 'rows are'} not as written")


def line_of(conversation: str, finding: Finding) -> str:
    """conversation, number in its chain, kind of the event, what is wrong."""
    number = "-" if finding.number is None else str(finding.number)
    return f"{conversation} event {number} {finding.kind or '-'}: {finding.wrong}: {finding.detail}"


def summary_of(tally: Tally) -> str:
    return f"{tally.events} events of {tally.conversations} conversations read, {tally.older} older than the chain"
