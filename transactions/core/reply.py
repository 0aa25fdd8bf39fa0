"""What the user reads: results, questions and answers of the runtime, in their language (runtime.md §10, §8, §5.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from transactions.core.ledger import Counts, count
from transactions.core.statuses import ItemStatus, ReasonCode, Status
from transactions.core.texts import LABELS, PORTUGUESE, REASONS, language_for, say, say_count

LONGEST = 200
"""Characters of a label, reason or protocol that are shown."""

_OUR_FAULT = frozenset(
    {ReasonCode.INVALID_TARGET, ReasonCode.VALIDATION_LOOP, ReasonCode.DIGEST_MISMATCH, ReasonCode.NOT_SENT}
)
_NOT_STARTED = frozenset({ReasonCode.TOOL_DISABLED, ReasonCode.DIGEST_MISMATCH, ReasonCode.NOT_SENT})
_HEADS: Mapping[ReasonCode, str] = {
    ReasonCode.EMPTY_SET: "empty_set",
    ReasonCode.NO_ACTIONABLE_ITEM: "no_actionable_item",
    ReasonCode.PRE_VALIDATION_UNAVAILABLE: "pre_validation_unavailable",
    ReasonCode.ITEM_UNSETTLED: "item_unsettled",
    ReasonCode.IDENTITY_REQUIRED: "identity_required",
    ReasonCode.TOO_MANY_ITEMS: "too_many_items",
    ReasonCode.TOOL_DISABLED: "tool_disabled",
    **dict.fromkeys(_OUR_FAULT, "our_fault"),
}
_SIGNS_OF_A_MACHINE = ("Traceback (", 'File "', " at 0x", "Exception in ", "<html", "<!DOCTYPE")
_ACCENTS = {
    "nao": "não",
    "ja": "já",
    "ate": "até",
    "apos": "após",
    "invalido": "inválido",
    "invalida": "inválida",
    "indisponivel": "indisponível",
    "possivel": "possível",
}


@dataclass(frozen=True, slots=True)
class ReplyItem:
    """One item as it is told: how it is called, what became of it, why, and under which number."""

    label: str
    status: ItemStatus
    reason: str | None = None
    protocol: str | None = None


# Results -------------------------------------------------------------------------------------------


def render_result(
    status: Status,
    items: Sequence[ReplyItem],
    *,
    locale: str,
    reason_code: ReasonCode | None = None,
    reason: str | None = None,
    unconfirmed: Sequence[str] = (),
    limit: int | None = None,
    title: str = "",
) -> str:
    """The whole result: what became of it, then every item with outcome, reason and protocol (runtime.md §10).

    Complete for any number of items. ``limit`` is what ``too_many_items`` names, ``title`` says what it was about
    where no item does. ``unconfirmed``: labels of what the tool reported although nobody asked.
    """
    head = _head(status, items, locale, reason_code, limit)
    is_nameless = not any(shown_line(item.label) for item in items)
    if title and is_nameless and status is not Status.CANCELLED:
        head = f"{shown_line(title).rstrip('.:')} – {head}"
    lines = [head]
    if is_nameless and len(items) == 1:
        lines[0] = " ".join([head, *_sentences(items[0], locale)])
        reason = reason if items[0].reason is None else None
    else:
        lines += (_line(item, number, locale) for number, item in enumerate(items, 1))
    lines += _closing(status, items, locale, reason_code, reason)
    if unconfirmed:
        labels = ", ".join(shown_line(label) or "?" for label in unconfirmed)
        lines.append(say("unconfirmed", locale, labels=labels))
    return "\n".join(lines)


def reason_text(reason: str | None, locale: str) -> str:
    """A reason as people read it: a code becomes words, a stack trace a plain sentence, a text stays as it is."""
    text = (reason or "").strip()
    if not text:
        return ""
    if not _is_for_people(text):
        return say("technical_problem", locale)
    language = language_for(locale)
    known = REASONS.get(text.casefold().replace("-", "_"))
    if known is not None:
        return known[language]
    return " ".join(_plain_words(word, language) for word in shown_line(text).split())


def shown_reason(reason: str | None, locale: str) -> str | None:
    """A reason as data for the user's screen: word for word, codes too, but never a stack trace."""
    is_shown = reason is None or not reason.strip() or _is_for_people(reason.strip())
    return reason if is_shown else say("technical_problem", locale)


