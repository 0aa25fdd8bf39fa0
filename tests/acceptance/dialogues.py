"""The ten demo dialogues as data: what is said in both languages, and the events that must follow.

``events`` lists kinds in the order of ``seq``; ``items.progress`` may come any number of times and is not listed.
Each expectation names what the event's data must hold; ``eligible_items`` maps labels to eligibility, ``counts``
is total/succeeded/failed/unknown/excluded, ``statuses`` maps labels to item statuses.
"""

from dataclasses import dataclass, field
from typing import Any

SERVICES = ("Música Mais Mensal", "Livros Falados Premium", "Craque 10")
CANCEL_SERVICES, LIST_SERVICES = "cancelar_vas_avulso", "listar_servicos"
CANCEL_ORDERS, RETURN_ORDER = "cancelar_pedidos", "solicitar_devolucao"


@dataclass(frozen=True, slots=True)
class Expected:
    kind: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Said:
    """One turn. ``button`` presses the newest confirmation (``first``: the first one) instead of saying a text."""

    pt: str = ""
    en: str = ""
    events: tuple[Expected, ...] = ()
    button: str = ""
    on: str = "newest"
    error: str = ""
    text_has: tuple[str, ...] = ()
    text_lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialogue:
    number: str
    title: str
    turns: tuple[Said, ...]
    executed: bool = True
    """Whether a transactional tool ran at all."""


def expect(kind: str, **data: Any) -> Expected:
    return Expected(kind, data)


USER = expect("user.message")


def started(tool: str) -> Expected:
    return expect("transaction.started", tool=tool)


def asked(parameter: str) -> Expected:
    return expect("parameters.requested", parameter=parameter)


def validated(count: int, *, eligible: bool = True, **items: bool) -> Expected:
    return expect("pre_validation.finished", eligible=eligible, item_count=count, **items)


def confirmation(count: int, **data: Any) -> Expected:
    return expect("confirmation.requested", item_count=count, **data)


def answered(decision: str, by: str) -> Expected:
    return expect("confirmation.answered", decision=decision, by=by)


RUNS = expect("execution.started", attempt=1)


def finished(status: str, **data: Any) -> Expected:
    return expect("transaction.finished", status=status, **data)


