"""What the chat says by itself, in Brazilian Portuguese and English; filled in by core/reply.py (runtime.md §10)."""

from __future__ import annotations

from collections.abc import Mapping

PORTUGUESE, ENGLISH = "pt-BR", "en"

TEXTS: Mapping[str, Mapping[str, str]] = {
    # Heads of a result. One text for one, one for several: "name" and "name.many".
    "success": {
        PORTUGUESE: "Pronto, concluído!",
        ENGLISH: "All done!",
    },
    "success.many": {
        PORTUGUESE: "Pronto! Os {total} itens foram concluídos.",
        ENGLISH: "All done! The {total} items are complete.",
    },
    "done": {
        PORTUGUESE: "{succeeded} de {total} concluído",
        ENGLISH: "{succeeded} of {total} done",
    },
    "done.many": {
        PORTUGUESE: "{succeeded} de {total} concluídos",
        ENGLISH: "{succeeded} of {total} done",
    },
    "not_done": {
        PORTUGUESE: "{failed} não foi possível",
        ENGLISH: "{failed} did not go through",
    },
    "not_done.many": {
        PORTUGUESE: "{failed} não foram possíveis",
        ENGLISH: "{failed} did not go through",
    },
    "checking": {
        PORTUGUESE: "{unknown} está sendo verificado",
        ENGLISH: "{unknown} is being verified",
    },
    "checking.many": {
        PORTUGUESE: "{unknown} estão sendo verificados",
        ENGLISH: "{unknown} are being verified",
    },
    "verifying": {
        PORTUGUESE: "Ainda não sei o resultado: está sendo verificado. Nada será executado duas vezes.",
        ENGLISH: "I do not know the result yet: it is being verified. Nothing will be carried out twice.",
    },
    "verifying.rest": {
        PORTUGUESE: "O resultado que falta será informado aqui quando for conhecido; nada será executado duas vezes.",
        ENGLISH: "The missing result will be told here once it is known; nothing will be carried out twice.",
    },
    "found": {PORTUGUESE: "Encontrei isto:", ENGLISH: "Here is what I found:"},
    "found.many": {PORTUGUESE: "Encontrei {total} itens:", ENGLISH: "Here are the {total} items I found:"},
    "not_found_out": {PORTUGUESE: "não consegui consultar", ENGLISH: "I could not look it up"},
    "yes": {PORTUGUESE: "sim", ENGLISH: "yes"},
    "no": {PORTUGUESE: "não", ENGLISH: "no"},
    "failed": {
        PORTUGUESE: "Desculpe, não foi possível atender à sua solicitação.",
        ENGLISH: "Sorry, your request did not go through.",
    },
    "failed.many": {
        PORTUGUESE: "Desculpe, não foi possível atender nenhum dos {total} itens.",
        ENGLISH: "Sorry, none of the {total} items went through.",
    },
    "left_out": {
        PORTUGUESE: "{excluded} ficou de fora",
        ENGLISH: "{excluded} was left out",
    },
    "left_out.many": {
        PORTUGUESE: "{excluded} ficaram de fora",
        ENGLISH: "{excluded} were left out",
    },
    # Heads where nothing was executed.
    "nothing_done": {
        PORTUGUESE: "Não foi possível seguir com a sua solicitação, e nada foi feito.",
        ENGLISH: "I could not go ahead with your request, and nothing was done.",
    },
    "cancelled": {
        PORTUGUESE: "Tudo bem, nada foi feito. Se precisar, é só chamar.",
        ENGLISH: "All right, nothing was done. I am here if you need anything else.",
    },
    "empty_set": {
        PORTUGUESE: "Como não sobrou nenhum item na solicitação, nada foi feito.",
        ENGLISH: "As no item was left in the request, nothing was done.",
    },
    "abandoned": {
        PORTUGUESE: "Deixei a solicitação anterior de lado; nada foi feito.",
        ENGLISH: "I set the earlier request aside; nothing was done.",
    },
    "nothing_to_retry": {
        PORTUGUESE: "Não tenho nada que eu possa tentar de novo agora. "
        "Se quiser, faça o pedido outra vez com as suas palavras.",
        ENGLISH: "I have nothing that I could try again now. If you like, ask for it once more in your own words.",
    },
    "handed_over": {
        PORTUGUESE: "Ainda não foi possível confirmar o resultado do seu pedido. Uma pessoa vai verificar, "
        "e o resultado será informado aqui.",
        ENGLISH: "The result of your request could not be confirmed yet. A person will look into it, "
        "and the result will be told here.",
    },
    "came_before": {
        PORTUGUESE: "A sua mensagem “{message}” chegou antes desta pergunta, e por isso não a tomei como resposta. "
        "Responda à pergunta e, se ainda quiser, escreva de novo.",
        ENGLISH: "Your message “{message}” came before this question, so I did not take it as an answer. "
        "Please answer the question and, if you still want it, write again.",
    },
    "came_meanwhile": {
        PORTUGUESE: "A sua mensagem chegou enquanto eu ainda trabalhava; o que eu estava fazendo já terminou.",
        ENGLISH: "Your message came while I was still working; what I was doing is finished now.",
    },
    "parked": {
        PORTUGUESE: "Deixei de lado por enquanto: {request}. Pergunto de novo quando terminarmos.",
        ENGLISH: "I have set this aside for now: {request}. I will ask again when we are done.",
    },
    "parked.offer": {
        PORTUGUESE: "Uma solicitação sua ficou de lado: {request}. Quer voltar a ela?",
        ENGLISH: "A request of yours was set aside: {request}. Do you want to go back to it?",
    },
    "expires.confirmation": {
        PORTUGUESE: "Ainda espero a sua resposta: o pedido de confirmação vale só por mais {minutes} minuto. "
        "Sem resposta, nada será feito.",
        ENGLISH: "I am still waiting for your answer: the confirmation is open for {minutes} more minute only. "
        "Without an answer nothing will be done.",
    },
    "expires.confirmation.many": {
        PORTUGUESE: "Ainda espero a sua resposta: o pedido de confirmação vale só por mais {minutes} minutos. "
        "Sem resposta, nada será feito.",
        ENGLISH: "I am still waiting for your answer: the confirmation is open for {minutes} more minutes only. "
        "Without an answer nothing will be done.",
    },
    "expires.collecting": {
        PORTUGUESE: "Ainda espero a sua resposta: o pedido fica aberto só por mais {minutes} minuto. "
        "Depois disso ele expira e nada será feito.",
        ENGLISH: "I am still waiting for your answer: the request stays open for {minutes} more minute only. "
        "After that it expires and nothing will be done.",
    },
    "expires.collecting.many": {
        PORTUGUESE: "Ainda espero a sua resposta: o pedido fica aberto só por mais {minutes} minutos. "
        "Depois disso ele expira e nada será feito.",
        ENGLISH: "I am still waiting for your answer: the request stays open for {minutes} more minutes only. "
        "After that it expires and nothing will be done.",
    },
    "expired": {
        PORTUGUESE: "O prazo desta solicitação expirou e nada foi feito. Se ainda quiser, é só pedir de novo.",
        ENGLISH: "This request has expired and nothing was done. If you still want it, just ask again.",
    },
    "no_actionable_item": {
        PORTUGUESE: "Nenhum dos itens pode ser feito agora; nada foi feito.",
        ENGLISH: "None of the items can be done right now; nothing was done.",
    },
    "our_fault": {
        PORTUGUESE: "Não consegui preparar a sua solicitação por um problema do nosso lado, não por algo que você fez."
        " Nada foi feito; tente de novo daqui a pouco.",
        ENGLISH: "I could not prepare your request because of a problem on our side, not because of anything you did."
        " Nothing was done; please try again in a little while.",
    },
    "pre_validation_unavailable": {
        PORTUGUESE: "Não consegui verificar a sua solicitação agora por um problema do nosso lado,"
        " não por algo que você fez. Nada foi feito; tente de novo daqui a pouco.",
        ENGLISH: "I could not check your request just now because of a problem on our side, not because of anything"
        " you did. Nothing was done; please try again in a little while.",
    },
    "item_unsettled": {
        PORTUGUESE: "Um destes itens faz parte de uma solicitação anterior que ainda está sendo verificada."
        " Nada foi feito agora; assim que ela for resolvida, você pode pedir de novo.",
        ENGLISH: "One of these items is part of an earlier request that is still being verified."
        " Nothing was done now; you can ask again as soon as that is settled.",
    },
    "identity_required": {
        PORTUGUESE: "Para isso, preciso que você entre na sua conta. Nada foi feito; depois, é só pedir de novo.",
        ENGLISH: "For this I need you to sign in to your account. Nothing was done; just ask again afterwards.",
    },
    "too_many_items": {
        PORTUGUESE: "São itens demais para uma vez só; nada foi feito. Mande de novo só uma parte deles.",
        ENGLISH: "These are too many items for one go; nothing was done. Send a part of them again.",
    },
    "too_many_items.limit": {
        PORTUGUESE: "Consigo fazer no máximo {limit} por vez; nada foi feito. Mande de novo só uma parte, até {limit}.",
        ENGLISH: "I can do at most {limit} at a time; nothing was done. Send a part of them again, up to {limit}.",
    },
    "without_these": {
        PORTUGUESE: "Se quiser, posso seguir só com os outros: é só pedir sem os que não podem ser feitos.",
        ENGLISH: "If you like, I can go ahead with the others: just ask again without those that cannot be done.",
    },
    # One item.
    "item.SUCCEEDED": {PORTUGUESE: "concluído", ENGLISH: "done"},
    "item.FAILED": {PORTUGUESE: "não foi possível", ENGLISH: "did not go through"},
    "item.UNKNOWN": {PORTUGUESE: "sendo verificado", ENGLISH: "being verified"},
    "item.INELIGIBLE": {PORTUGUESE: "não pode ser feito", ENGLISH: "not possible"},
    "item.EXCLUDED": {PORTUGUESE: "ficou de fora desta vez", ENGLISH: "left out this time"},
    "item.NOT_EXECUTED": {PORTUGUESE: "não foi executado", ENGLISH: "was not carried out"},
    "item.PENDING": {PORTUGUESE: "não foi executado", ENGLISH: "was not carried out"},
    "item.IN_FLIGHT": {PORTUGUESE: "em andamento", ENGLISH: "in progress"},
    "item.number": {PORTUGUESE: "Item {number}", ENGLISH: "Item {number}"},
    "protocol": {PORTUGUESE: "protocolo {protocol}", ENGLISH: "reference {protocol}"},
    "reason": {PORTUGUESE: "Motivo: {reason}", ENGLISH: "Reason: {reason}"},
    "protocol.sentence": {PORTUGUESE: "Protocolo: {protocol}", ENGLISH: "Reference: {protocol}"},
    "unconfirmed": {
        PORTUGUESE: "Também recebi informação sobre algo que você não pediu e que não conta aqui: {labels}."
        " Nossa equipe vai conferir.",
        ENGLISH: "I was also told about something you did not ask for and that does not count here: {labels}."
        " Our team will look into it.",
    },
    "technical_problem": {PORTUGUESE: "houve um problema técnico", ENGLISH: "there was a technical problem"},
    # Asking.
    "confirm.items": {
        PORTUGUESE: "Antes de continuar, confira o que será feito:",
        ENGLISH: "Before I go on, please check what will be done:",
    },
    "confirm.question": {PORTUGUESE: "Você confirma?", ENGLISH: "Do you confirm?"},
    "confirm.left_out": {PORTUGUESE: "Fica de fora:", ENGLISH: "Left out:"},
    "confirm.left_out.many": {PORTUGUESE: "Ficam de fora:", ENGLISH: "Left out:"},
    "confirm.unvalidated": {
        PORTUGUESE: "Atenção: não consegui verificar a solicitação antes de perguntar; algo ainda pode não ser aceito.",
        ENGLISH: "Please note: I could not check this request beforehand, so some of it may still be turned down.",
    },
    "ask.about": {PORTUGUESE: "Para continuar, preciso saber: {what}.", ENGLISH: "To go on, I need to know: {what}."},
    "ask.more": {
        PORTUGUESE: "Pode me contar um pouco mais sobre o que você precisa?",
        ENGLISH: "Could you tell me a little more about what you need?",
    },
    "ask.which_meaning": {
        PORTUGUESE: "Só para eu não errar: você quer que eu siga com {what}, ou prefere deixar como está?"
        " Responda “sim” para seguir ou “não” para deixar.",
        ENGLISH: "Just so I get it right: shall I go ahead with {what}, or would you rather leave things as they are?"
        " Answer “yes” to go ahead or “no” to leave.",
    },
    "ask.which_meaning.what": {PORTUGUESE: "o que perguntei", ENGLISH: "what I asked about"},
    "ask.yes_or_no": {
        PORTUGUESE: "Não entendi isso como um sim ou um não. Responda “sim”, “não”, ou diga o que mudar.",
        ENGLISH: "I did not read that as a yes or a no. Answer “yes”, “no”, or say what to change.",
    },
    "ask.which_operation": {PORTUGUESE: "Qual destas opções você quer?", ENGLISH: "Which of these would you like?"},
    # Answering.
    "say_again": {
        PORTUGUESE: "Desculpe, tive um problema para entender agora. Nada mudou; pode repetir, por favor?",
        ENGLISH: "Sorry, I had trouble understanding just now. Nothing has changed; could you say it again, please?",
    },
    "nothing_to_confirm": {
        PORTUGUESE: "Não há nada esperando a sua confirmação agora. Como posso ajudar?",
        ENGLISH: "There is no request waiting for your confirmation right now. How can I help?",
    },
    "still_working": {
        PORTUGUESE: "Ainda estou cuidando da sua solicitação. Já vi a sua mensagem e respondo assim que terminar.",
        ENGLISH: "I am still working on your request. I have seen your message and will answer as soon as I am done.",
    },
    "fallback": {
        PORTUGUESE: "Desculpe, não entendi. Pode dizer de outro jeito?",
        ENGLISH: "Sorry, I did not understand that. Could you put it another way?",
    },
    "greeting": {PORTUGUESE: "Olá! Como posso ajudar?", ENGLISH: "Hello! How can I help?"},
    "offers": {PORTUGUESE: "Posso ajudar com:", ENGLISH: "I can help with:"},
    "cannot_answer": {
        PORTUGUESE: "Não tenho essa informação aqui.",
        ENGLISH: "I do not have that information here.",
    },
    "cannot_answer.question": {
        PORTUGUESE: "Sobre “{question}”: não tenho essa informação aqui.",
        ENGLISH: "About “{question}”: I do not have that information here.",
    },
    "not_available": {
        PORTUGUESE: "Isso não está disponível no momento. Tente de novo mais tarde, por favor.",
        ENGLISH: "This is not available at the moment. Please try again later.",
    },
    "tool_disabled": {
        PORTUGUESE: "Isso não está disponível no momento e nada foi feito. Tente de novo mais tarde, por favor.",
        ENGLISH: "This is not available at the moment and nothing was done. Please try again later.",
    },
    "change_refused": {
        PORTUGUESE: "Não foi possível fazer essa mudança; a solicitação continua como estava antes.",
        ENGLISH: "That change could not be made; the request stays as it was before.",
    },
}

