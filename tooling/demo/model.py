"""The offline model: a small OpenAI-compatible server that answers the platform's components by rule.

``python -m tooling.demo.model --port N [--host H] [--watch-stdin]``. It is a stand-in for the demo and for tests: it
reads nothing but the request (contracts.md §4) and knows no domain. POST /v1/chat/completions, GET /v1/models,
GET /healthz.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tooling.demo.offline_extraction import auxiliary, extraction
from tooling.demo.offline_reply import reply
from tooling.demo.offline_routing import routing

MODEL = "offline-demo"
MAX_BYTES = 1024 * 1024


def composition(payload: Mapping[str, Any]) -> dict[str, str]:
    """No sentence of its own: the platform's rendered text stands alone."""
    return {"opening": "", "closing": ""}


COMPONENTS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "transaction_parameter_extraction": extraction,
    "intent_routing": routing,
    "confirmation_reply": reply,
    "response_composition": composition,
    "mcp_parameter_extraction": auxiliary,
}


class BadRequest(Exception):
    """The request is not one of contracts.md §4; the message says what is missing."""


def complete(request: Any) -> dict[str, Any]:
    """The chat completion for ``request``, a parsed body; raises BadRequest."""
    component, payload = _component_of(request), _payload_of(request)
    content = json.dumps(COMPONENTS[component](payload), ensure_ascii=False)
    message = {"role": "assistant", "content": content, "refusal": None}
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.get("model") or MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _component_of(request: Any) -> str:
    try:
        component = request["response_format"]["json_schema"]["name"]
    except (LookupError, TypeError) as error:
        raise BadRequest("response_format.json_schema.name must name a component") from error
    if component not in COMPONENTS:
        raise BadRequest(f"unknown component; this model answers {', '.join(COMPONENTS)}")
    if request.get("stream"):
        raise BadRequest("streaming is not offered")
    return str(component)


def _payload_of(request: Any) -> Mapping[str, Any]:
    try:
        last = request["messages"][-1]
        payload = json.loads(last["content"])
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise BadRequest("the last message must hold one JSON object") from error
    if last.get("role") != "user" or not isinstance(payload, dict):
        raise BadRequest("the last message must be the user's and hold one JSON object")
    return payload


class Handler(BaseHTTPRequestHandler):
    """One connection; kept alive between requests."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    # Answers are small and awaited: headers and body go out at once.
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        match self.path.split("?")[0].rstrip("/"):
            case "/healthz":
                self._send(HTTPStatus.OK, {"status": "ok"})
            case "/v1/models":
                self._send(HTTPStatus.OK, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
            case _:
                self._refuse(HTTPStatus.NOT_FOUND, "nothing here")

    def do_POST(self) -> None:
        body = self._body()
        if body is None:
            return
        if self.path.split("?")[0].rstrip("/") != "/v1/chat/completions":
            self._refuse(HTTPStatus.NOT_FOUND, "nothing here")
            return
        try:
            answer = complete(json.loads(body))
        except BadRequest as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
        except (ValueError, RecursionError):
            self._refuse(HTTPStatus.BAD_REQUEST, "the body is not JSON")
        else:
            self._send(HTTPStatus.OK, answer)

    def _body(self) -> bytes | None:
        """The body, or None after a refusal: without a length the connection cannot be used any further."""
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > MAX_BYTES:
            self.close_connection = True
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body of at most {MAX_BYTES} bytes is needed")
            return None
        return self.rfile.read(int(length))

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        self._send(status, {"error": {"message": message, "type": "invalid_request_error", "code": None}})

    def _send(self, status: HTTPStatus, value: Mapping[str, Any]) -> None:
        data = json.dumps(value, ensure_ascii=False).encode("utf-8")
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: messages of customers are no log lines."""


def server(host: str, port: int) -> ThreadingHTTPServer:
    """A server that listens; port 0 takes a free one."""
    listening = ThreadingHTTPServer((host, port), Handler)
    listening.daemon_threads = True
    return listening


def _end_with_stdin() -> None:
    """End with the parent, however it ended: its end of the pipe closes in any case."""
    sys.stdin.buffer.read()
    os._exit(0)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tooling.demo.model", description="The offline demo model.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--watch-stdin", action="store_true", help="end when standard input closes")
    options = parser.parse_args(arguments)
    if options.watch_stdin:
        threading.Thread(target=_end_with_stdin, daemon=True).start()
    try:
        server(options.host, options.port).serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
