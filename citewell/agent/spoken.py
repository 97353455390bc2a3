"""What Citewell itself says of a question, in the question's language: refusals, their reasons, and fixed replies.

The English text is the key to the others. A language without a text gets the English one, but every one says in its own words that there
is no answer.
"""

from __future__ import annotations

from babel import Locale

NO_ANSWER = "I don't have enough information to answer that."
"""The whole answer where nothing found answers, with a chat model or without one."""
NO_ANSWER_TO = "I don't have enough information to answer “{part}”."
"""Of one part of a question of several."""
NOTHING = "There is nothing to search in the files in scope."
NOTHING_HINT = "Upload a file, or ask about more of them."
NOT_COMPUTED = "I could not work it out from the tables: {reason}."
NOT_COMPUTED_HINT = "Name the columns and rows as the sheet does."
OTHER_LANGUAGE = "The passages found are in {held}, and none of them clearly states this."
OTHER_LANGUAGE_HINT = "Ask in {held}, or connect a chat model."
NOT_MENTIONED = "No passage found mentions {words}."
NOT_MENTIONED_TWO = "No passage found mentions {words} or {other}."
NOT_MENTIONED_HINT = "Upload a file that does, or use the words of your files."
NOT_STATED = "The passages found are about it, but none states this."
NOT_STATED_HINT = "Upload a file that states it, or ask for something more specific."
CHOSEN_FILES = "Only the chosen files were searched: ask all of them. {hint}"

