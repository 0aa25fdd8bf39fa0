"""The one door to language models, against a real endpoint that answers as each test says (contracts.md §4)."""

import json
import logging
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tests.loading import cases
from tests.scripted_model import Body, Hang, Refused, ScriptedModel, Text, Trickle, in_turn
from tests.services import free_port, wait_until
from tooling.specs import ProfileSpec
from transactions.llm import Completion, Endpoint, OpenAIModel, Unavailable, resolve
from transactions.prompts import PROMPTS

EXTRACTION = "transaction_parameter_extraction"
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
GOOD = {"kind": "something_else", "values": {}}
PATIENT = {"default": ProfileSpec(name="default", timeout_seconds=20)}
BRIEF = {"default": ProfileSpec(name="default", timeout_seconds=1)}
"""For servers that never answer: long enough for a busy machine to hand the request over."""

CASES = {case["id"]: case for case in cases("extraction")}
FAILURES = [
    case for case in CASES.values() if EXTRACTION in case["when"].get("model_failure", {}) and "5.7" in case["rule"]
]
FAILING = {
    "timeout": Hang(),
    "HTTP 500": Refused(500),
    "HTTP 503": Refused(503),
    "HTTP 429": Refused(429),
    "HTTP 401": Refused(401),
    "invalid JSON": Text('{"kind": "answers_pen'),
    "truncated JSON": Text('{"kind": "answers_pen', finish_reason="length"),
    "empty answer": Text(""),
    "refusal": Text(None, refusal="I cannot help with that"),
    "array instead of object": Text("[]"),
    "HTTP 400 context length exceeded": Refused(400),
}
SERVER = {503: Refused(503), 429: Refused(429), 500: Refused(500), 200: GOOD, "hangs": Hang(), "timeout": Hang()}


def model_at(scripted, **endpoint):
    given = {"base_url": scripted.base_url, "model": "served", "allow_http": True, **endpoint}
    return OpenAIModel(Endpoint(**given))


def ask(scripted, *, component=EXTRACTION, payload=None, profiles=None, **endpoint):
    profiles = PATIENT if profiles is None else profiles
    return model_at(scripted, **endpoint).complete(component, payload or {"message": "oi"}, SCHEMA, profiles=profiles)


# Failures are values (runtime.md §5.7) ------------------------------------------------------------


@pytest.mark.parametrize("case", FAILURES, ids=lambda case: case["id"])
def test_a_model_that_fails_is_a_value_and_never_an_exception(case):
    failure = case["when"]["model_failure"][EXTRACTION]

    with ScriptedModel(in_turn(FAILING[failure])) as scripted:
        answer = ask(scripted, profiles=BRIEF if failure == "timeout" else PATIENT)

    assert isinstance(answer, Unavailable)
    assert answer.component == EXTRACTION
    assert answer.reason


@pytest.mark.parametrize("case_id", ["EXT-118", "EXT-162"])
def test_a_second_try_follows_only_a_refusal_with_time_left(case_id):
    case = CASES[case_id]
    profiles = PATIENT if case_id == "EXT-118" else BRIEF

    with ScriptedModel(in_turn(*(SERVER[given] for given in case["when"]["server_answers"]))) as scripted:
        answer = ask(scripted, profiles=profiles)

    assert len(scripted.requests) == case["then"]["tries"]
    assert isinstance(answer, Completion) is (case["then"]["result"] == "used")


def test_a_server_that_hangs_costs_the_profiles_time_and_no_second_try():  # EXT-121
    profiles = {EXTRACTION: ProfileSpec(name=EXTRACTION, timeout_seconds=1)}

    with ScriptedModel(in_turn(Hang())) as scripted:
        answer = ask(scripted, profiles=profiles)

    assert isinstance(answer, Unavailable)
    assert answer.reason == "timeout"
    assert len(scripted.requests) == 1


def test_a_server_that_trickles_cannot_outlast_the_time_of_the_call():
    with ScriptedModel(in_turn(Trickle())) as scripted:
        answer = ask(scripted, profiles=BRIEF)

    assert isinstance(answer, Unavailable)
    assert answer.reason == "timeout"


def test_two_refusals_are_the_end():
    with ScriptedModel(in_turn(Refused(503))) as scripted:
        answer = ask(scripted, profiles=PATIENT)

    assert isinstance(answer, Unavailable)
    assert answer.reason == "HTTP 503"
    assert len(scripted.requests) == 2


def test_a_server_that_asks_for_more_patience_than_there_is_gets_no_second_try():
    with ScriptedModel(in_turn(Refused(429, {"retry-after": "600"}), GOOD)) as scripted:
        answer = ask(scripted, profiles=PATIENT)

    assert isinstance(answer, Unavailable)
    assert len(scripted.requests) == 1


