"""The ASGI application: pages and API over HTTP, the chat over websocket."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentplatform.settings")

from django.core.asgi import get_asgi_application

http = get_asgi_application()
application = http
