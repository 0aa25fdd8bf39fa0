"""The ASGI application: pages and API over HTTP, the chat over websocket."""

from __future__ import annotations

import os
import warnings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentplatform.settings")

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

from agentplatform.bodies import bounded

# WhiteNoise answers with an open file, which Django's ASGI handler reads in a thread: right, but it warns each time.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
http = bounded(get_asgi_application())

from transactions.consumers import ChatConsumer, Message, Receive, Send  # noqa: E402 - models can be imported only after the set-up above

CHAT_PATHS = ("/ws/chat/", "/ws/chat")


async def websocket(scope: Message, receive: Receive, send: Send) -> None:
    """The chat at its path; any other socket is refused before it opens. The consumer checks the origin."""
    if scope["path"] in CHAT_PATHS:
        await ChatConsumer.as_asgi(scope, receive, send)
        return
    await receive()
    await send({"type": "websocket.close", "code": 4404})


application = ProtocolTypeRouter({"http": http, "websocket": websocket})
