"""Real implementations of the two ports that answer as a test scripts them, and remember what they were asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tooling.gateway import Answered, Call, NoAnswer, NotSent, Outcome, RemoteTool
from tooling.specs import ProfileSpec, ServerSpec
from transactions.llm import Completion, Unavailable


def answered(structured: Any, *, is_error: bool = False) -> Answered:
    return Answered(raw={"structuredContent": structured}, structured=structured, is_error=is_error)


@dataclass
class FakeModel:
    """A LanguageModel: a value per component, a callable of the payload, or a failure."""

    answers: dict[str, Any] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    payloads: list[Mapping[str, Any]] = field(default_factory=list)

    def complete(
        self,
        component: str,
        payload: Mapping[str, Any],
        schema: Mapping[str, Any],
        *,
        profiles: Mapping[str, ProfileSpec],
    ) -> Completion | Unavailable:
        self.calls.append(component)
        self.payloads.append(payload)
        if component in self.failures:
            return Unavailable(component=component, profile="default", reason=self.failures[component], ms=1)
        if component not in self.answers:
            raise AssertionError(f"nobody scripted an answer of {component}, and it was asked: {payload}")
        answer = self.answers[component]
        value = answer(payload) if callable(answer) else answer
        return Completion(component=component, profile="default", model="fake", value=value, ms=1, prompt_version="1")

    def script(self, answers: Mapping[str, Any], failures: Mapping[str, str] | None = None) -> None:
        """Answer so from now on, and forget what was asked before."""
        self.answers, self.failures = dict(answers), dict(failures or {})
        self.calls.clear()
        self.payloads.clear()

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.calls)


Reply = Outcome | Callable[[Call], Outcome]


@dataclass
class FakeGateway:
    """A ToolGateway: a list of outcomes per tool, the last one for ever."""

    outcomes: dict[str, list[Reply]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)

    def answers(self, tool: str, *outcomes: Reply) -> None:
        self.outcomes[tool] = list(outcomes)

    def call(self, call: Call) -> Outcome:
        self.calls.append(call)
        replies = self.outcomes.get(call.tool)
        if not replies:
            raise AssertionError(f"nobody scripted an outcome of {call.tool}")
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        return reply(call) if callable(reply) else reply

    def list_tools(self, server: ServerSpec, timeout: float = 10.0) -> Sequence[RemoteTool] | NotSent | NoAnswer:
        return []

    def calls_of(self, tool: str) -> list[Call]:
        return [call for call in self.calls if call.tool == tool]