_NO_ANSWER = {
    "ar": "لا أملك معلومات كافية للإجابة عن ذلك.",
    "el": "Δεν έχω αρκετές πληροφορίες για να απαντήσω σε αυτό.",
    "he": "אין לי מספיק מידע כדי לענות על כך.",
    "hi": "मेरे पास इसका उत्तर देने के लिए पर्याप्त जानकारी नहीं है।",
    "ja": "それに答えるための十分な情報がありません。",
    "ka": "ამაზე პასუხის გასაცემად საკმარისი ინფორმაცია არ მაქვს.",
    "ko": "그 질문에 답할 만한 정보가 충분하지 않습니다.",
    "pl": "Nie mam wystarczających informacji, aby na to odpowiedzieć.",
    "ru": "У меня недостаточно информации, чтобы ответить на это.",
    "sv": "Jag har inte tillräckligt med information för att besvara det.",
    "th": "ฉันมีข้อมูลไม่เพียงพอที่จะตอบคำถามนี้",
    "tr": "Bunu yanıtlamak için yeterli bilgim yok.",
    "uk": "У мене недостатньо інформації, щоб відповісти на це.",
    "vi": "Tôi không có đủ thông tin để trả lời câu hỏi này.",
    "zh": "我没有足够的信息来回答这个问题。",
}
_GERMAN = {
    NO_ANSWER: "Dazu habe ich nicht genug Informationen.",
    NO_ANSWER_TO: "Für „{part}“ habe ich nicht genug Informationen.",
    NOTHING: "In den gewählten Dateien gibt es nichts zu durchsuchen.",
    NOTHING_HINT: "Laden Sie eine Datei hoch, oder beziehen Sie mehr Dateien ein.",
    NOT_COMPUTED: "Aus den Tabellen konnte ich es nicht berechnen: {reason}.",
    NOT_COMPUTED_HINT: "Nennen Sie Spalten und Zeilen so, wie sie in der Tabelle heißen.",
    OTHER_LANGUAGE: "Die gefundenen Passagen sind auf {held}, und keine sagt das deutlich.",
    OTHER_LANGUAGE_HINT: "Fragen Sie auf {held}, oder verbinden Sie ein Chatmodell.",
    NOT_MENTIONED: "Keine gefundene Passage erwähnt {words}.",
    NOT_MENTIONED_TWO: "Keine gefundene Passage erwähnt {words} oder {other}.",
    NOT_MENTIONED_HINT: "Laden Sie eine Datei hoch, in der es vorkommt, oder verwenden Sie die Wörter Ihrer Dateien.",
    NOT_STATED: "Die gefundenen Passagen handeln davon, aber keine sagt dies.",
    NOT_STATED_HINT: "Laden Sie eine Datei hoch, in der es steht, oder fragen Sie genauer.",
    CHOSEN_FILES: "Nur die gewählten Dateien wurden durchsucht: Fragen Sie alle. {hint}",
}
_FRENCH = {
    NO_ANSWER: "Je n'ai pas assez d'informations pour répondre à cela.",
    NO_ANSWER_TO: "Je n'ai pas assez d'informations pour répondre à « {part} ».",
    NOTHING: "Il n'y a rien à chercher dans les fichiers choisis.",
    NOTHING_HINT: "Ajoutez un fichier, ou interrogez-en davantage.",
    NOT_COMPUTED: "Je n'ai pas pu le calculer à partir des tableaux : {reason}.",
    NOT_COMPUTED_HINT: "Nommez les colonnes et les lignes comme dans la feuille.",
    OTHER_LANGUAGE: "Les passages trouvés sont en {held}, et aucun ne l'indique clairement.",
    OTHER_LANGUAGE_HINT: "Posez la question en {held}, ou connectez un modèle de chat.",
    NOT_MENTIONED: "Aucun passage trouvé ne mentionne {words}.",
    NOT_MENTIONED_TWO: "Aucun passage trouvé ne mentionne {words} ni {other}.",
    NOT_MENTIONED_HINT: "Ajoutez un fichier qui le mentionne, ou employez les mots de vos fichiers.",
    NOT_STATED: "Les passages trouvés en parlent, mais aucun ne l'indique.",
    NOT_STATED_HINT: "Ajoutez un fichier qui l'indique, ou posez une question plus précise.",
    CHOSEN_FILES: "Seuls les fichiers choisis ont été consultés : interrogez-les tous. {hint}",
}
_SPANISH = {
    NO_ANSWER: "No tengo suficiente información para responder a eso.",
    NO_ANSWER_TO: "No tengo suficiente información para responder a «{part}».",
    NOTHING: "No hay nada que buscar en los archivos elegidos.",
    NOTHING_HINT: "Sube un archivo o pregunta a más archivos.",
    NOT_COMPUTED: "No pude calcularlo a partir de las tablas: {reason}.",
    NOT_COMPUTED_HINT: "Nombra las columnas y filas como en la hoja.",
    OTHER_LANGUAGE: "Los pasajes encontrados están en {held} y ninguno lo dice claramente.",
    OTHER_LANGUAGE_HINT: "Pregunta en {held} o conecta un modelo de chat.",
    NOT_MENTIONED: "Ningún pasaje encontrado menciona {words}.",
    NOT_MENTIONED_TWO: "Ningún pasaje encontrado menciona {words} ni {other}.",
    NOT_MENTIONED_HINT: "Sube un archivo que lo mencione o usa las palabras de tus archivos.",
    NOT_STATED: "Los pasajes encontrados tratan de ello, pero ninguno lo dice.",
    NOT_STATED_HINT: "Sube un archivo que lo diga o pregunta algo más concreto.",
    CHOSEN_FILES: "Solo se buscó en los archivos elegidos: pregunta a todos. {hint}",
}
_PORTUGUESE = {
    NO_ANSWER: "Não tenho informações suficientes para responder a isso.",
    NO_ANSWER_TO: "Não tenho informações suficientes para responder a “{part}”.",
    NOTHING: "Não há nada para pesquisar nos arquivos escolhidos.",
    NOTHING_HINT: "Envie um arquivo ou pergunte a mais arquivos.",
    NOT_COMPUTED: "Não consegui calcular isso a partir das tabelas: {reason}.",
    NOT_COMPUTED_HINT: "Nomeie as colunas e linhas como na planilha.",
    OTHER_LANGUAGE: "Os trechos encontrados estão em {held}, e nenhum diz isso claramente.",
    OTHER_LANGUAGE_HINT: "Pergunte em {held} ou conecte um modelo de chat.",
    NOT_MENTIONED: "Nenhum trecho encontrado menciona {words}.",
    NOT_MENTIONED_TWO: "Nenhum trecho encontrado menciona {words} nem {other}.",
    NOT_MENTIONED_HINT: "Envie um arquivo que o mencione ou use as palavras dos seus arquivos.",
    NOT_STATED: "Os trechos encontrados tratam disso, mas nenhum o afirma.",
    NOT_STATED_HINT: "Envie um arquivo que o afirme ou faça uma pergunta mais específica.",
    CHOSEN_FILES: "Só os arquivos escolhidos foram pesquisados: pergunte a todos. {hint}",
}
_ITALIAN = {
    NO_ANSWER: "Non ho abbastanza informazioni per rispondere a questa domanda.",
    NO_ANSWER_TO: "Non ho abbastanza informazioni per rispondere a «{part}».",
    NOTHING: "Non c'è nulla da cercare nei file scelti.",
    NOTHING_HINT: "Carica un file o chiedi a più file.",
    NOT_COMPUTED: "Non sono riuscito a calcolarlo dalle tabelle: {reason}.",
    NOT_COMPUTED_HINT: "Indica colonne e righe come nel foglio.",
    OTHER_LANGUAGE: "I passaggi trovati sono in {held} e nessuno lo dice chiaramente.",
    OTHER_LANGUAGE_HINT: "Chiedi in {held} o collega un modello di chat.",
    NOT_MENTIONED: "Nessun passaggio trovato menziona {words}.",
    NOT_MENTIONED_TWO: "Nessun passaggio trovato menziona {words} o {other}.",
    NOT_MENTIONED_HINT: "Carica un file che ne parli o usa le parole dei tuoi file.",
    NOT_STATED: "I passaggi trovati ne parlano, ma nessuno lo dice.",
    NOT_STATED_HINT: "Carica un file che lo dica o fai una domanda più precisa.",
    CHOSEN_FILES: "La ricerca ha riguardato solo i file scelti: chiedi a tutti. {hint}",
}
_DUTCH = {
    NO_ANSWER: "Ik heb niet genoeg informatie om dat te beantwoorden.",
    NO_ANSWER_TO: "Ik heb niet genoeg informatie om “{part}” te beantwoorden.",
    NOTHING: "In de gekozen bestanden valt niets te doorzoeken.",
    NOTHING_HINT: "Upload een bestand, of stel de vraag aan meer bestanden.",
    NOT_COMPUTED: "Ik kon het niet uit de tabellen berekenen: {reason}.",
    NOT_COMPUTED_HINT: "Noem kolommen en rijen zoals ze in het blad heten.",
    OTHER_LANGUAGE: "De gevonden passages zijn in het {held}, en geen ervan zegt dit duidelijk.",
    OTHER_LANGUAGE_HINT: "Stel de vraag in het {held}, of verbind een chatmodel.",
    NOT_MENTIONED: "Geen gevonden passage noemt {words}.",
    NOT_MENTIONED_TWO: "Geen gevonden passage noemt {words} of {other}.",
    NOT_MENTIONED_HINT: "Upload een bestand waarin het staat, of gebruik de woorden van je bestanden.",
    NOT_STATED: "De gevonden passages gaan erover, maar geen ervan zegt dit.",
    NOT_STATED_HINT: "Upload een bestand waarin het staat, of stel een specifiekere vraag.",
    CHOSEN_FILES: "Alleen de gekozen bestanden zijn doorzocht: vraag het aan alle. {hint}",
}
_SAID: dict[str, dict[str, str]] = {
    **{language: {NO_ANSWER: text} for language, text in _NO_ANSWER.items()},
    "de": _GERMAN,
    "fr": _FRENCH,
    "es": _SPANISH,
    "pt": _PORTUGUESE,
    "it": _ITALIAN,
    "nl": _DUTCH,
}


def spoken(english: str, language: str | None, **values: str) -> str:
    """One of the texts above in a language (ISO 639-1), with its values filled in; in English where it is not known."""
    return _SAID.get(language or "en", {}).get(english, english).format(**values)


def says_no_answer(text: str) -> bool:
    """Whether an answer says that there is none, in these words."""
    lowered = text.lower()
    return any(refusal in lowered for refusal in _REFUSALS)


def language_named(code: str, language: str | None) -> str | None:
    """The name of a language in another one: "German", "allemand"; None where neither is known. `spoken` has whole sentences in that one."""
    known = language if language in _SAID and NOT_STATED in _SAID[language] else "en"
    return Locale(known).languages.get(code)


_REFUSALS = tuple(text.rstrip(".。।").lower() for text in (NO_ANSWER, *(texts[NO_ANSWER] for texts in _SAID.values())))
