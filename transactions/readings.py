"""What a turn is read against, and the readings of the language model: each component at most once a turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from tooling import catalog
from tooling.specs import JSON, Strategy
from transactions.core.confirmation import ReplyReading, read_reply, reply_request, reply_schema
from transactions.core.folding import tokens
from transactions.core.parameters import (
    Extraction,
    Unreadable,
    extraction_request,
    extraction_schema,
    missing,
    read_extraction,
    read_values,
)
from transactions.core.precedence import Failed, Said, Setting, State
from transactions.core.retrying import is_retry_phrase
from transactions.core.routing import (
    ActiveTransaction,
    Routing,
    read_routing,
    routing_request,
    routing_schema,
)
from transactions.core.statuses import ConfirmationStatus, Status
from transactions.intents import EnterpriseRouter
from transactions.llm import Completion, LanguageModel, Unavailable
from transactions.models import Confirmation, Conversation, Transaction, Turn
from transactions.services.calls import Rules, rules_of
from transactions.services.parking import offered_at, parked_in
from transactions.services.retrying import newest_to_retry
from transactions.services.telling import last_assistant_text
from transactions.services.turning import occupying

EXTRACTION = "transaction_parameter_extraction"
AUXILIARY = "mcp_parameter_extraction"
ROUTING = "intent_routing"
REPLY = "confirmation_reply"


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that the handling of one turn looks at; read once, so that the decision is about one moment."""

    conversation: Conversation
    turn: Turn
    transaction: Transaction | None
    rules: Rules | None
    confirmation: Confirmation | None
    parked: Transaction | None
    """What was set aside last and may be taken up."""
    published: catalog.PublishedRelease | None
    last_assistant: str | None
    state: State
    said: Said
    setting: Setting
    to_retry: Transaction | None = None
    """What the words of this turn ask to be tried again, where it may be (runtime.md §9.5)."""

    @property
    def router(self) -> EnterpriseRouter:
        """The router of the newest release: what a new transaction would start with."""
        if self.published is None:
            raise catalog.NothingPublished("nothing is published yet; publish a release first")
        return EnterpriseRouter(self.published.definitions)


def situation_of(conversation_id: UUID, turn: Turn) -> Situation:
    """The conversation as it stands, for handling ``turn``."""
    conversation = Conversation.objects.select_related("channel").get(pk=conversation_id)
    transaction = occupying(conversation_id)
    rules = rules_of(transaction) if transaction else None
    confirmation = None
    if transaction is not None and transaction.status == Status.AWAITING_CONFIRMATION:
        confirmation = transaction.confirmations.filter(status=ConfirmationStatus.OPEN).first()
    parked = parked_in(conversation_id)
    published = catalog.newest()
    to_retry = _to_retry(conversation, turn, transaction)
    return Situation(
        conversation=conversation,
        turn=turn,
        transaction=transaction,
        rules=rules,
        confirmation=confirmation,
        parked=parked,
        published=published,
        last_assistant=last_assistant_text(conversation),
        state=_state(transaction, rules, confirmation, conversation.locale) if transaction else _idle_state(parked),
        said=Said(text=turn.text, seen_seq=turn.seq if turn.seen_seq is None else turn.seen_seq),
        setting=_setting(conversation, turn, rules, published, can_retry=to_retry is not None),
        to_retry=to_retry,
    )


def _to_retry(conversation: Conversation, turn: Turn, transaction: Transaction | None) -> Transaction | None:
    """Looked up only for words that ask for it."""
    if transaction is not None or not is_retry_phrase(turn.text, conversation.locale):
        return None
    return newest_to_retry(conversation.pk)


def _state(
    transaction: Transaction | None, rules: Rules | None, confirmation: Confirmation | None, locale: str
) -> State:
    if transaction is None or rules is None:
        return State()
    question = f"{confirmation.text}\n{rules.tool.description.in_locale(locale)}" if confirmation else ""
    return State(
        status=Status(transaction.status),
        question=question,
        requested_seq=confirmation.requested_seq if confirmation else 0,
    )


def _idle_state(parked: Transaction | None) -> State:
    if parked is None:
        return State()
    return State(offered_seq=offered_at(parked), retry_is_aside=parked.parent_id is not None)


def _setting(
    conversation: Conversation,
    turn: Turn,
    rules: Rules | None,
    published: catalog.PublishedRelease | None,
    *,
    can_retry: bool,
) -> Setting:
    newest = published.definitions if published else None
    own = rules.definitions if rules else newest
    keyword = EnterpriseRouter(newest).by_keyword(turn.text) if newest else None
    return Setting(
        locale=conversation.locale,
        confidence_threshold=newest.router.confidence_threshold if newest else 1.0,
        phrases=own.router.confirmation_phrases if own else {},
        keyword_intent=keyword,
        can_retry=can_retry,
    )


