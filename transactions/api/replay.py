"""Replays over HTTP: begin one over what really happened, and read what it found (contracts.md §3).

Taken: ``{"last"?: 1..1000, "tool"?, "definitions"?: "draft" | release number}``. Answered, also while it is played:
``{"id", "finished", "definitions", "last", "tool", "total", "done", "compared", "same", "differences": {kind: number},
"not_compared": {why: number}, "transactions": [{"id", "tool", "at", "not_compared", "differences", "before",
"after"}]}``. It holds no text and no value of a customer; the id of a transaction that the caller may not see is null.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from tooling import catalog
from tooling.api.access import DefinitionsEndpoint, MayChangeDraft
from tooling.api.draft import invalid
from tooling.api.shapes import InvalidProblem
from tooling.api_basics import MEDIA_TYPE, problems
from transactions.access import visible
from transactions.api.simulate import WhichField
from transactions.models import ReplayRun, Transaction
from transactions.rehearsal import replay_runs
from transactions.rehearsal.courses import Difference
from transactions.rehearsal.history import Why
from transactions.rehearsal.replay_runs import Line, lines_of, summary_of
from transactions.rehearsal.replaying import MOST, USUAL, Stand
from transactions.rehearsal.setting_up import DRAFT, NotSound, definitions_of


class ReplayIn(serializers.Serializer[Any]):
    last = serializers.IntegerField(min_value=1, max_value=MOST, default=USUAL)
    tool = serializers.CharField(max_length=200, default="", allow_blank=True)
    definitions = WhichField(default=DRAFT)


class StandOut(serializers.Serializer[Stand]):
    """Where it ended; ``known`` false: it would go on in a way that is not recorded. ``tool`` "": none."""

    tool = serializers.CharField()
    status = serializers.CharField()
    reason_code = serializers.CharField()
    known = serializers.BooleanField(source="is_known")


class ReplayedOut(serializers.Serializer[Any]):
    id = serializers.UUIDField(allow_null=True)
    tool = serializers.CharField()
    at = serializers.DateTimeField(allow_null=True)
    not_compared = serializers.ChoiceField(choices=[why.value for why in Why], allow_null=True)
    differences = serializers.ListField(child=serializers.ChoiceField(choices=[one.value for one in Difference]))
    before = StandOut(allow_null=True)
    after = StandOut(allow_null=True)


class ReplayOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    finished = serializers.BooleanField()
    definitions = WhichField()
    last = serializers.IntegerField()
    tool = serializers.CharField(allow_blank=True)
    total = serializers.IntegerField(help_text="How many transactions are played.")
    done = serializers.IntegerField(help_text="How many were played.")
    compared = serializers.IntegerField()
    same = serializers.IntegerField(help_text="Compared, and without a difference.")
    differences = serializers.DictField(child=serializers.IntegerField())
    not_compared = serializers.DictField(child=serializers.IntegerField())
    transactions = ReplayedOut(many=True)


class ReplayListView(DefinitionsEndpoint):
    """Where replays begin."""

    permission_classes = [MayChangeDraft]

    @extend_schema(
        operation_id="definitions_replay_create",
        request=ReplayIn,
        responses={
            202: ReplayOut,
            **problems(400, 401, 403, 404, 411, 413, 429),
            (422, MEDIA_TYPE): InvalidProblem,
        },
    )
    def post(self, request: Request) -> Response:
        """Play the draft, or a release, over the last transactions that ended: with what was read and answered then.

        Nobody is asked and nothing is called. It is played after this answer; read it again at `Location`. The same
        that is being played already is not begun a second time. 404: no such release; 422: the draft has errors.
        """
        asked = ReplayIn(data=request.data)
        asked.is_valid(raise_exception=True)
        which = asked.validated_data["definitions"]
        try:
            definitions = definitions_of(which)
        except NotSound as unsound:
            return invalid("invalid_draft", unsound.findings)
        except catalog.NothingPublished as error:
            raise NotFound from error
        run = replay_runs.begin(
            definitions,
            last=asked.validated_data["last"],
            tool=asked.validated_data["tool"],
            release=0 if which == DRAFT else which,
            author=str(request.user.get_username()),
        )
        place = reverse("definitions-replay-run", args=[run.pk])
        return Response(_told(run, request), status=status.HTTP_202_ACCEPTED, headers={"Location": place})


class ReplayRunView(DefinitionsEndpoint):
    """One replay."""

    permission_classes = [MayChangeDraft]

    @extend_schema(
        operation_id="definitions_replay_retrieve", responses={200: ReplayOut, **problems(401, 403, 404, 429)}
    )
    def get(self, request: Request, pk: UUID) -> Response:
        """What a replay found so far."""
        run = ReplayRun.objects.filter(pk=pk).first()
        if run is None:
            raise NotFound
        return Response(_told(run, request))


def _told(run: ReplayRun, request: Request) -> dict[str, Any]:
    lines = lines_of(run)
    summary = summary_of(lines)
    seen = visible(Transaction.objects.filter(pk__in=[line.transaction for line in lines]), request.user)
    known = {str(pk) for pk in seen.values_list("pk", flat=True)}
    return {
        "id": str(run.pk),
        "finished": run.is_finished,
        "definitions": run.release or DRAFT,
        "last": run.last,
        "tool": run.tool,
        "total": run.total,
        "done": run.done,
        "compared": summary.compared,
        "same": summary.same,
        "differences": {str(one): number for one, number in summary.counts.items()},
        "not_compared": {str(why): number for why, number in summary.apart.items()},
        "transactions": [_line(line, line.transaction in known) for line in lines],
    }


def _line(line: Line, is_seen: bool) -> dict[str, Any]:
    shown = {"id": line.transaction if is_seen else None, "tool": line.tool, "at": line.at, "not_compared": line.why}
    stands = {"differences": list(line.differences), "before": line.before, "after": line.after}
    read: dict[str, Any] = ReplayedOut({**shown, **stands}).data
    return read
