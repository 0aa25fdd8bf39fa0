"""Words of Portuguese and English grammar that the offline model knows; none of them names a thing of any domain.

All are folded: small letters without accents.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    """Phrases parted by "|", the longest first."""
    return tuple(sorted((tuple(phrase.split()) for phrase in text.split("|")), key=len, reverse=True))


DEFINITE = _words("o a os as the this that these those esse essa esses essas este esta estes estas aquele aquela")
INDEFINITE = _words("um uma uns umas an some any algum alguma alguns algumas")
POSSESSIVE = _words(
    "meu minha meus minhas my our nosso nossa nossos nossas seu sua seus suas teu tua your his her their dele dela"
)
ARTICLES = DEFINITE | INDEFINITE
LINKS = _words("de da do das dos of no na nos nas em in on at for para pra pro por pelo pela com with to ao aos")
"""Prepositions that may stand inside a name: "Horóscopo do Dia", "Lord of the Rings"."""
NAME_LINKS = _words("de da do das dos of the la el von van")
TITLES = _words("dr dra sr sra srta prof profa dona mr mrs ms st")
"""Abbreviations whose full stop ends no sentence."""
AND_OR = _words("e and ou or")
SEPARATORS = AND_OR | _words("mais plus tambem also too nem nor")
DEGREES = _words("too so very really muito muita tao demais bem pouco")
NEGATIONS = _words("nao not nunca never jamais nem nor dont doesnt didnt no")
COPULAS = frozenset({"é", "eh", "são", "foi", "foram", "seria", "seriam", "is", "are", "was", "were", "it's", "it’s"})
"""As written: "é" folds to the conjunction."""

STOP = (
    ARTICLES
    | POSSESSIVE
    | LINKS
    | SEPARATORS
    | NEGATIONS
    | _words(
        "que se eu ele ela eles elas nos voces voce vc isso isto aquilo me te lhe lo la los las mim comigo ja ai la "
        "aqui ali entao bem so ate sobre como quando onde ser sao estao estar esta estou foi foram era tem tenho ter "
        "ha vai vou ir pode poderia posso quero queria quer gostaria preciso favor muito muita mas porem sem a off "
        "ainda agora hoje depois antes outra outro outras outros coisa coisas tudo todo toda todos todas nada mesmo "
        "mesma i you he she it we they is are was were be been am do does did have has had will would can could "
        "should may might must want wanted need like please so but if then than from out up down about into just "
        "now today later first before after all each other another thing things something anything nothing there "
        "here what which who how when where why some s t m re ve ll d one ones get got gets esse dessa desse disso"
    )
)
"""Words that by themselves say nothing about what somebody wants."""

FILLERS = _words(
    "entao bom bem olha oi ola oie opa hey hi hello ok okay ah oh sim yes yeah well so por favor please pls agora now "
    "then tambem also vou just so somente apenas only obrigado obrigada thanks thank you valeu pf pfv eu i beleza "
    "certo claro tudo bem desculpa desculpe sorry alias primeiro first e and mas but"
)
BEFORE_NO = FILLERS | _words("do nos we a gente porem")
"""Words that may open or close what is said without being part of it."""
TAIL = _words(
    "por favor please pls obrigado obrigada thanks thank you tambem also too mesmo agora now hoje today entao ok certo "
    "valeu pra para mim for me logo ja then off from out right away urgente imediatamente"
)

WANT = _words(
    "quero queria gostaria preciso desejo pretendo want wanna need wish pode poderia consegue podem can could may "
    "would like id queremos precisamos posso"
)
"""Verbs that introduce what is wanted."""
TO = _words("to de que me mim nos us a")
HANDLING = _words(
    "tira tirar tire tirem remove remover remova take drop add inclui incluir inclua adiciona adicionar acrescenta "
    "coloca colocar bota poe por put include make faz fazer faca get give da dar manda mandar mande send keep deixa "
    "deixar let leave mantem manter"
)
"""Verbs of everyday handling, as requests begin with them."""
SHOWING = _words(
    "ver veja mostra mostrar mostre exibe exibir show see tell diz diga dizer fala consulta check look view"
)
"""Verbs that ask to be shown something."""
TELLING = SHOWING | _words("lista listar list informa informar apresenta display find search busca buscar")
"""Verbs with which an operation that only tells something is described."""
PORTUGUESE_NO = _words("nao nunca jamais nem")
AFTER_NO = (WANT - _words("can could posso consegue may pode poderia podem")) | _words(
    "to for eu i you voce vc que e pra para vou mais please ainda precisa deve devem should it me nos is was"
)
"""What may stand between a no and the verb that it denies; "can" complains and denies nothing."""
CONTRAST = _words("mas but porem instead")
INTERROGATIVES = _words(
    "qual quais quando onde quanto quanta quantos quantas como cade quem what which when where who why how whose"
)
QUESTION_STARTS = INTERROGATIVES | _words("is are do does did has have will am")
BEFORE_QUESTIONS = (FILLERS - {"i", "eu"}) | _words("antes disso depois before that")
"""Words that may stand before a question's first word."""
HYPOTHETICAL = _phrases(
    "o que acontece|what happens|what if|e se|se eu|if i|como faco|how do i|how can i|is there|existe|ha alguma"
)
POLITE = _phrases(
    "can you|could you|would you|can i|could i|may i|pode|poderia|voce pode|voces podem|consegue|da pra|da para|"
    "posso|gostaria|i would like|i want|quero|queria"
)
"""What makes a request of a sentence with a question mark."""

