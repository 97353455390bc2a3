"""Words that frame a question without naming its subject: degree and number, requests, and verbs that go with any subject.

That no passage has one of them tells nobody what is missing.
"""

from __future__ import annotations

from functools import lru_cache

from citewell.agent.understand.topics import CONVERSATION_WORDS
from citewell.text.analysis import analyze

_FRAME: dict[str, str] = {
    "en": """
        much many far long several few number numbers amount amounts total totals sum count average overall altogether all every each
        first last next previous latest earliest top bottom main major minor key important biggest largest highest greatest smallest lowest
        most least big large high low small new old current exact exactly approximately around almost nearly often usually still ever
        other others another same different own just yet soon
        do does did done doing go goes going gone went be being get gets got make makes made making give gives given gave take takes took
        taken put puts come comes came keep keeps kept let have having happen happens happened become became need needs needed want wants
        use uses used using work works run runs running bring brings brought say says said call called name names named know find found
        show list enumerate tell explain describe discuss mention mentioned summarise summarize compare state stated allowed possible
        responsible exist exists contain contains include includes spend spent cost costs
        way ways thing things item items kind kinds type types sort sorts part parts list lists detail details information anything
        something anyone someone anybody somebody people person
    """,
    "de": """
        viel viele wieviel wieviele hoch hohe groß große größte größten klein kleinste lang lange oft weit alt neu anzahl zahl summe gesamt insgesamt betrag
        durchschnitt erste ersten letzte letzten nächste nächsten wichtig wichtigste meisten wenigsten alle
        machen macht gemacht tun gehen geht gegangen geben gibt gegeben nehmen nimmt genommen halten hält bringen bringt kommen kommt
        bekommen brauchen braucht kosten kostet ausgeben ausgegeben heißen heißt nennen zeigen zeige liste auflisten fassen fasse zusammen
        zusammenfassen erklären erkläre beschreiben erwähnt steht stehen findet finden ding dinge art arten
    """,
    "fr": """
        nombre total somme montant moyenne premier première dernier dernière prochain grand grande petit petite principal principaux
        faire fait fais aller va donner donne prendre prend mettre avoir coûte coûter dépensé dépenser montre montrer liste résume résumer
        explique décris mentionne trouver trouve chose choses sorte type
    """,
    "es": """
        número total suma importe cantidad promedio primero primera último última próximo grande mayor menor principal
        hacer hace hecho ir va dar da dado tomar poner cuesta costar gastado gastar muestra mostrar lista resume resumir explica describe
        menciona encontrar cosa cosas tipo
    """,
    "it": """
        numero totale somma importo media primo prima ultimo ultima prossimo grande maggiore minore principale
        fare fa fatto andare va dare dato prendere costa costare speso spendere mostra elenca elenco riassumi spiega descrivi cosa cose tipo
    """,
    "pt": """
        número total soma valor média primeiro primeira último última próximo grande maior menor principal
        fazer faz feito ir vai dar dado tomar custa custar gasto gastar mostra lista resume explica descreve coisa coisas tipo
    """,
    "nl": """
        aantal totaal som bedrag gemiddelde eerste laatste volgende groot grootste klein belangrijkste
        doen doet gedaan gaan gaat geven geeft nemen kost kosten uitgegeven toon lijst samenvatten vat samen leg beschrijf ding dingen soort
    """,
}  # fmt: skip


def is_frame(word: str, language: str) -> bool:
    """Whether a word of a question says nothing of its subject: a frame word of its language or of English, or a single digit."""
    if len(word) == 1 and word.isdigit():
        return True
    return bool(set(analyze(word, language, query=True)) & _terms(language))


@lru_cache(maxsize=64)
def _terms(language: str) -> frozenset[str]:
    words = " ".join((_FRAME["en"], *CONVERSATION_WORDS)) if language == "en" else _FRAME.get(language, "")
    return frozenset(analyze(words, language, query=True)) if words else frozenset()