def status_label(status: Status | ItemStatus | str, locale: str) -> str:
    """What a status of a transaction or an item is called; an unknown one is shown as words."""
    label = LABELS.get(str(status))
    return label[language_for(locale)] if label else str(status).replace("_", " ").capitalize()


def _head(status: Status, items: Sequence[ReplyItem], locale: str, code: ReasonCode | None, limit: int | None) -> str:
    counts = count(item.status for item in items)
    asked = counts.total - counts.excluded
    match status:
        case Status.SUCCESS:
            left = _counted(Counts(0, 0, 0, 0, counts.excluded), locale)
            return " ".join([say_count("success", max(asked, 1), locale, total=asked), *left])
        case Status.PARTIAL_SUCCESS:
            return " ".join(_counted(counts, locale))
        case Status.VERIFYING:
            known = _counted(counts, locale) if asked > 1 else []
            return " ".join([*known, say("verifying.rest" if known else "verifying", locale)])
        case Status.FAILED if not _nothing_ran(items, code):
            return say_count("failed", max(asked, 1), locale, total=asked)
        case Status.EXPIRED:
            return say("expired", locale)
        case Status.ABANDONED:
            return say("abandoned", locale)
        case Status.CANCELLED:
            return say("empty_set" if code is ReasonCode.EMPTY_SET else "cancelled", locale)
        case Status.FAILED | Status.REFUSED:
            if code is ReasonCode.TOO_MANY_ITEMS and limit is not None:
                return say("too_many_items.limit", locale, limit=limit)
            return say(_HEADS.get(code, "nothing_done") if code else "nothing_done", locale)
    return say("still_working", locale)


def _nothing_ran(items: Sequence[ReplyItem], code: ReasonCode | None) -> bool:
    statuses = {item.status for item in items}
    if code in _NOT_STARTED:
        return ItemStatus.FAILED not in statuses
    kept_back = {ItemStatus.NOT_EXECUTED, ItemStatus.INELIGIBLE, ItemStatus.EXCLUDED, ItemStatus.PENDING}
    return ItemStatus.NOT_EXECUTED in statuses and statuses <= kept_back


def _counted(counts: Counts, locale: str) -> list[str]:
    """ "2 of 3 done; 1 could not be done." as one sentence, without what there is none of; empty for none at all."""
    asked = counts.total - counts.excluded
    parts = []
    if counts.succeeded:
        parts.append(say_count("done", counts.succeeded, locale, succeeded=counts.succeeded, total=asked))
    if counts.failed:
        parts.append(say_count("not_done", counts.failed, locale, failed=counts.failed))
    if counts.unknown:
        parts.append(say_count("checking", counts.unknown, locale, unknown=counts.unknown))
    if counts.excluded:
        parts.append(say_count("left_out", counts.excluded, locale, excluded=counts.excluded))
    return ["; ".join(parts) + "."] if parts else []


def _line(item: ReplyItem, number: int, locale: str) -> str:
    label = shown_line(item.label) or say("item.number", locale, number=number)
    details = [_reason_of(item, locale)]
    if protocol := shown_line(item.protocol or ""):
        details.append(say("protocol", locale, protocol=protocol))
    told = "; ".join(filter(None, details))
    return f"• {label}: {say(f'item.{item.status}', locale)}" + (f" ({told})" if told else "")


def _reason_of(item: ReplyItem, locale: str) -> str:
    """The item's reason as text; a code beside a success ("done") would only confuse."""
    text = reason_text(item.reason, locale)
    is_code = text != shown_line(item.reason or "") or " " not in text
    return "" if item.status is ItemStatus.SUCCEEDED and is_code else text


