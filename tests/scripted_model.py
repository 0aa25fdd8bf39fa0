"""An OpenAI-compatible endpoint that answers as a test says, over real HTTP, and remembers what it was asked.

In a test: ``with ScriptedModel(answers) as model: … model.base_url, model.requests``. As a process:
``python -m tests.scripted_model --port N --script FILE.json``, where the file is
``{component: [{"when": {key of the payload: text that it contains}, "answer": {…}}]}``; the first entry that fits
answers, ``when`` may be absent, and instead of ``answer`` an entry may hold ``status``, ``text`` or ``hang``.
"""

import argparse
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True)
class Refused:
    """An HTTP error instead of an answer."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Hang:
    """No answer at all until the endpoint is stopped."""


@dataclass(frozen=True)
class Trickle:
    """An answer that begins and never ends: a blank every so often until the endpoint is stopped."""


@dataclass(frozen=True)
class Text:
    """A completion whose content is ``content``, JSON or not."""

    content: str | None
    finish_reason: str = "stop"
    refusal: str | None = None


@dataclass(frozen=True)
class Body:
    """A response body as it is, with status 200."""

    text: str


@dataclass(frozen=True)
class Request:
    component: str
    payload: dict[str, Any]
    body: dict[str, Any]
    headers: dict[str, str]


Instruction = Refused | Hang | Trickle | Text | Body
Answers = Callable[[str, dict[str, Any]], Any]


class ScriptedModel:
    """``answers(component, payload)`` gives the JSON value to answer with, or an instruction."""

    def __init__(self, answers: Answers, *, port: int = 0) -> None:
        self.answers = answers
        self.requests: list[Request] = []
        self.stopped = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", port), _handler_of(self))
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    @property
    def calls(self) -> Counter[str]:
        """How often each component was asked."""
        return Counter(request.component for request in self.requests)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopped.set()
        self.server.shutdown()
        self.server.server_close()

    def take(self, request: Request) -> Any:
        self.requests.append(request)
        return self.answers(request.component, request.payload)


def in_turn(*answers: Any) -> Answers:
    """One after the other, whatever is asked; the last one for ever."""
    left = list(answers)
    return lambda component, payload: left.pop(0) if len(left) > 1 else left[0]


def of_script(script: Mapping[str, Sequence[Mapping[str, Any]]]) -> Answers:
    """The answers that a script file describes; what nobody scripted is refused with 400."""

    def answer(component: str, payload: dict[str, Any]) -> Any:
        for entry in script.get(component, ()):
            wanted = entry.get("when", {}).items()
            if all(text.casefold() in str(payload.get(key, "")).casefold() for key, text in wanted):
                return _instructed(entry)
        return Refused(400)

    return answer


def _instructed(entry: Mapping[str, Any]) -> Any:
    if "status" in entry:
        return Refused(entry["status"])
    if "text" in entry:
        return Text(entry["text"])
    return Hang() if entry.get("hang") else entry["answer"]


def _handler_of(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            payload = json.loads(body["messages"][-1]["content"])
            headers = {name.lower(): value for name, value in self.headers.items()}
            component = body["response_format"]["json_schema"]["name"]
            match model.take(Request(component, payload, body, headers)):
                case Refused(status, headers):
                    self.reply('{"error": {"message": "scripted"}}', status=status, headers=headers)
                case Hang():
                    model.stopped.wait()
                    self.close_connection = True
                case Trickle():
                    self.trickle()
                case Body(text):
                    self.reply(text)
                case Text() as text:
                    self.reply(_completion(text))
                case value:
                    self.reply(_completion(Text(json.dumps(value, ensure_ascii=False))))

        def reply(self, text: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
            data = text.encode("utf-8")
            self.send_response(status)
            given = {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}
            for name, value in given.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def trickle(self) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            try:
                while not model.stopped.wait(0.02):
                    self.wfile.write(b" ")
            except OSError:
                pass  # the client has hung up, which is what the test is about

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a test's output is its own."""

    return Handler


def _completion(text: Text) -> str:
    message = {"role": "assistant", "content": text.content, "refusal": text.refusal}
    choice = {"index": 0, "message": message, "finish_reason": text.finish_reason}
    answer = {"id": "scripted", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice]}
    return json.dumps(answer, ensure_ascii=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--script", type=Path, required=True)
    options = parser.parse_args()
    script = json.loads(options.script.read_text("utf-8"))
    ScriptedModel(of_script(script), port=options.port).server.serve_forever()


if __name__ == "__main__":
    main()
