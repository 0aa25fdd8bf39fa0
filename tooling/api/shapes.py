"""What the endpoints of definitions take and answer: files as JSON, problems as the command prints them."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from tooling.api_basics import ProblemOut
from tooling.differences import Change
from tooling.findings import Finding, Severity
from tooling.hints import hint_of
from tooling.models import PublishRequest, Release
from tooling.yaml_io import Problem

MOST_FILES = 1000
LONGEST_NAME = 200
LONGEST_COMMENT = 5000
MOST_PROBLEMS = 1000
"""Rows of one answer; what is counted beside them is everything."""


# What is taken ------------------------------------------------------------------------------------


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string"},
            {
                "type": "object",
                "properties": {"base64": {"type": "string", "format": "byte"}},
                "required": ["base64"],
                "additionalProperties": False,
            },
        ]
    }
)
class FileField(serializers.Field[bytes, Any, Any, Any]):
    """A file as text, or ``{"base64": …}`` for its very bytes."""

    def to_internal_value(self, data: Any) -> bytes:
        if isinstance(data, str):
            # Half a surrogate pair becomes bytes that the reader of files refuses at their line and column.
            return data.encode("utf-8", "surrogatepass")
        if not isinstance(data, dict) or data.keys() != {"base64"} or not isinstance(data["base64"], str):
            raise serializers.ValidationError(_("A text is expected, or an object with the one key base64."), "kind")
        try:
            return base64.b64decode(data["base64"], validate=True)
        except ValueError as error:
            raise serializers.ValidationError(_("This is not base64."), "base64") from error


class FilesField(serializers.DictField):
    """Files by name. A name is shown in messages and never a path on a disk."""

    child = FileField()
    default_error_messages = {
        "many": _("At most %(most)d files are expected.") % {"most": MOST_FILES},
        "name": _("The name of a file has 1 to %(most)d printable characters.") % {"most": LONGEST_NAME},
    }

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            if len(data) > MOST_FILES:
                self.fail("many")
            if not all(0 < len(name) <= LONGEST_NAME and name.isprintable() for name in data):
                self.fail("name")
        return super().to_internal_value(data)


class DraftIn(serializers.Serializer[Any]):
    files = FilesField(allow_empty=False, help_text='By name, as an export has them: {"tools.yaml": "version: 1\\n…"}.')


class ValidateIn(serializers.Serializer[Any]):
    files = FilesField(allow_empty=False, required=False, help_text="Left out: the draft as it stands is checked.")


class CommentIn(serializers.Serializer[Any]):
    comment = serializers.CharField(max_length=LONGEST_COMMENT, help_text="What changes for users.")


class ReasonIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=LONGEST_COMMENT, help_text="Why it is not published.")


# What is answered ---------------------------------------------------------------------------------


class FoundOut(serializers.Serializer[Any]):
    """One thing that is wrong, doubtful or worth knowing, and what to do about it.

    In files it has a place, in the draft a path; ``text`` is what the command prints.
    """

    id = serializers.CharField()
    severity = serializers.ChoiceField(choices=[severity.value for severity in Severity])
    message = serializers.CharField()
    text = serializers.CharField()
    hint = serializers.CharField(allow_blank=True)
    needs_tick = serializers.BooleanField(
        required=False, help_text="The publish page wants to be told that this is meant; publishing here does not."
    )
    file = serializers.CharField(required=False)
    line = serializers.IntegerField(required=False)
    column = serializers.IntegerField(required=False)
    path = serializers.ListField(child=serializers.CharField(), required=False)


class CheckedOut(serializers.Serializer[Any]):
    valid = serializers.BooleanField()
    error_count = serializers.IntegerField()
    warning_count = serializers.IntegerField()
    note_count = serializers.IntegerField()
    problems = FoundOut(many=True, help_text=f"The first {MOST_PROBLEMS}.")


class DraftOut(CheckedOut):
    release = serializers.IntegerField(allow_null=True, help_text="The newest release.")
    hash = serializers.CharField(help_text="Of the draft's content; equal to a release's if nothing changed since.")
    files = serializers.DictField(child=serializers.CharField())


class ReleaseOut(serializers.ModelSerializer[Release]):
    class Meta:
        model = Release
        fields = ["number", "hash", "comment", "author", "approver", "rolled_back_to", "created_at"]


class ReleaseFilesOut(ReleaseOut):
    files = serializers.DictField(child=serializers.CharField())

    class Meta(ReleaseOut.Meta):
        fields = [*ReleaseOut.Meta.fields, "files"]


class PublishRequestOut(serializers.ModelSerializer[PublishRequest]):
    """A request to publish; ``base``: the newest release when it was made, ``release``: what it became."""

    number = serializers.IntegerField(source="pk")

    class Meta:
        model = PublishRequest
        fields = [
            "number", "status", "base", "hash", "comment", "author", "created_at", "decider", "decided_at", "reason",
            "release",
        ]  # fmt: skip


class PublishedOut(ReleaseOut):
    warnings = FoundOut(many=True)

    class Meta(ReleaseOut.Meta):
        fields = [*ReleaseOut.Meta.fields, "warnings"]


class ChangeOut(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=["added", "removed", "changed"])
    path = serializers.ListField(child=serializers.CharField())
    old = serializers.JSONField(allow_null=True)
    new = serializers.JSONField(allow_null=True)
    text = serializers.CharField()


class PublishRequestChangesOut(PublishRequestOut):
    makers = serializers.ListField(child=serializers.CharField(), help_text="Whose changes it holds.")
    changes = ChangeOut(many=True)

    class Meta(PublishRequestOut.Meta):
        fields = [*PublishRequestOut.Meta.fields, "makers", "changes"]


def change_row(change: Change) -> dict[str, Any]:
    """One difference as a ChangeOut."""
    return {
        "kind": change.kind.value,
        "path": list(change.path),
        "old": change.old,
        "new": change.new,
        "text": str(change),
    }


class DiffOut(serializers.Serializer[Any]):
    """``from`` and ``to``: the number of a release, or ``draft``."""

    to = serializers.CharField()
    changes = ChangeOut(many=True)

    def get_fields(self) -> dict[str, Any]:
        return {"from": serializers.CharField(), **super().get_fields()}


class MovedProblem(ProblemOut):
    """412: ``changed_by`` and ``changed_at`` are null where nothing recorded it."""

    changed_by = serializers.CharField(allow_null=True)
    changed_at = serializers.DateTimeField(allow_null=True)
    release = serializers.IntegerField(allow_null=True)


class InvalidProblem(ProblemOut):
    """422: what the checks found."""

    error_count = serializers.IntegerField()
    warning_count = serializers.IntegerField()
    note_count = serializers.IntegerField()
    problems = FoundOut(many=True)


def checked(found: Iterable[Problem | Finding]) -> dict[str, Any]:
    """The members of a CheckedOut."""
    every = list(found)
    count = Counter(one.severity for one in every)
    return {
        "valid": count[Severity.ERROR] == 0,
        "error_count": count[Severity.ERROR],
        "warning_count": count[Severity.WARNING],
        "note_count": count[Severity.NOTE],
        "problems": [found_row(one) for one in every[:MOST_PROBLEMS]],
    }


def found_row(found: Problem | Finding) -> dict[str, Any]:
    row = {"id": found.code, "severity": found.severity.value, "message": found.message, "text": str(found)}
    match found:
        case Problem():
            hint = found.hint or hint_of(found.code)
            return row | {"hint": hint, "file": found.file, "line": found.line, "column": found.column}
        case Finding():
            return row | {"hint": found.hint, "needs_tick": found.needs_tick, "path": list(found.path)}
