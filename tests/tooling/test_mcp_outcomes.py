"""What a call to a server that misbehaves comes to: refused, answered or unknown, and posted at most once."""

import json
import sys

import pytest

from tests.services import free_port
from tests.tooling.mcp_servers import GOOD, Exchange, good, hostile
from tooling.gateway import Answered, Call, NoAnswer, NotSent
from tooling.mcp_client import McpGateway
from tooling.specs import ServerSpec

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def gateway():
    """A gateway of the test's own, closed afterwards."""
    gateway = McpGateway()
    yield gateway
    gateway.close()


@pytest.fixture(params=["auto", "legacy"])
def either_gateway(request):
    """A gateway that speaks the 2026 protocol, and one that speaks only 2025."""
    gateway = McpGateway(request.param)
    yield gateway
    gateway.close()


def event(exchange: Exchange, **changes) -> bytes:
    message = {"jsonrpc": "2.0", "id": exchange.id, "result": {"resultType": "complete", **GOOD}} | changes
    return b"event: message\ndata: " + json.dumps(message).encode()


# Refused: the tool cannot have run ----------------------------------------------------------------------------


def test_a_refused_connection_is_not_sent(either_gateway):
    spec = ServerSpec("nobody", endpoint=f"http://127.0.0.1:{free_port()}/mcp")

    outcome = either_gateway.call(Call(spec, "do", {}))

    assert isinstance(outcome, NotSent)
    assert outcome.again


def test_a_server_that_is_gone_when_the_call_comes_is_not_sent(gateway):
    with hostile() as server:
        gateway.call(server.call())
        server.stop()

        outcome = gateway.call(server.call())

        assert isinstance(outcome, NotSent)
        assert len(server.posts) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 405, 413, 415, 429])
def test_a_status_that_refuses_the_post_is_not_sent(gateway, status):
    with hostile(lambda exchange: exchange.raw(b"no", status)) as server:
        outcome = gateway.call(server.call())

        assert outcome == NotSent(f"the server refused the call with HTTP {status}")
        assert len(server.posts) == 1


@pytest.mark.parametrize(("code", "status"), [(-32601, 200), (-32602, 200), (-32601, 404), (-32602, 400)])
def test_an_unknown_method_or_invalid_parameters_are_not_tried_again(either_gateway, code, status):
    with hostile(lambda exchange: exchange.error(code, status)) as server:
        outcome = either_gateway.call(server.call())

        assert isinstance(outcome, NotSent)
        assert not outcome.again
        assert len(server.posts) == 1


# Unknown: it may have run -------------------------------------------------------------------------------------

UNKNOWN = {
    "reset after the call arrived": lambda exchange: exchange.reset(),
    "closed without an answer": lambda exchange: exchange.close(),
    "half an answer": lambda exchange: (exchange.raw(b'{"jsonrpc"', length=500), exchange.reset()),
    "HTTP 500": lambda exchange: exchange.raw(b"oops", 500),
    "HTTP 503": lambda exchange: exchange.raw(b"", 503),
    "HTTP 400": lambda exchange: exchange.raw(b"", 400),
    "HTTP 500 with a good answer": lambda exchange: exchange.json({"jsonrpc": "2.0", "id": 1, "result": GOOD}, 500),
    "HTTP 202 to a request": lambda exchange: exchange.raw(b"", 202),
    "a redirect to itself": lambda exchange: exchange.raw(b"", 307, headers="location: /mcp\r\n"),
    "bad JSON": lambda exchange: exchange.raw(b"{nope"),
    "another type of content": lambda exchange: exchange.raw(b"<p>ok</p>", headers="content-type: text/html\r\n"),
    "a wrong id": lambda exchange: exchange.json({"jsonrpc": "2.0", "id": 999999, "result": GOOD}),
    "the id as text": lambda exchange: exchange.json({"jsonrpc": "2.0", "id": str(exchange.id), "result": GOOD}),
    "no id": lambda exchange: exchange.json({"jsonrpc": "2.0", "result": GOOD}),
    "over 10 MiB": lambda exchange: exchange.raw(b'{"a": "' + b"x" * (10 * 1024 * 1024) + b'"}'),
    "the ambiguous -32001": lambda exchange: exchange.error(-32001),
    "an internal error": lambda exchange: exchange.error(-32603),
    "a result that says nothing": lambda exchange: exchange.result({"resultType": "complete"}),
    "a request for more input": lambda exchange: exchange.result(GOOD | {"resultType": "input_required"}),
    "a stream without an event": lambda exchange: exchange.events(),
    "a stream that ends after a notification": lambda exchange: exchange.events(
        b'data: {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}'
    ),
    "a stream with a wrong id": lambda exchange: exchange.events(event(exchange, id=999999)),
    "a stream that breaks inside the answer": lambda exchange: exchange.events(event(exchange)[:40]),
    "an event of over 10 MiB": lambda exchange: exchange.events(b"data: " + b"x" * (10 * 1024 * 1024)),
}