@dataclass(slots=True)
class Reader:
    """Asks the model about one turn, and remembers every call as evidence."""

    model: LanguageModel
    situation: Situation
    calls: list[dict[str, Any]] = field(default_factory=list)
    evidence: dict[str, Any] = field(default_factory=dict)
    extracted: dict[str, Extraction | Failed] = field(default_factory=dict)

    def extraction(self) -> Extraction | Failed:
        """Read the pending parameters of the active transaction."""
        transaction, rules = self.situation.transaction, self.situation.rules
        if transaction is None or rules is None:
            return Failed(EXTRACTION)
        return self.extraction_for(rules, transaction.known)

    def extraction_for(self, rules: Rules, known: Mapping[str, JSON]) -> Extraction | Failed:
        """Read what ``rules.tool`` still misses; one call per tool and turn (runtime.md §6)."""
        name = rules.tool.name
        if name not in self.extracted:
            pending = missing(rules.policy.requires, known)
            self.extracted[name] = self._extract(EXTRACTION, rules, pending, known)
        return self.extracted[name]

    def auxiliary_for(self, rules: Rules, known: Mapping[str, JSON]) -> Mapping[str, JSON] | Failed:
        """Read auxiliary arguments whose mapping asks the model; never a field in ``requires`` (runtime.md §3)."""
        asked = {
            extract.field: extract
            for extract in rules.definitions.mapping(rules.tool.name).extract
            if extract.strategy is Strategy.LLM
            and extract.field not in rules.policy.requires
            and extract.field not in known
            and rules.tool.argument(extract.field) is not None
        }
        if not asked:
            return {}
        locale = self.situation.conversation.locale
        hints = {name: extract.description.in_locale(locale) for name, extract in asked.items()}
        found = self._extract(AUXILIARY, rules, tuple(asked), known, hints=hints)
        return found if isinstance(found, Failed) else found.values

    def _extract(
        self,
        component: str,
        rules: Rules,
        pending: tuple[str, ...],
        known: Mapping[str, JSON],
        *,
        hints: Mapping[str, str] | None = None,
    ) -> Extraction | Failed:
        message, last = self.situation.turn.text, self.situation.last_assistant
        locale = self.situation.conversation.locale
        request = extraction_request(
            rules.tool,
            pending,
            known,
            message=message,
            last_assistant_message=last,
            locale=locale,
            hints=hints or {},
        )
        answer = self._ask(component, request, extraction_schema(rules.tool, pending), rules)
        if isinstance(answer, Failed):
            return answer
        read = read_extraction(
            answer.value, rules.tool, pending, message=message, last_assistant_message=last, locale=locale
        )
        if isinstance(read, Unreadable):
            return self._unreadable(component, read)
        self.evidence[component] = {
            "kind": read.kind,
            "values": dict(read.values),
            "dropped": dict(read.dropped),
        }
        return read

    def reply(self) -> ReplyReading | Failed:
        """Read the text against the open confirmation."""
        transaction, rules, confirmation = (
            self.situation.transaction,
            self.situation.rules,
            self.situation.confirmation,
        )
        if transaction is None or rules is None or confirmation is None:
            return Failed(REPLY)
        known = {name: transaction.known[name] for name in rules.policy.requires if name in transaction.known}
        request = reply_request(
            tool=rules.tool,
            message=self.situation.turn.text,
            confirmation_text=confirmation.text,
            items=confirmation.items,
            parameters=known,
            locale=self.situation.conversation.locale,
        )
        answer = self._ask(REPLY, request, reply_schema(rules.tool, tuple(known)), rules)
        if isinstance(answer, Failed):
            return answer
        read = read_reply(answer.value)
        if isinstance(read, Unreadable):
            return self._unreadable(REPLY, read)
        self.evidence[REPLY] = {
            "kind": read.kind,
            "keep_item_keys": read.keep_item_keys,
            "values": dict(read.values),
            "question": read.question,
        }
        return read

    def routing(self) -> Routing | Failed:
        """Ask the EnterpriseRouter's model."""
        if self.situation.published is None:
            return Routing(decision="none", intent=None, confidence=0.0, values={}, reason="nothing is published")
        router = self.situation.router
        active = self._active()
        request = routing_request(
            self.situation.turn.text,
            active=active,
            intents=router.intents,
            last_assistant_message=self.situation.last_assistant,
            locale=self.situation.conversation.locale,
        )
        tool = self.situation.rules.tool if self.situation.rules else None
        known = dict(active.known) if active else {}
        schema = routing_schema(router.intents, tool, tuple(known))
        answer = self._ask(ROUTING, request, schema, self.situation.rules)
        if isinstance(answer, Failed):
            return answer
        read = read_routing(answer.value, intents=router.intents)
        if isinstance(read, Unreadable):
            return self._unreadable(ROUTING, read)
        self.evidence[ROUTING] = {
            "decision": read.decision,
            "intent": read.intent,
            "confidence": read.confidence,
            "reason": read.reason,
        }
        return self._with_grounded_values(read)

    def _active(self) -> ActiveTransaction | None:
        transaction, rules = self.situation.transaction, self.situation.rules
        if transaction is None or rules is None:
            return None
        known = {name: transaction.known[name] for name in rules.policy.requires if name in transaction.known}
        return ActiveTransaction(
            tool=rules.tool,
            status=Status(transaction.status),
            known=known,
            pending=missing(rules.policy.requires, transaction.known),
        )

    def _with_grounded_values(self, routing: Routing) -> Routing:
        """Corrections of known parameters, grounded and coerced alike (runtime.md §6.2)."""
        transaction, rules = self.situation.transaction, self.situation.rules
        values: Mapping[str, JSON] = {}
        if routing.values and transaction is not None and rules is not None:
            names = tuple(name for name in rules.policy.requires if name in transaction.known)
            values = self._grounded(rules, routing.values, transaction.known, names)
        return Routing(
            decision=routing.decision,
            intent=routing.intent,
            confidence=routing.confidence,
            values=values,
            reason=routing.reason,
        )

    def _grounded(
        self, rules: Rules, values: Mapping[str, JSON], known: Mapping[str, JSON], names: tuple[str, ...]
    ) -> Mapping[str, JSON]:
        """Changes of ``known``: an addition repeats what is known (§6.5); a value that stays as it was is none.

        Unless the message names an item of it that is left out as ineligible: that is looked at anew.
        """
        read = read_values(
            values,
            rules.tool,
            names,
            message=self.situation.turn.text,
            last_assistant_message=self.situation.last_assistant,
            locale=self.situation.conversation.locale,
            known=known,
        )
        changed = {name: value for name, value in read.items() if value != known[name]}
        return changed or (read if self._names_what_is_left_out() else {})

    def _names_what_is_left_out(self) -> bool:
        confirmation = self.situation.confirmation
        left_out = [item["label"] for item in confirmation.items if not item["eligible"]] if confirmation else []
        said = set(tokens(self.situation.turn.text))
        return any(said.issuperset(named) for label in left_out if (named := tokens(label)))

    def grounded_changes(self, values: Mapping[str, JSON]) -> Mapping[str, JSON]:
        """Changed parameters that a reply to the confirmation named."""
        rules, transaction = self.situation.rules, self.situation.transaction
        if rules is None or transaction is None:
            return {}
        names = tuple(name for name in rules.policy.requires if name in transaction.known)
        return self._grounded(rules, values, transaction.known, names)

    def _ask(
        self, component: str, request: Mapping[str, JSON], schema: Mapping[str, JSON], rules: Rules | None
    ) -> Completion | Failed:
        definitions = rules.definitions if rules else self.situation.router.definitions
        answer = self.model.complete(component, request, schema, profiles=definitions.profiles)
        self._keep(component, str(request.get("tool", "")), answer)
        is_ok = isinstance(answer, Completion)
        call = {"component": component, "profile": answer.profile, "ms": answer.ms, "ok": is_ok}
        if isinstance(answer, Completion):
            self.calls.append({**call, "model": answer.model, "prompt_version": answer.prompt_version})
            return answer
        self.calls.append({**call, "reason": answer.reason})
        return Failed(component)

    def _keep(self, component: str, tool: str, answer: Completion | Unavailable) -> None:
        """The answer as it came, with what is dropped of it: other definitions may read it another way."""
        kept = {"component": component, "tool": tool, "profile": answer.profile}
        if isinstance(answer, Completion):
            kept |= {"value": answer.value, "prompt_version": answer.prompt_version}
        else:
            kept |= {"failure": answer.reason}
        self.evidence.setdefault("readings", []).append(kept)

    def _unreadable(self, component: str, read: Unreadable) -> Failed:
        self.calls[-1].update(ok=False, reason=read.reason)
        return Failed(component)