GREETINGS = _words(
    "oi ola oie opa bom boa dia tarde noite tudo bem hello hi hey good morning afternoon evening obrigado obrigada "
    "valeu thanks thank you e ai blz beleza tchau bye until there"
)
COURTESIES = _words(
    "muito muita ok okay certo entao por favor ate mais logo legal otimo otima perfeito great perfect so much very "
    "for tchauzinho see later everyone pessoal gente voce voces vc como vai esta how are doing a da de todos"
)
"""Words that may stand beside a greeting or a thank you."""
ABANDON = _phrases(
    "deixa pra la|deixa para la|deixe pra la|deixa quieto|esquece isso|esqueca isso|esquece|esqueca|larga isso|"
    "desisto|desisti disso|mudei de ideia|nao quero mais|nao precisa mais|nao precisa|forget it|forget that|"
    "forget about it|never mind|nevermind|drop it|i changed my mind|changed my mind|i give up|not anymore|"
    "leave it|pode esquecer"
)
UNSURE = _phrases(
    "nao sei|sei la|nao lembro|nao tenho certeza|tanto faz|i dont know|dont know|i do not know|not sure|no idea|"
    "i dont remember|whatever|hum|hmm|espera|wait|um momento|one moment|talvez|maybe"
)
CORRECTIONS = _phrases(
    "na verdade|alias|errei|me enganei|eu quis dizer|quis dizer|corrigindo|correcao|digo|desculpa|desculpe|opa|"
    "actually|i meant|sorry|correction|rather|my mistake|make that|make it|troca para|troca por|muda para|mude para|"
    "change it to|change to|o certo e|o correto e|em vez|instead"
)
ADDING_VERBS = _words(
    "add include inclui incluir inclua adiciona adicionar adicione acrescenta acrescentar acrescente poe bota "
    "coloca colocar coloque"
)
ADDING = ADDING_VERBS | _words("tambem also too plus")
ADDING_PHRASES = _phrases("as well|alem disso|besides|on top")
SWAPPING = _words(
    "troca trocar troque substitui substituir substitua muda mudar mude altera alterar altere replace swap change "
    "switch exchange substitute"
)
SWAP_LINKS = _words("por pelo pela pelos pelas para pra pro pros pras with for by to")
INSTEAD_OF = _phrases(
    "em vez de|em vez do|em vez da|em vez dos|em vez das|ao inves de|ao inves do|ao inves da|no lugar de|"
    "no lugar do|no lugar da|instead of|rather than|in place of"
)
BECAUSE = _phrases("porque|por que|pois|ja que|e que|porque que|because|since|due to|cause|por causa de")

