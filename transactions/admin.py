"""The runtime's rows in the administration: all of them read-only, except channels and the revoking of keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import ModelAdmin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from transactions.access import SEES_CUSTOMER_DATA, channels_of, visible
from transactions.console import labels
from transactions.models import (
    ApiKey,
    Attempt,
    Channel,
    Confirmation,
    Conversation,
    Disclosure,
    Event,
    ExportRun,
    Item,
    ReplayRun,
    SimulationCase,
    Transaction,
    Turn,
    WorkerHeartbeat,
)

if TYPE_CHECKING:
    AnyAdmin = ModelAdmin[Any]
    ChannelModelForm = forms.ModelForm[Channel]
else:
    # Django's own classes take no type arguments.
    AnyAdmin, ChannelModelForm = ModelAdmin, forms.ModelForm


TITLES = {
    "actor": _("who"), "allow_no_origin": _("accept clients without an Origin header"),
    "anonymous": _("accept users without a token"), "answer": _("answer of a button"),
    "answered_at": _("answered at"), "answered_by": _("answered"), "accounted_at": _("accounted for at"),
    "arguments": _("arguments"), "asked": _("asked for last"), "at": _("when"), "beat_at": _("last sign of life"),
    "before_change": _("before the change"), "channel": _("channel"), "claims": _("claims"),
    "client_message_id": _("id given by the client"), "conversation": _("conversation"),
    "created_at": _("created at"), "customer": _("customer (digest)"), "data": _("data"), "digest": _("digest"),
    "due_at": _("due at"), "evidence": _("evidence"), "expires_at": _("expires at"), "failure": _("failure"),
    "fields": _("fields"), "finished_at": _("finished at"), "handled_at": _("handled at"),
    "has_unconfirmed": _("has unconfirmed rows"), "has_unknown": _("has unknown items"), "id": _("id"),
    "idempotency_key": _("idempotency key"), "identity": _("identity"), "intent": _("intent"), "items": _("items"),
    "keep_items": _("items that were kept"), "key": _("key"), "kind": _("what happened"), "label": _("label"),
    "last_seq": _("last event number"), "lease": _("lease"), "leased_until": _("leased until"),
    "locale": _("locale"), "model_calls": _("calls of the language model"),
    "multi_item_status": _("reported result"), "name": _("name"), "number": _("number"),
    "operation_type": _("operation"), "parent": _("repeats items of"), "position": _("position"),
    "pre_validation": _("pre-validation"), "protocol": _("protocol"), "question": _("question"),
    "queued": _("waited for running work"), "reason": _("reason"), "reason_code": _("why"),
    "redirected": _("redirected"), "release": _("release"), "requested_seq": _("event number of the question"),
    "review_state": _("review"), "revision": _("revision"), "revoked_at": _("revoked at"), "role": _("role"),
    "rule": _("decided by"), "secondary_error": _("secondary error"), "seen_seq": _("last event number seen"),
    "sent_at": _("sent at"), "seq": _("event number"), "status": _("status"), "text": _("text"),
    "tool": _("tool"), "transaction": _("transaction"), "tries": _("tries"), "turn": _("turn"),
    "every_channel": _("sees every channel"), "sees_customer_data": _("sees who the customers are"),
    "by": _("who"), "what": _("what was shown"), "author": _("who"), "last": _("requests asked for"),
    "base": _("newest release then"), "format": _("format"), "per": _("one line per"), "total": _("transactions"),
    "done": _("written so far"), "customer_data": _("shows who the customers are"),
    "unconfirmed": _("nobody confirmed this"), "validator_runs": _("runs of the validator"),
    "validations": _("what each run of the validator came to"),
    "verdict_source": _("source of the verdict"), "chain_length": _("events in the chain of evidence"),
    "chain_head": _("newest hash of the chain of evidence"), "hash": _("hash in the chain of evidence"),
    "verify_tries": _("tries to verify"), "verify_due_at": _("verified next at"),
    "verify_until": _("verified until"), "warned_at": _("warned of the end at"),
    "changed_at": _("changed at"), "changed_by": _("changed by"), "created_by": _("created by"),
    "expected": _("expected"), "answers": _("recorded answers"), "readings": _("recorded readings"),
    "last_result": _("last result"), "last_run_at": _("last run at"), "scene": _("conversation"),
    "is_resend": _("repeats an unknown call"), "steps": _("steps of the workflow"),
}  # fmt: skip
"""What the columns are called here; the runtime's models name only what forms show."""

NAME_THE_CUSTOMER = (
    "identity", "arguments", "pre_validation", "validations", "before_change", "text", "answer", "data", "fields",
    "evidence", "items", "question", "reason", "failure", "secondary_error",
)  # fmt: skip
"""Columns that are left to the console, which hides in them who the customer is."""

