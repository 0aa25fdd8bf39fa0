"""The offline model as a server: through our own adapter, as a process, and as code without a word of any domain."""

import ast
import http.client
import json
import sys
import threading
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.loading import DEFINITIONS
from tests.services import free_port, wait_until
from tests.test_house import CONTRACT_NAMES, literals, words
from tests.tooling.demo_requests import collecting, opening, replying, routing, tool_named
from tooling.demo.model import COMPONENTS, MAX_BYTES, BadRequest, complete, server
from transactions.core.confirmation import reply_schema
from transactions.core.parameters import extraction_schema
from transactions.llm import Completion, Endpoint, OpenAIModel, Unavailable

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [*sorted((ROOT / "tooling" / "demo").glob("offline_*.py")), ROOT / "tooling" / "demo" / "model.py"]
EXTRACTION = "transaction_parameter_extraction"


@pytest.fixture(scope="module")
def port():
    listening = server("127.0.0.1", 0)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield listening.server_port
    listening.shutdown()
    listening.server_close()


def ask(port, component, payload, schema=None):
    model = OpenAIModel(Endpoint(base_url=f"http://127.0.0.1:{port}/v1", model="offline-demo", allow_http=True))
    return model.complete(component, payload, schema or {"type": "object"}, profiles={})


def exchange(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, body=body, headers=headers or {})
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


# Through the adapter ------------------------------------------------------------------------------


def test_our_adapter_reads_an_extraction_of_it(port):
    schema = extraction_schema(tool_named("solicitar_devolucao"), ("order_id", "reason"))

    answer = ask(port, EXTRACTION, collecting("solicitar_devolucao", "PED-1004, ficou apertado"), schema)

    assert isinstance(answer, Completion)
    assert answer.value["values"] == {"order_id": "PED-1004", "reason": "ficou apertado"}


def test_our_adapter_reads_a_routing_and_a_reply_of_it(port):
    schema = reply_schema(tool_named("cancelar_vas_avulso"), ("subject",))
    told = {"tool_name": "cancelar_vas_avulso", "labels": ("A", "B"), "parameters": {"subject": "A e B"}}

    routed = ask(port, "intent_routing", routing("cancela o Craque 10", sets=("contas", "pedidos")))
    replied = ask(port, "confirmation_reply", replying("todos menos o segundo", **told), schema)

    assert (routed.value["decision"], routed.value["intent"]) == ("shift", "cancelar_servicos")
    assert replied.value["keep_item_keys"] == ["k1"]


def test_it_writes_no_sentence_of_its_own(port):
    answer = ask(port, "response_composition", {"status": "SUCCESS", "items": [], "question": None, "locale": "en"})

    assert answer.value == {"opening": "", "closing": ""}


def test_a_component_that_it_does_not_know_is_refused(port):
    answer = ask(port, "poetry", {"message": "oi"})

    assert isinstance(answer, Unavailable)
    assert answer.reason == "HTTP 400"


# Over HTTP ----------------------------------------------------------------------------------------


def test_it_says_that_it_is_there_and_what_it_is_called(port):
    assert exchange(port, "GET", "/healthz") == (200, {"status": "ok"})
    assert exchange(port, "GET", "/v1/models")[1]["data"][0]["id"] == "offline-demo"
    assert exchange(port, "GET", "/elsewhere")[0] == 404


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no json",
        "[]",
        "null",
        "{}",
        "[" * 5000,
        json.dumps({"response_format": {"json_schema": {"name": EXTRACTION}}}),
        json.dumps({"response_format": {"json_schema": {"name": EXTRACTION}}, "messages": []}),
        json.dumps({"response_format": {"json_schema": {"name": EXTRACTION}}, "messages": [{"content": "{}"}]}),
        json.dumps(
            {"response_format": {"json_schema": {"name": EXTRACTION}}, "messages": [{"role": "user", "content": "[]"}]}
        ),
    ],
)
def test_a_request_that_is_none_is_refused_with_a_reason(port, body):
    status, answer = exchange(port, "POST", "/v1/chat/completions", body=body)

    assert status == 400
    assert answer["error"]["message"]