AGREEMENTS = _phrases(
    "sim|s|y|isso mesmo|isso|isto|confirmo|confirma|confirmar|confirme|confirmado|"
    "pode confirmar|pode fazer|pode prosseguir|pode seguir|pode mandar|"
    "pode|ok|okay|certo|claro|com certeza|manda ver|fechado|combinado|perfeito|exato|positivo|vai em frente|bora|"
    "yes please|yes|yep|yeah|sure|go ahead|confirm|confirmed|i confirm|correct|right|do it|of course|absolutely|"
    "please do|sounds good|thats right"
)
THUMBS_UP = ("\N{THUMBS UP SIGN}", "\N{OK HAND SIGN}", "\N{WHITE HEAVY CHECK MARK}")
REFUSALS = _phrases(
    "nao obrigado|nao obrigada|nao quero|nao confirmo|melhor nao|agora nao|de jeito nenhum|negativo|nao|"
    "no thanks|no thank you|i dont want|do not|dont|nope|not now|no|stop|nem pensar"
)
HEDGES = _words(
    "mas porem se caso espera espere talvez acho depende calma menos sem exceto but if wait maybe perhaps unless "
    "hold think depends except without only so somente apenas guess"
)
EXCLUDING = _phrases(
    "todos menos|todas menos|tudo menos|menos|exceto|salvo|sem|fora|tirando|tira|tire|tirar|retira|retire|remove|"
    "remova|all but|everything but|all except|except for|except|without|excluding|minus|leave out|take out|drop|skip|"
    "but not|mas nao|nao quero|deixa de fora|deixe de fora"
)
NONE_OF_THEM = _words("nenhum nenhuma neither none")
ALL_OF_THEM = _words("tudo todos todas all everything both ambos ambas")
REMOVING = _words(
    "tira tirar tire tirem retira retirar retire remove remover remova drop skip exclui excluir exclua apaga apagar "
    "apague delete encerra encerrar encerre desativa desativar desative"
)
"""Verbs of taking something away, whatever it is."""
DOING = HANDLING | REMOVING
LIMITING = _phrases("so|somente|apenas|fica so com|fico so com|only|just|nothing but")

KEEPING = _phrases("mas|but|fica|ficam|mantem|keep|deixa|inclui|adiciona|add")
"""What turns from what is left out to what stays."""

ORDINALS = {
    word: position
    for position, group in enumerate(
        (
            "primeiro primeira first 1o 1a 1st",
            "segundo segunda second 2o 2a 2nd",
            "terceiro terceira third 3o 3a 3rd",
            "quarto quarta fourth 4o 4a 4th",
            "quinto quinta fifth 5o 5a 5th",
            "sexto sexta sixth 6o 6a 6th",
            "setimo setima seventh 7o 7a 7th",
            "oitavo oitava eighth 8o 8a 8th",
            "nono nona ninth 9o 9a 9th",
            "decimo decima tenth 10o 10a 10th",
        )
    )
    for word in group.split()
}
LAST = _words("ultimo ultima last")
COUNTS = {"dois": 2, "duas": 2, "two": 2, "tres": 3, "three": 3, "quatro": 4, "four": 4}
FIRSTS = _words("primeiros primeiras first")
LASTS = _words("ultimos ultimas last")

CODE_HINTS = _words(
    "numero numeros codigo codigos id ids identificador protocolo protocolos chave cpf cnpj placa serial number "
    "numbers code codes identifier key"
)
"""Words of a description that expects something with digits in it."""
CODED_THINGS = _words(
    "item produto registro nota ficha caso compra encomenda documento product record ticket case purchase document"
)
"""What people put before a code where it is no verb: "nota A-17"."""
NAME_HINTS = _words("ou or nome nomes name names titulo titulos title titles")
"""Words of a description that expects a name, or a name as well."""
POINTING = _words("esse essa este esta isso that this one it mesmo mesma")
CURRENCY = _words("r$ $ us$ € reais real dolares dollars euros eur usd brl")
YES = _words("sim yes s y claro isso ok sure quero verdadeiro true")
NO = _words("nao no n nope nunca falso false")
DAYS = {"hoje": 0, "today": 0, "amanha": 1, "tomorrow": 1}
MONTHS = {
    word: number
    for number, group in enumerate(
        (
            "janeiro january jan",
            "fevereiro february fev feb",
            "marco march mar",
            "abril april abr apr",
            "maio may mai",
            "junho june jun",
            "julho july jul",
            "agosto august ago aug",
            "setembro september set sep",
            "outubro october out oct",
            "novembro november nov",
            "dezembro december dez dec",
        ),
        start=1,
    )
    for word in group.split()
}
