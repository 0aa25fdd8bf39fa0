"""The endpoint below /api/v1/ that chat clients call."""

from django.urls import re_path

from transactions.api.chat import ChatSessionView

urlpatterns = [re_path(r"^chat/sessions/?$", ChatSessionView.as_view(), name="chat-sessions")]
