"""Opening a chat session: who the user is comes from the signed user token alone (contracts.md §2)."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, AuthenticationFailed, NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from transactions.models import Channel
from transactions.services.conversations import open_conversation
from transactions.sessions import (
    Identity,
    Rejected,
    allows_origin,
    identity_of,
    is_known_origin,
    open_session,
)

LOCALES = {"pt": "pt-BR", "en": "en"}
"""The languages that we speak, by their first part."""
MAX_BODY = 16 * 1024
WS_PATH = "/ws/chat/"


class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"
    default_detail = f"A session request has at most {MAX_BODY} bytes."


class SessionThrottle(SimpleRateThrottle):
    """Per peer address. A forwarded address is what the client says it is, so it limits nothing."""

    scope = "chat-sessions"
    rate = "60/min"

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        if not settings.RATE_LIMITS:
            return None
        return f"throttle:{self.scope}:{request.META.get('REMOTE_ADDR', '')}"


class SessionRequest(serializers.Serializer[Any]):
    channel = serializers.CharField(max_length=50)
    locale = serializers.CharField(max_length=35, required=False, allow_null=True, allow_blank=True)
    user_token = serializers.CharField(max_length=8192, required=False, allow_null=True, allow_blank=True)


class SessionAnswer(serializers.Serializer[Any]):
    conversation_id = serializers.UUIDField()
    session_token = serializers.CharField()
    expires_at = serializers.DateTimeField()
    ws_path = serializers.CharField()


class ChatSessionView(APIView):
    """``POST`` → 201; 401 for a bad or missing user token, 404 for an unknown channel."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = (SessionThrottle,)
    serializer_class = SessionRequest
    _channel: Channel | None = None

    def get_authenticate_header(self, request: Request) -> str:
        # Without a challenge the framework would turn a 401 into a 403.
        return 'Bearer realm="chat"'

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY:
            raise TooLarge

    @extend_schema(request=SessionRequest, responses={201: SessionAnswer}, auth=[])
    def post(self, request: Request) -> Response:
        """Open a conversation in a channel."""
        asked = SessionRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        channel = Channel.objects.filter(key=asked.validated_data["channel"]).first()
        if channel is None:
            raise NotFound
        self._channel = channel
        identity = _identity(channel, asked.validated_data.get("user_token") or "")
        conversation = open_conversation(
            channel, locale=spoken_in(asked.validated_data.get("locale"), channel), identity=identity
        )
        token, session = open_session(conversation, channel)
        answer = {
            "conversation_id": str(conversation.pk),
            "session_token": token,
            "expires_at": session.expiry.isoformat().replace("+00:00", "Z"),
            "ws_path": WS_PATH,
        }
        return Response(answer, status=status.HTTP_201_CREATED)

    @extend_schema(exclude=True)
    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        """The browser's question before a page of another origin may post."""
        return Response(status=status.HTTP_204_NO_CONTENT)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Let the pages of the channel's own sites read the answer, and nobody else's."""
        response = super().finalize_response(request, response, *args, **kwargs)
        origin = request.headers.get("Origin")
        patch_vary_headers(response, ["Origin"])
        if origin and self._may_read(origin):
            response["Access-Control-Allow-Origin"] = origin
            response["Access-Control-Allow-Methods"] = "POST"
            response["Access-Control-Allow-Headers"] = "Content-Type"
            response["Access-Control-Max-Age"] = "600"
        return response

    def _may_read(self, origin: str) -> bool:
        """Before the channel is known, as in a preflight, any channel that lists the origin will do."""
        if self._channel is None:
            return is_known_origin(origin)
        return allows_origin(self._channel, origin)


def _identity(channel: Channel, user_token: str) -> Identity:
    """Who the user is, or 401: a token that is there must be good, and only some channels do without."""
    if not user_token:
        if channel.anonymous:
            return {}
        raise AuthenticationFailed(_("This channel needs a user token."))
    identity = identity_of(user_token, channel)
    if isinstance(identity, Rejected):
        raise AuthenticationFailed(identity.reason)
    return identity


def spoken_in(asked: str | None, channel: Channel) -> str:
    """The conversation's locale: the one asked for if we speak it, else the channel's."""
    return LOCALES.get((asked or "").replace("_", "-").split("-")[0].lower(), channel.locale)
