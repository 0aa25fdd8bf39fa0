"""The closed word lists of the runtime, per language: answers to a confirmation, escapes and references.

Written as people write them; whoever compares folds both sides (``folding.fold``). None of them names a thing of
any domain: they are the yes, the no, the "never mind" and the "that one" of a language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tooling.specs import Phrases

FALLBACK_LANGUAGE = "en"
"""The language whose lists serve a locale that has none."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHIPPED: Mapping[str, Phrases] = {
    "pt": Phrases(
        confirm=(
            "sim",
            "confirmo",
            "sim confirmo",
            "pode",
            "pode confirmar",
            "pode fazer",
            "pode prosseguir",
            "isso",
            "isso mesmo",
            "isso confirmo",
            "ok",
            "certo",
            "claro",
            "com certeza",
        ),
        reject=(
            "não",
            "não confirmo",
            "não quero",
            "não obrigado",
            "melhor não",
            "deixa pra lá",
            "desisto",
        ),
    ),
    "en": Phrases(
        confirm=("yes", "yes please", "yes I confirm", "confirm", "go ahead", "ok", "sure", "correct"),
        reject=("no", "no thanks", "don't", "never mind", "stop"),
    ),
}
"""The explicit answers of runtime.md §6.4, by language; a release adds its own."""


RETRIES: Mapping[str, tuple[str, ...]] = {
    "pt": (
        "tentar de novo",
        "tente de novo",
        "tenta de novo",
        "tentar novamente",
        "tente novamente",
        "tenta novamente",
        "tentar outra vez",
        "tente outra vez",
        "tenta outra vez",
        "quero tentar de novo",
        "pode tentar de novo",
        "tentar de novo o que falhou",
        "tente de novo o que falhou",
        "tenta de novo o que falhou",
        "quero tentar de novo o que falhou",
        "tentar novamente o que falhou",
        "tente novamente o que falhou",
        "repetir o que falhou",
        "repita o que falhou",
        "repete o que falhou",
    ),
    "en": (
        "try again",
        "please try again",
        "try it again",
        "try that again",
        "try again what failed",
        "try what failed again",
        "try the failed ones again",
        "retry",
        "retry it",
        "retry what failed",
        "retry the failed ones",
        "repeat what failed",
    ),
}
"""Whole messages that ask for what failed to be tried again (runtime.md §9.5), by language."""


@dataclass(frozen=True, slots=True)
class Hedges:
    """Words that take back, narrow or delay a yes that came before them."""

    negations: frozenset[str]
    limits: frozenset[str]
    """Leaving something out, waiting, doubting: anywhere after the yes."""
    conditions: frozenset[str]
    """Words like "if": in the clause of the yes, or opening a later one."""
    conjunctions: frozenset[str]
    """Words that open a new clause without punctuation."""
    tentative: frozenset[str]
    """Words that make the yes right before them a maybe."""


HEDGES: Mapping[str, Hedges] = {
    "pt": Hedges(
        negations=_words("nao n nunca jamais nem nenhum nenhuma"),
        limits=_words(
            "sem menos exceto salvo fora tirando so somente apenas espera espere esperar perai calma "
            "aguarde aguarda talvez acho depende esquece esquecer deixa deixar parar pare"
        ),
        conditions=_words("se caso desde"),
        conjunctions=_words("e mas porem"),
        tentative=frozenset({"ser"}),
    ),
    "en": Hedges(
        negations=_words("no not dont doesnt didnt never none cannot cant wont nor neither nope"),
        limits=_words(
            "without except excluding minus only just wait hold maybe perhaps depends guess forget leave stop"
        ),
        conditions=_words("if unless once provided"),
        conjunctions=_words("and but however"),
        tentative=frozenset(),
    ),
}


@dataclass(frozen=True, slots=True)
class Escape:
    """Words with which a request is dropped, and the beginnings of words that name an operation likewise."""

    words: frozenset[str]
    names: tuple[str, ...]


ESCAPES: tuple[Escape, ...] = (
    Escape(
        _words(
            "cancela cancelar cancele cancelem cancelo cancelado cancelamento cancelando cancel "
            "cancelled canceled cancellation cancelling"
        ),
        ("cancel",),
    ),
    Escape(_words("desisto desistir desisti desista desistencia"), ("desist",)),
    Escape(_words("stop pare parar para parem parou"), ("stop", "parar", "parad", "paralis")),
    Escape(_words("encerra encerrar encerre encerro"), ("encerr",)),
    Escape(_words("sair sai saia saio quit exit leave"), ("sair", "saida", "quit", "exit", "leav")),
    Escape(_words("interrompe interromper interrompa interrupt"), ("interr",)),
    Escape(_words("aborta abortar aborte abort"), ("abort",)),
    Escape(_words("abandona abandonar abandono abandon"), ("abandon",)),
    Escape(_words("desfaz desfazer desfaca undo"), ("desfaz", "desfaca", "desfeit", "undo")),
    Escape(
        _words("recuso recusar recusa rejeito rejeitar rejeita reject decline"),
        ("recus", "rejeit", "reject", "declin"),
    ),
)
"""What may name both the escape and the operation of an open question (runtime.md §6.4)."""

FILLERS = _words(
    "por favor pf pfv isso isto esse essa ai entao agora logo ja tudo eu quero queria vou "
    "gostaria de o a please pls it that this them all everything now then i want wanna to "
    "would like id the"
)
"""Words that may stand around an escape word without giving it a direction."""


@dataclass(frozen=True, slots=True)
class References:
    """Words of a message that only points at what was said before it."""

    pointing: frozenset[str]
    """Demonstratives, ordinals, "both", "all": they choose."""
    around: frozenset[str]
    """Closed-class words that may stand around what chooses."""


REFERENCES: Mapping[str, References] = {
    "pt": References(
        pointing=_words(
            "esse essa esses essas este esta estes estas isso isto aquele aquela aqueles aquelas "
            "aquilo mesmo mesma mesmos mesmas primeiro primeira segundo segunda terceiro terceira "
            "quarto quarta quinto quinta sexto sexta setimo setima oitavo oitava nono nona decimo "
            "decima ultimo ultima penultimo penultima ambos ambas dois duas tres todos todas"
        ),
        around=_words(
            "o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela com para pra "
            "pro e eh ou que eu me ele ela eles elas ser seria sao quero queria prefiro escolho "
            "gostaria pode sim ok certo claro entao desculpa desculpe verdade favor ai ali la"
        ),
    ),
    "en": References(
        pointing=_words(
            "this that these those it them same first second third fourth fifth sixth seventh eighth "
            "ninth tenth last both all two three"
        ),
        around=_words(
            "the a an one ones of for with at in on to and or is was are s d ll i me my would like "
            "want prefer take please yes ok sure sorry actually then be let"
        ),
    ),
}