REASONS: Mapping[str, Mapping[str, str]] = {
    "not_found": {PORTUGUESE: "não encontrado", ENGLISH: "not found"},
    "not_eligible": {PORTUGUESE: "não atende às condições", ENGLISH: "does not meet the conditions"},
    "ineligible": {PORTUGUESE: "não atende às condições", ENGLISH: "does not meet the conditions"},
    "blocked": {PORTUGUESE: "está bloqueado", ENGLISH: "it is blocked"},
    "suspended": {PORTUGUESE: "está suspenso", ENGLISH: "it is suspended"},
    "expired": {PORTUGUESE: "o prazo já passou", ENGLISH: "it has expired"},
    "already_cancelled": {PORTUGUESE: "já estava cancelado", ENGLISH: "it was already cancelled"},
    "already_canceled": {PORTUGUESE: "já estava cancelado", ENGLISH: "it was already canceled"},
    "already_done": {PORTUGUESE: "já tinha sido feito", ENGLISH: "it was already done"},
    "already_shipped": {PORTUGUESE: "já foi enviado", ENGLISH: "it has already been shipped"},
    "already_delivered": {PORTUGUESE: "já foi entregue", ENGLISH: "it has already been delivered"},
    "already_exists": {PORTUGUESE: "já existe", ENGLISH: "it already exists"},
    "duplicate": {PORTUGUESE: "está repetido", ENGLISH: "it is a duplicate"},
    "invalid": {PORTUGUESE: "não é válido", ENGLISH: "it is not valid"},
    "not_allowed": {PORTUGUESE: "não é permitido", ENGLISH: "it is not allowed"},
    "forbidden": {PORTUGUESE: "não é permitido", ENGLISH: "it is not allowed"},
    "unauthorized": {PORTUGUESE: "não é permitido", ENGLISH: "it is not allowed"},
    "limit_exceeded": {PORTUGUESE: "o limite foi ultrapassado", ENGLISH: "the limit was exceeded"},
    "insufficient_funds": {PORTUGUESE: "o saldo não é suficiente", ENGLISH: "there are not enough funds"},
    "insufficient_balance": {PORTUGUESE: "o saldo não é suficiente", ENGLISH: "the balance is not sufficient"},
    "out_of_stock": {PORTUGUESE: "está sem estoque", ENGLISH: "it is out of stock"},
    "not_available": {PORTUGUESE: "não está disponível agora", ENGLISH: "it is not available right now"},
    "unavailable": {PORTUGUESE: "não está disponível agora", ENGLISH: "it is not available right now"},
    "timeout": {PORTUGUESE: "a resposta demorou demais", ENGLISH: "the answer took too long"},
    "malformed_flag": {
        PORTUGUESE: "não foi possível saber se pode ser feito",
        ENGLISH: "it could not be told whether it can be done",
    },
    "error": {PORTUGUESE: "houve um problema técnico", ENGLISH: "there was a technical problem"},
    "failed": {PORTUGUESE: "houve um problema técnico", ENGLISH: "there was a technical problem"},
    "internal_error": {PORTUGUESE: "houve um problema técnico", ENGLISH: "there was a technical problem"},
    "unknown_error": {PORTUGUESE: "houve um problema técnico", ENGLISH: "there was a technical problem"},
    "tool_failed": {PORTUGUESE: "houve um problema técnico", ENGLISH: "there was a technical problem"},
}
"""Readable texts of reason codes that many systems share; any other code is shown as words."""