def test_a_body_that_is_too_large_is_refused_unread(port):
    status, _ = exchange(port, "POST", "/v1/chat/completions", headers={"content-length": str(MAX_BYTES + 1)})

    assert status == 413


def test_one_connection_serves_many_requests(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    statuses = []
    for _ in range(3):
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        answer.read()
        statuses.append(answer.status)

    assert statuses == [200, 200, 200]
    connection.close()


def test_it_ends_when_its_standard_input_closes(processes):
    port = free_port()
    child = processes.python("model", "-m", "tooling.demo.model", "--port", str(port), "--watch-stdin")

    child.wait_for_url(f"http://127.0.0.1:{port}/healthz")
    child.process.stdin.close()

    wait_until(lambda: child.process.poll() is not None, timeout=10, what="the model to end")


# Total --------------------------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = ("tool", "tool_description", "pending", "known", "schema", "last_assistant_message", "message", "locale")
KEYS += ("active_transaction", "intents", "confirmation_text", "items", "parameters", "status", "question")
SPOKEN = st.lists(
    st.sampled_from(
        [
            "quero",
            "o",
            "e",
            ",",
            "PED-1",
            "Ana",
            "10",
            "?",
            "não",
            "menos",
            "to",
            "want",
            "é",
            '"',
            ".",
            "só",
            "segundo",
        ]
    ),
    max_size=8,
).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(COMPONENTS)), st.dictionaries(st.sampled_from(KEYS), json_values), SPOKEN)
def test_whatever_a_request_holds_it_is_answered(component, payload, message):
    request = {
        "response_format": {"json_schema": {"name": component}},
        "messages": [{"role": "user", "content": json.dumps({**payload, "message": message})}],
    }

    answer = complete(request)

    assert isinstance(json.loads(answer["choices"][0]["message"]["content"]), dict)


@settings(max_examples=150, deadline=None)
@given(SPOKEN, st.booleans())
def test_whatever_is_said_an_answer_has_the_promised_shape(message, is_opening):
    request = (opening if is_opening else collecting)("solicitar_devolucao", message)

    answer = COMPONENTS[EXTRACTION](request)

    assert list(answer) == ["kind", "values"]
    assert list(answer["values"]) == ["order_id", "reason"]
    assert (answer["kind"] == "answers_pending") is any(value is not None for value in answer["values"].values())
    assert COMPONENTS["confirmation_reply"](
        replying(message, tool_name="cancelar_pedidos", labels=("PED-1", "PED-2"), parameters={"order_ids": ["PED-1"]})
    )["kind"] in {"confirm", "reject", "change_items", "change_parameters", "question", "other"}


def test_a_streamed_answer_is_not_offered():
    with pytest.raises(BadRequest, match="stream"):
        complete({"response_format": {"json_schema": {"name": EXTRACTION}}, "stream": True, "messages": []})


# No word of any domain ----------------------------------------------------------------------------


def vocabulary():
    """Every tool, argument and phrase of every definition set, folded."""
    files = [
        path for folder in (DEFINITIONS, ROOT / "tooling" / "demo" / "definitions") for path in folder.rglob("*.y*ml")
    ]
    documents = [yaml.safe_load(path.read_text("utf-8")) for path in files if "broken" not in path.parts]
    return {word.strip().casefold() for document in documents for word in words(document)} - CONTRACT_NAMES


def test_no_string_of_the_offline_model_is_a_word_of_a_domain():
    known = vocabulary()

    found = [f"{path.name}:{line} {text}" for path in SOURCES for line, text in literals(path) if text in known]

    assert {"obras", "cancelar_vas_avulso", "subject", "devolver"} <= known
    assert found == []


def test_no_entry_of_its_word_lists_is_a_word_of_a_domain():
    known = vocabulary()
    lists = ROOT / "tooling" / "demo" / "offline_words.py"

    entries = {entry.strip() for _, text in literals(lists) for entry in (*text.split(), *text.split("|"))}

    assert "quero" in entries
    assert entries & known == set()


def test_it_imports_nothing_but_the_standard_library_and_itself():
    imported = {
        name
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }

    others = {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names}
    assert all(name.startswith("tooling.demo") for name in others)