def _sentences(item: ReplyItem, locale: str) -> list[str]:
    """Reason and protocol of the only item where it has no name."""
    told = []
    if reason := _reason_of(item, locale):
        told.append(_sentence(say("reason", locale, reason=reason)))
    if protocol := shown_line(item.protocol or ""):
        told.append(_sentence(say("protocol.sentence", locale, protocol=protocol)))
    return told


def _closing(
    status: Status, items: Sequence[ReplyItem], locale: str, code: ReasonCode | None, reason: str | None
) -> list[str]:
    """The reason of the whole, unless an item tells it, and the offer to go without what cannot be done."""
    lines = []
    text = reason_text(reason, locale)
    told = {"", *(reason_text(item.reason, locale) for item in items)}
    if status in (Status.REFUSED, Status.FAILED) and code not in _OUR_FAULT and text not in told:
        lines.append(_sentence(say("reason", locale, reason=text)))
    counted = [item.status for item in items if item.status is not ItemStatus.EXCLUDED]
    refused = counted.count(ItemStatus.INELIGIBLE)
    if status is Status.REFUSED and code is ReasonCode.NOT_ELIGIBLE and 0 < refused < len(counted):
        lines.append(say("without_these", locale))
    return lines


# Questions -----------------------------------------------------------------------------------------


def render_confirmation(
    *,
    message: str | None,
    operation: str,
    items: Sequence[ReplyItem],
    left_out: Sequence[ReplyItem],
    arguments: Sequence[tuple[str, str]],
    locale: str,
    unvalidated: bool = False,
) -> str:
    """The one question for the effective set (runtime.md §8): the validator's, else every item and argument.

    Then what is left out and why, and, where the check could not be made, that it was not.
    """
    own = (message or "").strip()
    lines = [own] if own else [say("confirm.items", locale), *_what(operation, items, arguments)]
    if left_out:
        lines.append(say_count("confirm.left_out", len(left_out), locale))
        lines += (_line(item, number, locale) for number, item in enumerate(left_out, 1))
    if unvalidated:
        lines.append(say("confirm.unvalidated", locale))
    if not own:
        lines.append(say("confirm.question", locale))
    return "\n".join(lines)


def ask_parameter(user_prompt: str, label: str, description: str, locale: str) -> str:
    """One question, in the words of the definition, the best ones first; never a technical name (§5.6)."""
    prompt = user_prompt.strip()
    if prompt and not _is_code(prompt):
        return prompt
    words = (shown_line(text).rstrip(".:?") for text in (label, description))
    what = next((text for text in words if text and not _is_code(text)), "")
    return say("ask.about", locale, what=what) if what else say("ask.more", locale)


def ask_which_meaning(labels: Sequence[str], locale: str) -> str:
    """Asked when a word names both the operation and the way out of it (runtime.md §6.4); names what is at stake."""
    what = ", ".join(shown_line(label) for label in labels) or say("ask.which_meaning.what", locale)
    return say("ask.which_meaning", locale, what=what)


def ask_yes_or_no(locale: str) -> str:
    """Said before a confirmation that was answered with neither yes nor no is asked again."""
    return say("ask.yes_or_no", locale)


def ask_which_operation(options: Sequence[str], locale: str) -> str:
    return "\n".join([say("ask.which_operation", locale), *_bullets(options)])


# Answers -------------------------------------------------------------------------------------------


def greeting(offers: Sequence[str], locale: str) -> str:
    return _with_offers(say("greeting", locale), offers, locale)


def fallback(offers: Sequence[str], locale: str) -> str:
    """Not understood; what can be done instead (runtime.md §6.8)."""
    return _with_offers(say("fallback", locale), offers, locale)


def cannot_answer(question: str | None, offers: Sequence[str], locale: str) -> str:
    """A question that nothing here can answer: said plainly, with what can be done."""
    asked = shown_line(question or "")
    own = say("cannot_answer.question", locale, question=asked) if asked else say("cannot_answer", locale)
    return _with_offers(own, offers, locale)