LABELS: Mapping[str, Mapping[str, str]] = {
    "COLLECTING_PARAMETERS": {PORTUGUESE: "Coletando dados", ENGLISH: "Collecting details"},
    "PRE_VALIDATING": {PORTUGUESE: "Verificando condições", ENGLISH: "Checking conditions"},
    "AWAITING_CONFIRMATION": {PORTUGUESE: "Aguardando confirmação", ENGLISH: "Awaiting confirmation"},
    "EXECUTING": {PORTUGUESE: "Em execução", ENGLISH: "In progress"},
    "PARKED": {PORTUGUESE: "Guardado", ENGLISH: "Set aside"},
    "VERIFYING": {PORTUGUESE: "Sendo verificado", ENGLISH: "Being verified"},
    "SUCCESS": {PORTUGUESE: "Concluído", ENGLISH: "Done"},
    "PARTIAL_SUCCESS": {PORTUGUESE: "Parcial", ENGLISH: "Partly done"},
    "FAILED": {PORTUGUESE: "Falhou", ENGLISH: "Failed"},
    "REFUSED": {PORTUGUESE: "Recusado", ENGLISH: "Refused"},
    "CANCELLED": {PORTUGUESE: "Cancelado", ENGLISH: "Cancelled"},
    "ABANDONED": {PORTUGUESE: "Abandonado", ENGLISH: "Abandoned"},
    "EXPIRED": {PORTUGUESE: "Expirado", ENGLISH: "Expired"},
    "PENDING": {PORTUGUESE: "Pendente", ENGLISH: "Pending"},
    "IN_FLIGHT": {PORTUGUESE: "Em execução", ENGLISH: "In progress"},
    "SUCCEEDED": {PORTUGUESE: "Concluído", ENGLISH: "Done"},
    "UNKNOWN": {PORTUGUESE: "Indeterminado", ENGLISH: "Not known yet"},
    "INELIGIBLE": {PORTUGUESE: "Não elegível", ENGLISH: "Not eligible"},
    "EXCLUDED": {PORTUGUESE: "Deixado de fora", ENGLISH: "Left out"},
    "NOT_EXECUTED": {PORTUGUESE: "Não executado", ENGLISH: "Not carried out"},
}
"""What a status of a transaction or an item is called (core/statuses.py)."""


def language_for(locale: str | None) -> str:
    """The catalogue that serves ``locale``: Portuguese for its whole family, English for every other one."""
    first = (locale or "").replace("_", "-").split("-")[0].strip().casefold()
    return PORTUGUESE if first == "pt" else ENGLISH


def say(name: str, locale: str | None, **values: object) -> str:
    """The text ``name`` with its values filled in; values are never read as templates."""
    return TEXTS[name][language_for(locale)].format(**values)


def say_count(name: str, number: int, locale: str | None, **values: object) -> str:
    """The text ``name`` for one, or ``name.many`` for any other number."""
    return say(name if number == 1 else f"{name}.many", locale, **values)