DIALOGUES = (
    Dialogue(
        "1",
        "all succeed",
        (
            Said(
                "quero cancelar serviço: Música Mais, Livros Falados e Craque 10",
                "please cancel Música Mais, Livros Falados and Craque 10",
                (USER, started(CANCEL_SERVICES), validated(3), confirmation(3, eligible_labels=SERVICES)),
            ),
            Said(
                "sim",
                "yes",
                (
                    USER,
                    answered("confirm", "text"),
                    RUNS,
                    finished("SUCCESS", multi_item_status="SUCCESS", counts="3/3/0/0/0", protocols=3),
                ),
                text_has=SERVICES,
            ),
        ),
    ),
    Dialogue(
        "2",
        "part succeeds",
        (
            Said(
                "quero cancelar pedidos",
                "I want to cancel some orders",
                (USER, started(CANCEL_ORDERS), asked("order_ids")),
                text_lacks=("order_ids",),
            ),
            Said(
                "PED-1001, PED-1006 e PED-1002",
                "PED-1001, PED-1006 and PED-1002",
                (USER, validated(3), confirmation(3)),
            ),
            Said(
                button="confirm",
                events=(
                    answered("confirm", "button"),
                    RUNS,
                    finished(
                        "PARTIAL_SUCCESS",
                        multi_item_status="PARTIAL_SUCCESS",
                        counts="3/2/1/0/0",
                        statuses={"PED-1006": "FAILED", "PED-1001": "SUCCEEDED", "PED-1002": "SUCCEEDED"},
                        protocols=2,
                    ),
                ),
                text_has=("PED-1001", "PED-1006", "PED-1002"),
            ),
        ),
    ),
    Dialogue(
        "3",
        "all fail",
        (
            Said(
                "cancela os pedidos PED-1006 e PED-1007",
                "cancel orders PED-1006 and PED-1007",
                (USER, started(CANCEL_ORDERS), validated(2), confirmation(2)),
            ),
            Said(
                "pode cancelar, sim",
                "yes, go ahead",
                (
                    USER,
                    answered("confirm", "text"),
                    RUNS,
                    finished("FAILED", multi_item_status="FAILED", counts="2/0/2/0/0"),
                ),
                text_has=("PED-1006", "PED-1007"),
                text_lacks=("sucesso", "success"),
            ),
        ),
    ),
    Dialogue(
        "4",
        "partly eligible",
        (
            Said(
                "tira da minha conta a Música Mais, o Tela Kids e o Craque 10",
                "take Música Mais, Tela Kids and Craque 10 off my bill",
                (
                    USER,
                    started(CANCEL_SERVICES),
                    validated(3),
                    confirmation(
                        3,
                        eligible_labels=("Música Mais Mensal", "Craque 10"),
                        reasons={"Tela Kids": "fidelidade_ate_30_06"},
                    ),
                ),
                text_has=("Tela Kids",),
            ),
            Said(
                "sim",
                "yes",
                (
                    USER,
                    answered("confirm", "text"),
                    RUNS,
                    finished("PARTIAL_SUCCESS", counts="3/2/1/0/0", statuses={"Tela Kids": "INELIGIBLE"}),
                ),
            ),
        ),
    ),
    Dialogue(
        "5",
        "none eligible",
        (
            Said(
                "quero cancelar pedido PED-1004 e PED-1005",
                "cancel orders PED-1004 and PED-1005",
                (
                    USER,
                    started(CANCEL_ORDERS),
                    validated(2, eligible=False),
                    finished(
                        "REFUSED", multi_item_status="", reasons={"PED-1004": "ja_entregue", "PED-1005": "ja_enviado"}
                    ),
                ),
            ),
            Said("sim", "yes", (USER, expect("assistant.message"))),
        ),
        executed=False,
    ),
    Dialogue(
        "6",
        "all but the second",
        (
            Said(
                "cancelar serviços Música Mais, Livros Falados e Craque 10",
                "cancel the services Música Mais, Livros Falados and Craque 10",
                (USER, started(CANCEL_SERVICES), validated(3), confirmation(3)),
            ),
            Said(
                "todos menos o segundo",
                "all but the second one",
                (USER, validated(2), expect("confirmation.requested")),
                text_has=("Música Mais Mensal", "Craque 10"),
            ),
            Said(button="confirm", on="first", error="confirmation_closed"),
            Said(
                "isso, confirmo",
                "yes, I confirm",
                (
                    USER,
                    answered("confirm", "text"),
                    RUNS,
                    finished("SUCCESS", counts="3/2/0/0/1", statuses={"Livros Falados Premium": "EXCLUDED"}),
                ),
            ),
        ),
    ),
    Dialogue(
        "7",
        "correction before confirming",
        turns=(
            Said(
                "quero devolver um pedido",
                "I want to return an order",
                (
                    USER,
                    started(RETURN_ORDER),
                    expect("parameters.requested", parameter="order_id", pending=["order_id", "reason"]),
                ),
            ),
            Said("PED-1004, ficou apertado", "PED-1004, it's too tight", (USER, expect("confirmation.requested"))),
            Said(
                "na verdade é o PED-1008",
                "actually it's PED-1008",
                (USER, expect("confirmation.requested")),
                text_has=("PED-1008",),
                text_lacks=("PED-1004",),
            ),
            Said(
                "sim",
                "yes",
                (
                    USER,
                    answered("confirm", "text"),
                    RUNS,
                    finished("SUCCESS", multi_item_status="", counts="1/1/0/0/0"),
                ),
            ),
        ),
    ),
    Dialogue(
        "8",
        "intent shift while collecting",
        (
            Said(
                "quero cancelar serviço",
                "I want to cancel a service",
                (USER, started(CANCEL_SERVICES), asked("subject")),
            ),
            Said(
                "antes disso, quais são os meus serviços ativos?",
                "first, which add-ons am I paying for?",
                (USER, finished("ABANDONED"), started(LIST_SERVICES), RUNS, finished("SUCCESS")),
            ),
            Said(
                "então cancelar serviço Craque 10",
                "then cancel Craque 10",
                (USER, started(CANCEL_SERVICES), validated(1), confirmation(1)),
            ),
        ),
        executed=False,
    ),
    Dialogue(
        "8b",
        "a value beats an intent shift",
        (
            Said(
                "quero cancelar serviço",
                "I want to cancel a service",
                (USER, started(CANCEL_SERVICES), asked("subject")),
            ),
            Said(
                "o Craque 10, e depois quero ver os meus serviços",
                "Craque 10, and then show me my add-ons",
                (USER, validated(1), confirmation(1)),
            ),
        ),
        executed=False,
    ),
    Dialogue(
        "9",
        "rejection, with an ambiguous word",
        (
            Said(
                "cancelar pedidos PED-1001 e PED-1002",
                "cancel orders PED-1001 and PED-1002",
                (USER, started(CANCEL_ORDERS), validated(2), confirmation(2)),
            ),
            Said("cancelar", "cancel", (USER, expect("assistant.message"))),
            Said("não", "no", (USER, answered("reject", "text"), finished("CANCELLED"))),
        ),
        executed=False,
    ),
    Dialogue(
        "10",
        "retry of the failed ones",
        turns=(
            Said(
                "cancelar pedidos PED-1003, PED-1006 e PED-1007",
                "cancel orders PED-1003, PED-1006 and PED-1007",
                (USER, started(CANCEL_ORDERS), validated(3), confirmation(3)),
            ),
            Said(
                "sim",
                "yes",
                (USER, answered("confirm", "text"), RUNS, finished("PARTIAL_SUCCESS", counts="3/1/2/0/0")),
            ),
            Said(button="retry", events=(started(CANCEL_ORDERS), validated(2), confirmation(2))),
            Said(
                "sim",
                "yes",
                (
                    USER,
                    answered("confirm", "text"),
                    RUNS,
                    finished("SUCCESS", multi_item_status="SUCCESS", counts="2/2/0/0/0"),
                ),
            ),
        ),
    ),
)