def say_again(locale: str) -> str:
    """A model failed; nothing changed (runtime.md §5.7)."""
    return say("say_again", locale)


def nothing_to_confirm(locale: str) -> str:
    return say("nothing_to_confirm", locale)


def still_working(locale: str) -> str:
    """The turn is stored and waits (runtime.md §6.7)."""
    return say("still_working", locale)


def not_available(locale: str) -> str:
    return say("not_available", locale)


def change_refused(reason: str | None, locale: str) -> str:
    """A change at the confirmation was turned down; the set before it is confirmed anew (runtime.md §6.5)."""
    text = reason_text(reason, locale)
    own = say("change_refused", locale)
    return f"{own} {_sentence(say('reason', locale, reason=text))}" if text else own


# Words ---------------------------------------------------------------------------------------------


def _what(operation: str, items: Sequence[ReplyItem], arguments: Sequence[tuple[str, str]]) -> list[str]:
    """The operation, every item, and each argument that does not only say the items again."""
    labels = [shown_line(item.label) for item in items]
    named = [label.casefold() for label in labels if label]
    lines = [text] if (text := shown_line(operation).rstrip(".:")) else []
    lines += _bullets(labels)
    for label, value in arguments:
        shown, folded = shown_line(value), shown_line(value).casefold()
        if not any(name in folded or folded in name for name in named):
            lines.append(f"• {shown_line(label)}: {shown}" if label else f"• {shown}")
    return lines


def _with_offers(text: str, offers: Sequence[str], locale: str) -> str:
    listed = _bullets(offers)
    return "\n".join([text, say("offers", locale), *listed]) if listed else text


def _bullets(texts: Iterable[str]) -> list[str]:
    return [f"• {shown.rstrip('.')}" for text in texts if (shown := shown_line(text))]


def shown_line(text: str) -> str:
    """A text from outside on one line of bounded length, without control characters; never read as anything else."""
    words = "".join(char if char.isprintable() else " " for char in text[: 4 * LONGEST]).split()
    line = " ".join(words)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _is_for_people(text: str) -> bool:
    """Whether ``text`` is one line, or a code, that somebody wrote to be read."""
    return len(text) <= LONGEST and len(text.splitlines()) <= 1 and not _is_of_a_machine(text)


def _is_of_a_machine(text: str) -> bool:
    if text.startswith(("{", "[", "<")) or any(sign in text for sign in _SIGNS_OF_A_MACHINE):
        return True
    names = (word.rstrip(":,.()") for word in text.split())
    return any(name.endswith(("Error", "Exception")) and name not in ("Error", "Exception") for name in names)


def _is_code(text: str) -> bool:
    """Whether ``text`` is one technical name, such as a field or a reason code."""
    return "_" in text.strip("_") and text.replace("_", "").isalnum()


def _plain_words(word: str, language: str) -> str:
    """A technical name inside a text as words: "not_in_stock" → "not in stock"."""
    core = word.strip(".,;:!?()\"'`")
    if not _is_code(core):
        return word
    parts = [_accented(part) if language == PORTUGUESE else part for part in core.casefold().split("_") if part]
    return word.replace(core, " ".join(_dated(parts)))


def _accented(part: str) -> str:
    """Codes are written without accents; these endings and words are plain Portuguese spelling."""
    if part.endswith("cao"):
        return f"{part[:-3]}ção"
    if part.endswith("coes"):
        return f"{part[:-4]}ções"
    return _ACCENTS.get(part, part)


def _dated(parts: Sequence[str]) -> Iterable[str]:
    """ "30", "06" of a code are a day and a month: "30/06"."""
    waiting = ""
    for part in parts:
        if waiting and len(part) == 2 and part.isdigit() and 1 <= int(part) <= 12:
            yield f"{waiting}/{part}"
            waiting = ""
            continue
        if waiting:
            yield waiting
        waiting = part if len(part) == 2 and part.isdigit() and 1 <= int(part) <= 31 else ""
        if not waiting:
            yield part
    if waiting:
        yield waiting