@pytest.mark.parametrize(
    "instruction",
    [
        pytest.param(Text("null"), id="null"),
        pytest.param(Text('"text"'), id="text"),
        pytest.param(Text('{"confidence": NaN}'), id="NaN"),
        pytest.param(Text('{"confidence": 1e400}'), id="infinity"),
        pytest.param(Text("[" * 5000), id="deep"),
        pytest.param(Text("{}", finish_reason="length"), id="cut off, but readable"),
        pytest.param(Text("{}", finish_reason="content_filter"), id="filtered"),
        pytest.param(Text("{}", refusal="no"), id="refused"),
        pytest.param(Body("<html>gateway</html>"), id="html"),
        pytest.param(Body('{"choices": []}'), id="no choice"),
        pytest.param(Body('{"choices": [null]}'), id="null choice"),
        pytest.param(Body("[]"), id="array body"),
        pytest.param(Refused(302, {"location": "http://127.0.0.1:9/"}), id="redirect"),
    ],
)
def test_whatever_comes_instead_of_an_object_is_a_failure(instruction):
    with ScriptedModel(in_turn(instruction)) as scripted:
        answer = ask(scripted)

    assert isinstance(answer, Unavailable)
    assert len(scripted.requests) == 1


def test_a_server_that_is_not_there_is_a_failure():
    nobody = OpenAIModel(Endpoint(base_url=f"http://127.0.0.1:{free_port()}/v1", model="m", allow_http=True))

    answer = nobody.complete(EXTRACTION, {"message": "oi"}, SCHEMA, profiles=BRIEF)

    assert isinstance(answer, Unavailable)
    assert "no answer" in answer.reason


@pytest.mark.parametrize("url", ["http://[", "http://host:99999/v1", "ftp://host/v1", "host", "http://"])
def test_an_address_that_is_none_is_a_failure(url):
    answer = OpenAIModel(Endpoint(base_url=url, model="m", allow_http=True)).complete(
        EXTRACTION, {"message": "oi"}, SCHEMA, profiles=BRIEF
    )

    assert isinstance(answer, Unavailable)


def test_text_that_the_database_refuses_is_cleaned_at_the_door():
    with ScriptedModel(in_turn(Text('{"question": "a\\u0000b\\ud800c", "n": [1.5, null, true]}'))) as scripted:
        answer = ask(scripted)

    assert isinstance(answer, Completion)
    assert answer.value == {"question": "ab?c", "n": [1.5, None, True]}


# The request (contracts.md §4) --------------------------------------------------------------------


def test_the_last_message_is_one_json_object_and_the_schema_is_strict():
    payload = {"message": "não, só o “segundo”", "pending": ["a"], "locale": "pt-BR"}

    with ScriptedModel(in_turn(GOOD)) as scripted:
        ask(scripted, payload=payload)

    body = scripted.requests[0].body
    assert body["messages"][-1]["role"] == "user"
    assert json.loads(body["messages"][-1]["content"]) == payload
    assert body["messages"][0]["role"] == "system"
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": EXTRACTION, "strict": True, "schema": SCHEMA},
    }


def test_a_components_own_profile_wins_over_the_default():  # EXT-122
    given = CASES["EXT-122"]["given"]["profiles"]
    profiles = {name: ProfileSpec(name=name, **fields) for name, fields in given.items()}

    with ScriptedModel(in_turn(GOOD)) as scripted:
        answer = ask(scripted, profiles=profiles)

    assert scripted.requests[0].body["max_tokens"] == CASES["EXT-122"]["then"]["max_tokens"]
    assert answer.profile == EXTRACTION


def test_each_field_that_a_profile_leaves_open_comes_from_the_default_profile():
    profiles = {
        "default": ProfileSpec(name="default", model="big", temperature=0.7, max_tokens=900, timeout_seconds=20),
        "intent_routing": ProfileSpec(name="intent_routing", max_tokens=200),
    }

    call = resolve("intent_routing", profiles, Endpoint(base_url="https://model.example/v1", model="served"))

    assert (call.profile, call.model, call.temperature, call.max_tokens, call.timeout) == (
        "intent_routing",
        "big",
        0.7,
        200,
        20,
    )


def test_without_profiles_the_extraction_is_asked_as_shipped():
    with ScriptedModel(in_turn(GOOD)) as scripted:
        answer = ask(scripted, profiles={})

    body = scripted.requests[0].body
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("served", 0, 500)
    assert resolve(EXTRACTION, {}, Endpoint()).timeout == 8
    assert resolve("intent_routing", {}, Endpoint()).timeout == 10
    assert answer.profile == "default"