@pytest.mark.parametrize("behave", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_what_is_no_proper_answer_is_unknown_and_the_call_was_posted_once(gateway, behave):
    with hostile(behave) as server:
        outcome = gateway.call(server.call())
        server.behave = good
        afterwards = gateway.call(server.call())

        assert isinstance(outcome, NoAnswer), outcome
        assert isinstance(afterwards, Answered), afterwards
        assert len(server.posts) == 2


@pytest.mark.parametrize("behave", [UNKNOWN["reset after the call arrived"], UNKNOWN["a wrong id"]])
def test_the_older_protocol_leaves_the_same_unknown(behave):
    gateway = McpGateway("legacy")
    with hostile(behave, sessions=True) as server:
        outcome = gateway.call(server.call())
        gateway.close()

        assert isinstance(outcome, NoAnswer)
        assert len(server.posts) == 1


def test_a_server_that_never_answers_is_unknown(either_gateway):
    with hostile(lambda exchange: exchange.hang()) as server:
        outcome = either_gateway.call(server.call(seconds=0.5))

        assert isinstance(outcome, NoAnswer)
        assert len(server.posts) == 1


def test_a_wrong_answer_is_kept_as_evidence(gateway):
    with hostile(lambda exchange: exchange.json({"jsonrpc": "2.0", "id": 999999, "result": GOOD})) as server:
        outcome = gateway.call(server.call())

        assert isinstance(outcome, NoAnswer)
        assert outcome.raw["result"] == GOOD


# Answered -----------------------------------------------------------------------------------------------------


def test_an_answer_in_an_event_stream_is_read_like_any_other(either_gateway):
    progress = b'data: {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}'
    with hostile(lambda exchange: exchange.events(progress, event(exchange))) as server:
        outcome = either_gateway.call(server.call())

        assert isinstance(outcome, Answered)
        assert outcome.structured == {"ok": True}
        assert outcome.texts == ("ok",)


def test_texts_keep_their_order_and_other_blocks_are_no_text(gateway):
    image = {"type": "image", "data": "AA==", "mimeType": "image/png"}
    blocks = [{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}]
    with hostile(lambda exchange: exchange.result({"resultType": "complete", "content": blocks})) as server:
        outcome = gateway.call(server.call())

        assert isinstance(outcome, Answered)
        assert outcome.texts == ("a", "b")
        assert outcome.structured is None
        assert outcome.raw["content"] == blocks


@pytest.mark.parametrize("structured", ["{}", "null"])
def test_an_empty_object_is_no_structured_content(gateway, structured):
    body = '{"jsonrpc": "2.0", "id": %s, "result": {"content": [], "structuredContent": ' + structured + "}}"
    with hostile(lambda exchange: exchange.raw((body % exchange.id).encode())) as server:
        outcome = gateway.call(server.call())

        assert isinstance(outcome, Answered)
        assert outcome.structured is None


def test_an_answer_that_no_database_could_store_is_cleaned_and_read(gateway):
    awkward = (
        r'{"nul": "a\u0000b", "half": "\ud800", "nan": NaN, "far": Infinity, "deep": ' + "[" * 5000 + "]" * 5000 + "}"
    )
    body = '{"jsonrpc": "2.0", "id": %s, "result": {"content": [], "structuredContent": ' + awkward + "}}"
    with hostile(lambda exchange: exchange.raw((body % exchange.id).encode())) as server:
        outcome = gateway.call(server.call())

        assert isinstance(outcome, Answered)
        assert outcome.structured["nul"] == "a�b"
        assert outcome.structured["half"] == "�"
        assert outcome.structured["nan"] is None
        assert outcome.structured["far"] is None
        json.dumps(outcome.raw).encode()


def test_an_error_of_the_tool_is_an_answer(gateway):
    result = {"resultType": "complete", "content": [{"type": "text", "text": "sem saldo"}], "isError": True}
    with hostile(lambda exchange: exchange.result(result)) as server:
        outcome = gateway.call(server.call())

        assert isinstance(outcome, Answered)
        assert outcome.is_error
        assert outcome.texts == ("sem saldo",)


def test_an_answer_that_breaks_the_output_schema_is_kept_read_and_flagged(either_gateway):
    schema = {"type": "object", "properties": {"ok": {"type": "string"}}, "required": ["ok"]}
    with hostile(output_schema=schema) as server:
        outcome = either_gateway.call(server.call())

        assert isinstance(outcome, Answered)
        assert outcome.structured == {"ok": True}
        assert "ok" in outcome.schema_error
        assert len(server.posts) == 1


def test_a_schema_that_changed_on_the_server_is_read_anew_before_an_answer_is_flagged(gateway):
    with hostile(output_schema={"type": "object", "required": ["protocol"]}) as server:
        gateway.list_tools(server.spec)
        server.output_schema = {"type": "object", "required": ["ok"]}

        outcome = gateway.call(server.call())

        assert isinstance(outcome, Answered)
        assert outcome.schema_error == ""


def test_arguments_and_meta_arrive_as_they_were_given(gateway):
    meta = {"agentplatform/item_keys": [{"key": "k1", "label": "Música Mais"}, {"key": "k2", "label": "Música Mais"}]}
    with hostile() as server:
        gateway.call(Call(server.spec, "do", {"nested": {"list": [1, "á", None, True]}}, meta))

        params = server.posts[0]["params"]
        assert params["arguments"] == {"nested": {"list": [1, "á", None, True]}}
        assert params["_meta"]["agentplatform/item_keys"] == meta["agentplatform/item_keys"]


def test_numbers_are_not_mistaken_for_the_largest_that_python_prints(gateway):
    digits = "9" * (sys.get_int_max_str_digits() + 10)
    body = '{"jsonrpc": "2.0", "id": %s, "result": {"content": [], "structuredContent": {"n": ' + digits + "}}}"
    with hostile(lambda exchange: exchange.raw((body % exchange.id).encode())) as server:
        outcome = gateway.call(server.call())

        assert isinstance(outcome, NoAnswer)