COMMON: dict[str, Mapping[str, labels.Text | labels.Badge]] = {
    "actor": labels.ACTORS,
    "answered_by": labels.ANSWERED_BY,
    "kind": labels.EVENTS,
    "multi_item_status": labels.STATUSES,
    "operation_type": labels.OPERATIONS,
    "reason_code": labels.REASONS,
    "review_state": labels.REVIEW,
    "rule": labels.RULES,
    "verdict_source": labels.VERDICTS,
}
STATUSES: dict[type[Model], Mapping[str, labels.Badge]] = {
    Transaction: labels.STATUSES,
    Item: labels.ITEMS,
    Attempt: labels.ATTEMPTS,
    Confirmation: labels.CONFIRMATIONS,
}


def in_words(model: type[Model], name: str, value: Any) -> Any:
    """A value of a closed list as operators read it; any other value as it is."""
    table = STATUSES.get(model, {}) if name == "status" else COMMON.get(name, {})
    word = table.get(value) if isinstance(value, str) else None
    return word.text if isinstance(word, labels.Badge) else word or value


def column(model: type[Model], name: str) -> Callable[[Any], Any]:
    """The column ``name`` under its title and with its values in words."""
    field = model._meta.get_field(name)
    is_boolean = field.get_internal_type() == "BooleanField"

    @admin.display(description=TITLES[name], ordering=name, boolean=is_boolean or None)
    def show(row: Any) -> Any:
        if field.is_relation or is_boolean:
            return getattr(row, name)
        choice = getattr(row, f"get_{name}_display", None)
        return choice() if choice else in_words(model, name, getattr(row, name))

    show.__name__ = name
    return show


