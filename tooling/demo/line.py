"""The services on the line of every customer of the server contas, and which of them a sentence means."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tooling.demo.words import folded, is_among


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    category: str
    price: str
    since: str
    locked: str = ""
    """Why it cannot be cancelled; empty where it can."""

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(folded(self.name).split())


LINE = (
    Service("Música Mais Mensal", "música", "R$ 9,90", "2025-02-11"),
    Service("Livros Falados Premium", "leitura", "R$ 14,90", "2024-11-03"),
    Service("Craque 10", "esporte", "R$ 4,99", "2025-06-20"),
    Service("Tela Kids", "vídeo", "R$ 19,90", "2026-07-01", locked="fidelidade_ate_30_06"),
)
ELSEWHERE = (Service("Horóscopo do Dia", "leitura", "R$ 3,99", ""),)
"""Sold, but not on the line."""

_SEPARATORS = re.compile(r"[,;+/&\n]|\b(?:e|and|mais o|mais a|também|além d[eoa])\b", re.IGNORECASE)
_FILLERS = frozenset(
    folded(
        """
        o a os as um uma de do da dos das no na meu minha meus minhas esse essa este esta aquele aquela tal por favor
        quero cancelar cancela cancele tirar tira tire remover remova pra para mim só apenas
        serviço serviços assinatura pacote plano adicional conta linha
        the my this that i want to please cancel remove drop take off from of only just
        service services subscription add on ons addon addons plan bill line account
        """
    ).split()
)
_ALL = frozenset(("tudo", "todos", "todas", "all", "everything"))


def by_name(name: str) -> Service | None:
    return next((service for service in LINE if folded(service.name) == folded(name)), None)


def meant_by(sentence: str) -> list[str]:
    """The names of the services that ``sentence`` cites, in its order and each once.

    What is sold nowhere is named by the customer's own words. Empty where nothing is cited at all.
    """
    names: list[str] = []
    for part in _SEPARATORS.split(sentence):
        names += _named_in(part)
    return list(dict.fromkeys(names))


def _named_in(part: str) -> list[str]:
    said = tuple(word for word in folded(part).split() if word not in _FILLERS)
    if not said:
        return []
    if set(said) <= _ALL:
        return [service.name for service in LINE]
    known = [service for service in (*LINE, *ELSEWHERE) if _cites(said, service)]
    return [service.name for service in known] or [_own_words(part)]


def _cites(said: tuple[str, ...], service: Service) -> bool:
    """Every word said is of the service's name, or the first and at least half of its words were said."""
    if all(is_among(word, service.words) for word in said):
        return True
    heard = [word for word in service.words if is_among(word, said)]
    return service.words[0] in heard and 2 * len(heard) >= len(service.words) and len(heard) > 1


def _own_words(part: str) -> str:
    """``part`` without the small words around it."""
    words = part.strip(" .!?\"'").split()
    while len(words) > 1 and folded(words[0]) in _FILLERS:
        words = words[1:]
    return " ".join(words)
