"""The runtime's rows in the administration: all of them read-only, except channels and the revoking of keys."""

from __future__ import annotations

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

from transactions.models import (
    ApiKey,
    Attempt,
    Channel,
    Confirmation,
    Conversation,
    Event,
    Item,
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


class ReadOnlyAdmin(AnyAdmin):
    """Shows rows and changes none: only ``transactions.services`` moves them."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    list_display = ["id", "channel", "locale", "last_seq", "created_at"]
    list_filter = ["channel"]
    list_select_related = ["channel"]
    search_fields = ["=id"]
    ordering = ["-created_at"]
    exclude = ["turns_lease", "turns_leased_until"]


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    list_display = ["id", "conversation", "number", "rule", "tries", "created_at", "handled_at"]
    list_filter = ["rule"]
    list_select_related = ["conversation"]
    search_fields = ["=id", "=conversation__id"]
    ordering = ["-created_at"]


@admin.register(Transaction)
class TransactionAdmin(ReadOnlyAdmin):
    list_display = ["id", "tool", "status", "multi_item_status", "reason_code", "review_state", "release", "created_at"]
    list_filter = ["status", "multi_item_status", "review_state", "operation_type"]
    search_fields = ["=id", "=tool", "=conversation__id"]
    ordering = ["-created_at", "-id"]
    readonly_fields = ["in_the_console"]

    @admin.display(description=_("In the console"))
    def in_the_console(self, transaction: Transaction) -> str:
        url = reverse("console:transaction", args=[transaction.pk])
        return format_html('<a href="{}">{}</a>', url, gettext("Open the record"))


class PartAdmin(ReadOnlyAdmin):
    """A row that belongs to a transaction; long JSON is left to the record in the console."""

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
    list_filter = ["status", "verdict_source", "unconfirmed"]
    search_fields = ["=transaction__id", "label", "=protocol"]


@admin.register(Attempt)
class AttemptAdmin(PartAdmin):
    list_display = ["transaction", "number", "status", "sent_at", "answered_at", "failure"]
    list_filter = ["status"]
    exclude = ["request", "raw_answer", "normalised", "lease", "leased_until"]


@admin.register(Confirmation)
class ConfirmationAdmin(PartAdmin):
    list_display = ["id", "transaction", "status", "answered_by", "created_at", "expires_at", "answered_at"]
    list_filter = ["status", "answered_by"]
    ordering = ["-created_at"]


@admin.register(Event)
class EventAdmin(PartAdmin):
    list_display = ["at", "kind", "rule", "actor", "seq", "transaction"]
    list_filter = ["kind", "actor"]
    search_fields = ["=transaction__id", "=conversation__id"]


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
        fields = ["key", "locale", "origins", "allow_no_origin", "anonymous", "jwt_secret_env"]

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


@admin.register(Channel)
class ChannelAdmin(AnyAdmin):
    form = ChannelForm
    list_display = ["key", "locale", "anonymous", "allow_no_origin", "created_at"]
    ordering = ["key"]


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    """Keys are made on the command line, where they are shown once; here they can be revoked."""

    list_display = ["name", "role", "created_at", "revoked_at"]
    list_filter = ["role"]
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