class WordsFilter(admin.AllValuesFieldListFilter):
    """Filters by the values of a column, under its title and in words."""

    def __init__(self, field: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(field, *args, **kwargs)
        self.title = TITLES[field.name]
        self.field = field

    def choices(self, changelist: Any) -> Any:
        own = dict(self.field.flatchoices) if self.field.choices else {"True": _("yes"), "False": _("no")}
        for choice in super().choices(changelist):
            shown = in_words(self.field.model, self.field.name, choice["display"])
            yield {**choice, "display": own.get(choice["display"], shown) or "—"}


def by(*names: str) -> list[Any]:
    return [(name, WordsFilter) for name in names]


class ReadOnlyAdmin(AnyAdmin):
    """Shows rows and changes none: only ``transactions.services`` moves them."""

    show_full_result_count = False
    list_per_page = 50
    channel = ""
    """The way from a row to its channel, for rows that not everybody may see."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        return visible(rows, request.user, channel=self.channel) if self.channel else rows

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        hidden = () if request.user.has_perm(SEES_CUSTOMER_DATA) else NAME_THE_CUSTOMER
        return [column(self.model, str(name)) for name in super().get_list_display(request) if name not in hidden]

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        hidden = list(self.exclude or ())
        if not request.user.has_perm(SEES_CUSTOMER_DATA):
            hidden += NAME_THE_CUSTOMER
        names = [one.name for one in self.model._meta.concrete_fields if one.name not in hidden]
        return [*(column(self.model, name) for name in names), *self.readonly_fields]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    channel = "channel"
    list_display = ["id", "channel", "locale", "last_seq", "created_at"]
    list_filter = [("channel", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["channel"]
    search_fields = ["=id"]
    ordering = ["-created_at"]
    exclude = ["turns_lease", "turns_leased_until"]


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    channel = "conversation__channel"
    list_display = ["id", "conversation", "number", "rule", "tries", "created_at", "handled_at"]
    list_filter = by("rule")
    list_select_related = ["conversation"]
    search_fields = ["=id", "=conversation__id"]
    ordering = ["-created_at"]


@admin.register(Transaction)
class TransactionAdmin(ReadOnlyAdmin):
    channel = "conversation__channel"
    list_display = ["id", "tool", "status", "multi_item_status", "reason_code", "review_state", "release", "created_at"]
    list_filter = by("status", "multi_item_status", "review_state", "operation_type")
    search_fields = ["=id", "=tool", "=conversation__id"]
    ordering = ["-created_at", "-id"]
    readonly_fields = ["in_the_console"]

    @admin.display(description=_("In the console"))
    def in_the_console(self, transaction: Transaction) -> str:
        url = reverse("console:transaction", args=[transaction.pk])
        return format_html('<a href="{}">{}</a>', url, gettext("Open the record"))


class PartAdmin(ReadOnlyAdmin):
    """A row that belongs to a transaction; long JSON is left to the record in the console."""

    channel = "transaction__conversation__channel"
    list_select_related = ["transaction"]
    search_fields = ["=transaction__id"]
    ordering = ["-id"]
    readonly_fields = ["in_the_console"]

    @admin.display(description=_("In the console"))
    def in_the_console(self, part: Any) -> str:
        if part.transaction_id is None:
            return "—"
        url = reverse("console:transaction", args=[part.transaction_id])
        return format_html('<a href="{}">{}</a>', url, gettext("Open the record"))


@admin.register(Item)
class ItemAdmin(PartAdmin):
    list_display = ["label", "status", "reason", "protocol", "verdict_source", "unconfirmed", "transaction"]
    list_filter = by("status", "verdict_source", "unconfirmed")
    search_fields = ["=transaction__id", "label", "=protocol"]


@admin.register(Attempt)
class AttemptAdmin(PartAdmin):
    list_display = ["transaction", "number", "status", "sent_at", "answered_at", "failure"]
    list_filter = by("status")
    exclude = ["request", "raw_answer", "normalised", "lease", "leased_until"]


@admin.register(Confirmation)
class ConfirmationAdmin(PartAdmin):
    list_display = ["id", "transaction", "status", "answered_by", "created_at", "expires_at", "answered_at"]
    list_filter = by("status", "answered_by")
    ordering = ["-created_at"]


@admin.register(Event)
class EventAdmin(PartAdmin):
    channel = "conversation__channel"
    list_display = ["at", "kind", "rule", "actor", "seq", "transaction"]
    list_filter = by("kind", "actor")
    search_fields = ["=transaction__id", "=conversation__id"]


@admin.register(Disclosure)
class DisclosureAdmin(ReadOnlyAdmin):
    channel = "transaction__conversation__channel"
    list_display = ["at", "by", "what", "transaction"]
    list_filter = by("what")
    list_select_related = ["transaction"]
    search_fields = ["=transaction__id", "=by"]


@admin.register(ExportRun)
class ExportRunAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "by", "format", "per", "total", "done", "customer_data", "finished_at"]
    list_filter = by("customer_data")
    search_fields = ["=by"]


@admin.register(ReplayRun)
class ReplayRunAdmin(ReadOnlyAdmin):
    """Their results are read on the page of replays."""

    list_display = ["id", "author", "last", "tool", "created_at", "finished_at"]
    exclude = ["lease", "leased_until", "content", "chosen", "lines"]


@admin.register(WorkerHeartbeat)
class WorkerHeartbeatAdmin(ReadOnlyAdmin):
    list_display = ["name", "beat_at"]


class LinesField(forms.CharField):
    """A JSON list of texts, edited as one text per line."""

    widget = forms.Textarea(attrs={"rows": 4})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        lines = (line.strip() for line in (super().clean(value) or "").splitlines())
        return [line for line in lines if line]


class ChannelForm(ChannelModelForm):
    """The token secret itself never passes here: the form holds the name of its environment variable."""

    origins = LinesField(
        label=_("allowed origins"),
        required=False,
        help_text=_("One per line, as https://www.example.com; only pages of these sites may open the chat."),
    )

    class Meta:
        model = Channel
        fields = ["key", "locale", "origins", "allow_no_origin", "anonymous", "jwt_secret_env", "operators"]

    def clean_origins(self) -> list[str]:
        origins: list[str] = self.cleaned_data["origins"]
        wrong = [origin for origin in origins if not is_origin(origin)]
        if wrong:
            text = gettext("%(origin)s is no origin: write scheme and host, without a path.")
            raise forms.ValidationError([text % {"origin": origin} for origin in wrong])
        return origins


def is_origin(text: str) -> bool:
    """Scheme, host and perhaps a port, as browsers send it."""
    try:
        parts = urlsplit(text)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and has_host and text == f"{parts.scheme}://{parts.netloc}"


@admin.register(SimulationCase)
class SimulationCaseAdmin(ReadOnlyAdmin):
    """They are made, accepted and thrown away where messages are tried."""

    list_display = ["name", "last_result", "last_run_at", "changed_by", "changed_at"]
    list_filter = by("last_result")
    search_fields = ["name"]
    ordering = ["name"]


@admin.register(Channel)
class ChannelAdmin(AnyAdmin):
    form = ChannelForm
    list_display = ["key", "locale", "anonymous", "allow_no_origin", column(Channel, "created_at")]
    ordering = ["key"]
    filter_horizontal = ["operators"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Channel]:
        return channels_of(request.user)


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    """Keys are made on the command line, where they are shown once; here they can be revoked."""

    list_display = ["name", "role", "created_at", "revoked_at"]
    list_filter = by("role")
    search_fields = ["name"]
    exclude = ["hash"]
    ordering = ["name"]
    actions = ["revoke"]

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("transactions.change_apikey"))

    @admin.action(description=_("Revoke the selected keys"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> None:
        number = keys.filter(revoked_at=None).update(revoked_at=timezone.now())
        told = ngettext("%(n)d key was revoked.", "%(n)d keys were revoked.", number) % {"n": number}
        messages.success(request, told)
