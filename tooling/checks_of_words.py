"""Words that lead to more than one place: keywords, examples, and phrases that answer a confirmation.

All of them are doubts: the runtime has a rule for each (runtime.md §3, §6.4, §6.8), and a person should know which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from tooling.findings import Findings, note, warning
from tooling.folding import fold, tokens
from tooling.specs import Definitions, IntentSpec, Phrases, ToolSpec

LONGEST = 30
"""Words; nobody says a longer keyword, and none is looked for inside one."""
MOST_NAMED = 10
Words = tuple[str, ...]


def doubts_of_words(definitions: Definitions) -> Findings:
    intents = [intent for intent in definitions.intents.values() if intent.enabled]
    winners = _winners(intents)
    yield from _check_keywords(intents, winners)
    yield from _check_examples(intents)
    yield from _check_selection(intents, definitions.tools)
    yield from _check_phrases(definitions.router.confirmation_phrases, winners)


# Keywords of intents ------------------------------------------------------------------------------


def _winners(intents: Sequence[IntentSpec]) -> dict[Words, IntentSpec]:
    """A keyword's words → the intent that a message with just these words gets."""
    winners: dict[Words, IntentSpec] = {}
    for intent in sorted(intents, key=lambda one: (one.priority, one.name)):
        for keyword in intent.keywords:
            winners.setdefault(tokens(keyword), intent)
    return winners


def _check_keywords(intents: Sequence[IntentSpec], winners: Mapping[Words, IntentSpec]) -> Findings:
    longer = _longer(intents, winners)
    for intent in intents:
        for number, keyword in enumerate(intent.keywords):
            path = ("intents", intent.name, "keywords", str(number))
            words = tokens(keyword)
            if not words:
                if keyword.strip():
                    message = f'keyword "{keyword}" has neither letters nor digits; no message matches it'
                    yield warning("intent.keyword_wordless", message, path)
                continue
            winner = winners[words]
            if winner.name != intent.name:
                is_first = winner.priority < intent.priority
                why = "its priority number is lower" if is_first else "its name comes first"
                message = f'keyword "{keyword}" is also one of intent "{winner.name}", which gets the message: {why}'
                yield warning("intent.keyword_twice", message, path)
            for other, longest in longer.get(words, ()):
                if other != intent.name:
                    message = f'a message with "{longest}" goes to intent "{other}": its keyword is longer'
                    yield note("intent.keyword_inside", message, path)
                    break


def _longer(intents: Sequence[IntentSpec], winners: Mapping[Words, IntentSpec]) -> dict[Words, list[tuple[str, str]]]:
    """A keyword's words → (intent, keyword) of longer keywords that they stand in; two intents at most."""
    found: dict[Words, list[tuple[str, str]]] = {}
    for intent in intents:
        for keyword in intent.keywords:
            for part in filter(winners.__contains__, _parts(tokens(keyword))):
                known = found.setdefault(part, [])
                if len(known) < 2 and all(name != intent.name for name, _ in known):
                    known.append((intent.name, keyword))
    return found


def _parts(words: Words) -> Iterator[Words]:
    """The runs of adjacent words inside ``words``, without themselves."""
    if len(words) <= LONGEST:
        for start, end in combinations(range(len(words) + 1), 2):
            if end - start < len(words):
                yield words[start:end]


# Examples -----------------------------------------------------------------------------------------


def _check_examples(intents: Sequence[IntentSpec]) -> Findings:
    first: dict[Words, IntentSpec] = {}
    for intent in intents:
        for number, example in enumerate(intent.examples):
            words = tokens(example)
            other = first.setdefault(words, intent)
            if words and other.name != intent.name:
                message = f'example "{example}" is also one of intent "{other.name}"; it tells nobody which is meant'
                yield warning("intent.example_twice", message, ("intents", intent.name, "examples", str(number)))


# Selection keywords of tools ----------------------------------------------------------------------


def _check_selection(intents: Sequence[IntentSpec], tools: Mapping[str, ToolSpec]) -> Findings:
    told: set[tuple[str, str]] = set()
    for intent in intents:
        named = [tools[name] for name in dict.fromkeys(intent.mcp_tools) if name in tools and tools[name].enabled]
        silent = [tool.name for tool in named if not tool.selection_keywords]
        if len(silent) > 1:
            more = "…" if len(silent) > MOST_NAMED else ""
            message = (
                f'intent "{intent.name}" has more than one tool without selection keywords: '
                f"{', '.join(silent[:MOST_NAMED])}{more}; the customer is asked which, and no answer can choose"
            )
            yield warning("intent.tools_alike", message, ("intents", intent.name, "mcp_tools"))
        yield from _check_alike(intent, named, told)


def _check_alike(intent: IntentSpec, named: Sequence[ToolSpec], told: set[tuple[str, str]]) -> Findings:
    """Each selection keyword of two tools of one intent, told at the second of them; once, whatever the intents."""
    first: dict[Words, ToolSpec] = {}
    for tool in named:
        for number, keyword in enumerate(tool.selection_keywords):
            other = first.setdefault(tokens(keyword), tool)
            if not tokens(keyword) or other.name == tool.name or (tool.name, keyword) in told:
                continue
            told.add((tool.name, keyword))
            message = (
                f'selection keyword "{keyword}" is also one of {other.name}: who says it to intent '
                f'"{intent.name}" is asked which is meant, and the same words do not choose'
            )
            yield warning("tool.keyword_twice", message, ("tools", tool.name, "selection_keywords", str(number)))


# Phrases of confirmations -------------------------------------------------------------------------


def _check_phrases(lists: Mapping[str, Phrases], winners: Mapping[Words, IntentSpec]) -> Findings:
    rejected: dict[str, set[Words]] = {}
    for locale, phrases in lists.items():
        rejected.setdefault(_language(locale), set()).update(tokens(phrase) for phrase in phrases.reject)
    for locale, phrases in lists.items():
        same = {phrase.strip().casefold() for phrase in phrases.reject}
        for number, phrase in enumerate(phrases.confirm):
            words, path = tokens(phrase), ("router", "confirmation_phrases", locale, "confirm", str(number))
            if not words or phrase.strip().casefold() in same:
                continue
            if words in rejected[_language(locale)]:
                message = f'"{phrase}" is among the rejecting phrases, too, with other accents or case: it rejects'
                yield warning("router.phrase_rejects", message, path)
            asked = next((winners[part] for part in (words, *_parts(words)) if part in winners), None)
            if asked is not None:
                message = f'"{phrase}" confirms what is open, although customers ask with it for intent "{asked.name}"'
                yield warning("router.phrase_keyword", message, path, needs_tick=True)


def _language(locale: str) -> str:
    return fold(locale).replace("_", "-").split("-")[0]
