"""The one door to language models: a port, its answers as values, and an adapter for OpenAI-compatible endpoints.

A model that fails in any way is an ``Unavailable`` value, never an exception (runtime.md §5.7). No prompt, message or
answer is logged; the log says which component was asked, how long it took and whether it answered.
"""

from __future__ import annotations

import json
import logging
import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from django.conf import settings

from tooling.own_secrets import OWN_SECRETS
from tooling.specs import JSON, ProfileSpec
from transactions.prompts import prompt_of

if TYPE_CHECKING:
    import openai

logger = logging.getLogger("llm")

CONNECT_SECONDS = 2.0
"""A connection takes at most this much of a call's time."""
RETRY_PAUSE_SECONDS = 0.25
"""The pause before the second try where the server asks for none."""
MAX_ANSWER_BYTES = 1024 * 1024
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


# The port ------------------------------------------


@dataclass(frozen=True, slots=True)
class Completion:
    """The model answered with a JSON object."""

    component: str
    profile: str
    model: str
    value: JSON
    ms: int
    prompt_version: str


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The model did not answer, or not with a JSON object; ``reason`` is for operators."""

    component: str
    profile: str
    reason: str
    ms: int


class LanguageModel(Protocol):
    """Answers one component of contracts.md §4."""

    def complete(
        self,
        component: str,
        payload: Mapping[str, JSON],
        schema: Mapping[str, JSON],
        *,
        profiles: Mapping[str, ProfileSpec],
    ) -> Completion | Unavailable:
        """Ask ``component`` about ``payload``; the answer follows the JSON schema ``schema``. Never raises."""


# What a call is made with ------------------------------------------


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The installation's own endpoint, for what profiles leave open, and whether plain http may be used."""

    base_url: str = ""
    api_key: str = ""
    model: str = ""
    allow_http: bool = False
    allow_loopback_http: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A profile with every field decided."""

    profile: str
    base_url: str
    api_key: str
    model: str
    temperature: float
    max_tokens: int
    timeout: float


_BUILT_IN: Mapping[str, ProfileSpec] = {
    "default": ProfileSpec(name="default", temperature=0.0, max_tokens=600, timeout_seconds=10.0),
    "transaction_parameter_extraction": ProfileSpec(
        name="transaction_parameter_extraction", temperature=0.0, max_tokens=500, timeout_seconds=8.0
    ),
}


def resolve(component: str, profiles: Mapping[str, ProfileSpec], endpoint: Endpoint) -> Call:
    """The call for ``component``: each field from its profile, else ``default``, else ``endpoint`` (contracts.md §4).

    The key of the installation's endpoint serves profiles that name none. OWN_SECRETS are never sent.
    """
    own = profiles.get(component)
    profile = own or profiles.get("default") or _BUILT_IN["default"]
    chain = [spec for spec in (own, profiles.get("default"), _BUILT_IN.get(component)) if spec is not None]
    chain.append(_BUILT_IN["default"])
    key_env = next((spec.api_key_env for spec in chain if spec.api_key_env), "")
    key = os.environ.get(key_env, "") if key_env and key_env not in OWN_SECRETS else ""
    return Call(
        profile=profile.name,
        base_url=next((spec.base_url for spec in chain if spec.base_url), endpoint.base_url),
        api_key=key or endpoint.api_key,
        model=next((spec.model for spec in chain if spec.model), endpoint.model),
        temperature=next(spec.temperature for spec in chain if spec.temperature is not None),
        max_tokens=next(spec.max_tokens for spec in chain if spec.max_tokens is not None),
        timeout=next(spec.timeout_seconds for spec in chain if spec.timeout_seconds is not None),
    )


def refusal_of(call: Call, endpoint: Endpoint) -> str:
    """Why ``call`` may not be made, or "" (contracts.md §7)."""
    if not call.base_url:
        return "no endpoint: set LLM_BASE_URL, or base_url in the profile"
    if not call.model:
        return "no model: set LLM_MODEL, or model in the profile"
    try:
        url = urlsplit(call.base_url)
        host = url.hostname or ""
    except ValueError:
        return "base_url is not a URL"
    if url.scheme not in ("http", "https") or not host:
        return "base_url is not an http(s) URL"
    is_allowed = endpoint.allow_http or (endpoint.allow_loopback_http and host in LOOPBACK)
    if url.scheme == "http" and not is_allowed:
        return "base_url is not https; set ALLOW_HTTP_MODEL=1 for an endpoint inside your own network"
    return ""


# The adapter ------------------------------------------


class _Failure(Exception):
    """A try that brought no answer; the message is the reason. Never leaves this module."""


@dataclass(frozen=True, slots=True)
class OpenAIModel:
    """Asks OpenAI-compatible endpoints: one try, and a second one if the server refused and time is left."""

    endpoint: Endpoint

    def complete(
        self,
        component: str,
        payload: Mapping[str, JSON],
        schema: Mapping[str, JSON],
        *,
        profiles: Mapping[str, ProfileSpec],
    ) -> Completion | Unavailable:
        started = time.monotonic()
        call = resolve(component, profiles, self.endpoint)
        reason, value = refusal_of(call, self.endpoint), None
        if not reason:
            try:
                value = _ask(call, _request(call, component, payload, schema))
            except _Failure as failure:
                reason = str(failure)
        ms = round((time.monotonic() - started) * 1000)
        level = logging.WARNING if reason else logging.INFO
        logger.log(level, "llm.%s ms=%d ok=%s profile=%s %s", component, ms, not reason, call.profile, reason)
        if reason:
            return Unavailable(component=component, profile=call.profile, reason=reason, ms=ms)
        return Completion(
            component=component,
            profile=call.profile,
            model=call.model,
            value=value,
            ms=ms,
            prompt_version=prompt_of(component).version,
        )


def warm_up() -> None:
    """Import the SDK before the first call, which would wait for it."""
    import_module("openai")


@cache
def language_model() -> LanguageModel:
    """The model of this process, as the settings say; made at its first use."""
    is_development = not settings.IS_PRODUCTION
    return OpenAIModel(
        Endpoint(
            base_url=settings.LLM_BASE_URL,
            api_key=settings.LLM_API_KEY,
            model=settings.LLM_MODEL,
            allow_http=is_development or settings.ALLOW_HTTP_MODEL,
            allow_loopback_http=is_development or settings.ALLOW_OFFLINE_MODEL,
        )
    )


def _request(call: Call, component: str, payload: Mapping[str, JSON], schema: Mapping[str, JSON]) -> dict[str, JSON]:
    """The body of contracts.md §4: the payload is the last message, one JSON object."""
    return {
        "model": call.model,
        "temperature": call.temperature,
        "max_tokens": call.max_tokens,
        "messages": [
            {"role": "system", "content": prompt_of(component).text.strip()},
            {"role": "user", "content": json.dumps(payload, ensure_ascii=False)},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": component, "strict": True, "schema": dict(schema)},
        },
    }


def _ask(call: Call, request: Mapping[str, JSON]) -> JSON:
    """The object that the model answered with, after at most two tries within the call's time; raises _Failure."""
    import openai  # the first import takes longer than a try: the clock starts after it

    deadline = time.monotonic() + call.timeout
    for is_last in (False, True):
        try:
            return _read(_post(call, request, deadline))
        except _Failure:
            raise
        except Exception as error:
            # Not only the SDK's own errors: a URL it cannot use and a body that breaks off raise the transport's.
            pause = _pause_before_retry(error) if isinstance(error, openai.APIStatusError) else None
            if is_last or pause is None or time.monotonic() + pause >= deadline:
                raise _Failure(_reason(error)) from error
            time.sleep(pause)
    raise _Failure("refused twice")


