"""What a replay found, in words for people who are not developers."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from transactions.console import labels
from transactions.models import ReplayRun
from transactions.rehearsal.courses import Difference
from transactions.rehearsal.history import Why
from transactions.rehearsal.replay_runs import Summary, lines_of, newest_of, summary_of
from transactions.rehearsal.replaying import Stand

DIFFERENCES: Mapping[Difference, Promise] = {
    Difference.SKIPS_CONFIRMATION: gettext_lazy("would run without the confirmation that was asked for then"),
    Difference.UNCHECKED: gettext_lazy("would go on without the verdict of the validator"),
    Difference.REFUSED: gettext_lazy("would be refused"),
    Difference.NOT_REFUSED: gettext_lazy("would not be refused any more"),
    Difference.OTHER_TOOL: gettext_lazy("would go to another tool, or to none"),
    Difference.ASKS_MORE: gettext_lazy("would ask one more question"),
    Difference.ASKS_FEWER: gettext_lazy("would ask fewer questions"),
    Difference.MORE_CONFIRMATIONS: gettext_lazy("would ask for one more confirmation"),
    Difference.OTHER_VALUES: gettext_lazy("would send other values"),
    Difference.OTHER_OUTCOME: gettext_lazy("would end in another way"),
    Difference.UNCLEAR: gettext_lazy("cannot be told: the model or a tool would be asked what it was not asked then"),
}
RISKS = frozenset({Difference.SKIPS_CONFIRMATION, Difference.UNCHECKED})

WHYS: Mapping[Why, Promise] = {
    Why.RETRY: gettext_lazy("tried failed items of another one again; no message began it"),
    Why.NO_TEXT: gettext_lazy("no message of the customer began it"),
    Why.NOT_KEPT: gettext_lazy("not everything that a replay needs was kept then"),
    Why.NO_RELEASE: gettext_lazy("the release that it ran with cannot be read any more"),
    Why.NOT_ENDED: gettext_lazy("it has not ended"),
    Why.DIFFERENT: gettext_lazy("with its own release it does not end as it did; something outside played a part"),
    Why.TROUBLE: gettext_lazy("it could not be played"),
}


def name_of(run: ReplayRun) -> str:
    """Which definitions were played."""
    return _("Release %(number)s") % {"number": run.release} if run.release else _("Draft")


def sentence(summary: Summary, release: int) -> str:
    """ "With this draft, 14 of 200 would ask one more question, 3 would be refused, 0 would skip a confirmation." """
    asks, refused, skip = (
        summary.counts[one] for one in (Difference.ASKS_MORE, Difference.REFUSED, Difference.SKIPS_CONFIRMATION)
    )
    parts = {
        "asks": ngettext(
            "%(n)d of %(all)d would ask one more question", "%(n)d of %(all)d would ask one more question", asks
        )
        % {"n": asks, "all": summary.compared},
        "refused": ngettext("%(n)d would be refused", "%(n)d would be refused", refused) % {"n": refused},
        "skip": ngettext("%(n)d would skip a confirmation", "%(n)d would skip a confirmation", skip) % {"n": skip},
    }
    if release:
        return _("With release %(number)s, %(asks)s, %(refused)s, %(skip)s.") % {"number": release, **parts}
    return _("With this draft, %(asks)s, %(refused)s, %(skip)s.") % parts


def unchanged(summary: Summary) -> str:
    told = ngettext("%(n)d would go exactly as it did.", "%(n)d would go exactly as they did.", summary.same)
    return told % {"n": summary.same}


def left_out(summary: Summary) -> str:
    """How many say nothing, empty for none."""
    number = sum(summary.apart.values())
    told = ngettext("%(n)d could not be compared.", "%(n)d could not be compared.", number)
    return told % {"n": number} if number else ""


def in_short(summary: Summary, release: int) -> str:
    """What was found among those that could be compared; empty where there is none."""
    return f"{sentence(summary, release)} {unchanged(summary)}" if summary.compared else ""


def told_of(run: ReplayRun) -> str:
    """A replay in a line."""
    summary = summary_of(lines_of(run))
    told = " ".join(filter(None, [in_short(summary, run.release), left_out(summary)]))
    return told or _("No transaction has ended yet, so there is nothing to play.")


def newest_in_words(content_hash: str) -> str | None:
    """One line about the newest finished replay of exactly these definitions; None where there is none."""
    run = newest_of(content_hash)
    return None if run is None else told_of(run)


def stand_of(stand: Stand | None, tool: str) -> tuple[str, str]:
    """Where it stands, and why, in words; the tool is named where it is not ``tool``."""
    if stand is None:
        return "", ""
    if not stand.is_known:
        return _("goes on in a way that nobody knows"), ""
    if not stand.tool:
        return _("no tool"), ""
    badge = labels.badge(labels.STATUSES, stand.status)
    status = str(badge.text) if badge else stand.status
    reason = str(labels.words(labels.REASONS, stand.reason_code)) if stand.reason_code else ""
    return (status if stand.tool == tool else f"{stand.tool}: {status}"), reason