def test_a_profiles_own_address_and_model_win_over_the_environment(monkeypatch):
    monkeypatch.setenv("OTHER_KEY", "of-the-profile")

    with ScriptedModel(in_turn(GOOD)) as own, ScriptedModel(in_turn(GOOD)) as environment:
        profile = ProfileSpec(name="default", base_url=own.base_url, model="mine", api_key_env="OTHER_KEY")
        answer = ask(environment, profiles={"default": profile}, api_key="of-the-environment")

    assert environment.requests == []
    assert own.requests[0].body["model"] == answer.model == "mine"
    assert own.requests[0].headers["authorization"] == "Bearer of-the-profile"


def test_the_address_of_the_environment_serves_a_profile_that_names_only_a_model():
    profiles = {"default": ProfileSpec(name="default", model="mine")}

    with ScriptedModel(in_turn(GOOD)) as scripted:
        ask(scripted, profiles=profiles, api_key="of-the-environment")

    assert scripted.requests[0].body["model"] == "mine"
    assert scripted.requests[0].headers["authorization"] == "Bearer of-the-environment"


def test_a_model_without_a_key_is_asked_all_the_same():
    with ScriptedModel(in_turn(GOOD)) as scripted:
        answer = ask(scripted)

    assert isinstance(answer, Completion)
    assert scripted.requests[0].headers["authorization"] == "Bearer not-needed"


def test_a_profile_cannot_have_the_installations_own_secrets_sent(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "signs-every-session")
    profiles = {"default": ProfileSpec(name="default", api_key_env="SECRET_KEY")}

    with ScriptedModel(in_turn(GOOD)) as scripted:
        ask(scripted, profiles=profiles)

    assert "signs-every-session" not in str(scripted.requests[0].headers)


# Where a model may stand (contracts.md §7) --------------------------------------------------------


@pytest.mark.parametrize(
    ("endpoint", "is_asked"),
    [
        ({"allow_http": True}, True),
        ({"allow_http": False, "allow_loopback_http": True}, True),
        ({"allow_http": False}, False),
    ],
    ids=["http allowed", "on this machine", "production"],
)
def test_plain_http_is_spoken_only_where_the_installation_allows_it(endpoint, is_asked):
    with ScriptedModel(in_turn(GOOD)) as scripted:
        answer = ask(scripted, **endpoint)

    assert isinstance(answer, Completion) is is_asked
    assert len(scripted.requests) == int(is_asked)


def test_without_an_address_or_a_model_the_reason_says_what_to_set():
    nowhere = OpenAIModel(Endpoint()).complete(EXTRACTION, {}, SCHEMA, profiles={})
    nameless = OpenAIModel(Endpoint(base_url="https://model.example/v1")).complete(EXTRACTION, {}, SCHEMA, profiles={})

    assert "LLM_BASE_URL" in nowhere.reason
    assert "LLM_MODEL" in nameless.reason


# What is left behind ------------------------------------------------------------------------------


@pytest.mark.parametrize("instruction", [GOOD, Text("segredo que não é JSON")], ids=["answer", "failure"])
def test_the_log_names_the_component_and_no_word_of_what_was_said(instruction, caplog):
    caplog.set_level(logging.INFO, logger="llm")

    with ScriptedModel(in_turn(instruction)) as scripted:
        ask(scripted, payload={"message": "meu segredo"})

    assert [record.getMessage().split()[0] for record in caplog.records] == [f"llm.{EXTRACTION}"]
    assert "segredo" not in caplog.text


def test_every_component_of_the_contract_has_versioned_instructions():
    components = {EXTRACTION, "intent_routing", "confirmation_reply", "response_composition"}

    assert PROMPTS.keys() == components | {"mcp_parameter_extraction"}
    assert all(prompt.version and prompt.text for prompt in PROMPTS.values())


def test_the_evidence_names_model_profile_and_prompt():
    with ScriptedModel(in_turn(GOOD)) as scripted:
        answer = ask(scripted)

    assert (answer.value, answer.model, answer.profile) == (GOOD, "served", "default")
    assert answer.prompt_version == PROMPTS[EXTRACTION].version


# The scripted endpoint as a process ---------------------------------------------------------------


def test_the_scripted_endpoint_runs_alone_from_a_file(tmp_path):
    port, script = free_port(), tmp_path / "script.json"
    script.write_text(json.dumps({EXTRACTION: [{"when": {"message": "PED"}, "answer": GOOD}, {"status": 503}]}))
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.scripted_model", "--port", str(port), "--script", str(script)]
    )

    try:
        wait_until(lambda: answers_on(port), timeout=20, what="the endpoint to listen")
        there = OpenAIModel(Endpoint(base_url=f"http://127.0.0.1:{port}/v1", model="m", allow_http=True))
        found = [
            there.complete(EXTRACTION, {"message": message}, SCHEMA, profiles={}) for message in ("ped-1", "outra")
        ]
    finally:
        child.terminate()
        child.wait(10)

    assert found[0].value == GOOD
    assert found[1].reason == "HTTP 503"


def answers_on(port):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=1)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True
