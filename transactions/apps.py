"""The Django application of the runtime."""

from collections.abc import Iterable, Mapping

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from tooling.findings import Finding
from tooling.neighbours import neighbours
from tooling.specs import Definitions
from transactions.core.phrases import SHIPPED


class TransactionsConfig(AppConfig):
    name = "transactions"
    verbose_name = _("Transactions")

    def ready(self) -> None:
        from transactions import failpoints

        failpoints.check()
        neighbours.rehearse, neighbours.running, neighbours.replayed = _rehearse, _running, _replayed
        neighbours.phrases = lambda: SHIPPED


def _rehearse(definitions: Definitions) -> Iterable[Finding]:
    """Imported when asked for: the whole runtime is behind it."""
    from transactions.rehearsal.publishing import rehearse

    return rehearse(definitions)


def _running() -> Mapping[int, int]:
    from transactions.rehearsal.publishing import running

    return running()


def _replayed(content_hash: str) -> str | None:
    from transactions.replay.words import newest_in_words

    return newest_in_words(content_hash)