@lru_cache(maxsize=32)
def _client(base_url: str, api_key: str) -> openai.OpenAI:
    """A pooled client; the SDK's own retries are off, and a redirect never carries a message elsewhere."""
    import openai

    transport = openai.DefaultHttpxClient(follow_redirects=False)
    return openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0, http_client=transport)


def _post(call: Call, request: Mapping[str, JSON], deadline: float) -> bytes:
    """The raw answer. It is read piece by piece, so that a server that trickles cannot outlast ``deadline``."""
    import openai

    left = max(0.001, deadline - time.monotonic())
    timeout = openai.Timeout(left, connect=min(CONNECT_SECONDS, left))
    client = _client(call.base_url, call.api_key or "not-needed")
    body = bytearray()
    with client.chat.completions.with_streaming_response.create(**request, timeout=timeout) as answer:
        for piece in answer.iter_bytes():
            body += piece
            if time.monotonic() > deadline:
                raise _Failure("timeout")
            if len(body) > MAX_ANSWER_BYTES:
                raise _Failure(f"an answer over {MAX_ANSWER_BYTES} bytes")
    return bytes(body)


def _pause_before_retry(error: openai.APIStatusError) -> float | None:
    """Seconds to wait where the server refused for now (429, 5xx), else None."""
    if error.status_code != 429 and error.status_code < 500:
        return None
    try:
        asked = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return RETRY_PAUSE_SECONDS
    return max(asked, 0.0) if math.isfinite(asked) else RETRY_PAUSE_SECONDS


def _reason(error: Exception) -> str:
    """What went wrong, without a word of what was asked or answered."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return f"HTTP {error.status_code}"
    name = type(error.__cause__ or error).__name__
    if isinstance(error, openai.APITimeoutError) or "Timeout" in name:
        return "timeout"
    return f"no answer ({name})"


# Reading an answer ------------------------------------------


def _read(body: bytes) -> JSON:
    """The JSON object in the first choice of ``body``; raises _Failure with what is wrong."""
    answer = _parsed(body.decode("utf-8", "replace"))
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        content, refusal, finish = message.get("content"), message.get("refusal"), choice.get("finish_reason")
    except (LookupError, TypeError, AttributeError) as error:
        raise _Failure("not a chat completion") from error
    if refusal:
        raise _Failure("the model refused")
    if finish not in (None, "stop"):
        raise _Failure(f"the answer is incomplete ({str(finish)[:40]})")
    if not isinstance(content, str):
        raise _Failure("an answer without text")
    value = _parsed(content)
    if not isinstance(value, dict):
        raise _Failure("not a JSON object")
    return value


def _parsed(text: str) -> JSON:
    """``text`` as JSON that a database can hold; raises _Failure."""
    try:
        return _storable(json.loads(text, parse_constant=_refuse_constant, parse_float=_finite))
    except (ValueError, RecursionError) as error:
        raise _Failure("invalid JSON") from error


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number too large")
    return value


def _storable(value: JSON) -> JSON:
    """``value`` without NUL and lone surrogates, which PostgreSQL refuses."""
    match value:
        case str():
            return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
        case list():
            return [_storable(element) for element in value]
        case dict():
            return {_storable(key): _storable(element) for key, element in value.items()}
        case _:
            return value
