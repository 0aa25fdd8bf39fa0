"""Recording that somebody looked at customer data."""

from __future__ import annotations

from transactions.disclosures import Disclosure
from transactions.models import Transaction


def disclose(transaction: Transaction, *, by: str, what: Disclosure.What) -> Disclosure:
    """Keep on record that ``by`` sees the customer data of ``transaction``; call it before anything is shown."""
    return Disclosure.objects.create(transaction=transaction, by=by[:150], what=what)
