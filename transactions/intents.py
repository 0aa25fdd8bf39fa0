"""The EnterpriseRouter: the intent of a message, by keyword or by the model, and the tool for it (runtime.md §6.8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tooling.specs import Definitions, IntentSpec, ToolSpec
from transactions.core.routing import AskWhich, Chosen, NoTool, keyword_match, select_tool


@dataclass(frozen=True, slots=True)
class EnterpriseRouter:
    """Routing over the intents of one release."""

    definitions: Definitions

    @property
    def intents(self) -> Sequence[IntentSpec]:
        return [intent for intent in self.definitions.intents.values() if intent.enabled]

    def by_keyword(self, message: str) -> str | None:
        """The intent whose keyword stands in the message, without asking a model."""
        match = keyword_match(message, self.intents)
        return match.name if match else None

    def tool_for(self, intent: str, message: str) -> Chosen | AskWhich | NoTool:
        """The tool of ``intent`` that the message selects (runtime.md §3)."""
        spec = self.definitions.intents.get(intent)
        if spec is None:
            return NoTool()
        return select_tool(spec, self.tools, message)

    @property
    def tools(self) -> Mapping[str, ToolSpec]:
        return self.definitions.tools

    def offers(self, locale: str) -> list[str]:
        """What the user can be offered, in words: what the tools of the intents do.

        An intent's own description speaks about the user to the model, not to the user.
        """
        names = dict.fromkeys(name for intent in self.intents for name in intent.mcp_tools)
        available = (self.tools[name] for name in names if self.definitions.is_available(name))
        texts = (tool.description.in_locale(locale) for tool in available)
        return [text for text in texts if text]
