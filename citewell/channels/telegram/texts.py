"""The bot's texts in every language it speaks. Values from people or files are inserted as code, so they cannot contain markup."""

from __future__ import annotations

import re
from collections.abc import Mapping

from citewell.channels.telegram.rich import Rich, one_line

LANGUAGES = ("en", "de", "es")
_FIELD = re.compile(r"\{(\w+)\}|\*([^*]+)\*")
_AS_CODE = frozenset({"file", "name", "code"})
_MAX_VALUE = 300
"""Characters of an inserted value; file names have at most 255."""

COMMANDS: Mapping[str, tuple[str, str, str]] = {
    "files": ("Your files", "Deine Dateien", "Tus archivos"),
    "delete": ("Delete a file", "Eine Datei löschen", "Borrar un archivo"),
    "scope": (
        "Choose what questions are about",
        "Auswählen, worum es in Fragen geht",
        "Elegir sobre qué son las preguntas",
    ),
    "forget": (
        "Forget this conversation, or unlink me",
        "Das Gespräch oder mich vergessen",
        "Olvidar la conversación o a mí",
    ),
    "help": ("How this works", "So geht es", "Cómo funciona"),
}

TEXTS: Mapping[str, tuple[str, str, str]] = {
    "welcome": (
        "Welcome! Send me files, then ask me about them. Every answer names the page or rows it comes from.\n\n/help explains more.",
        "Willkommen! Schick mir Dateien und frag mich danach. Jede Antwort nennt die Seite oder die Zeilen, aus denen sie stammt.\n\n/help sagt mehr.",
        "¡Hola! Envíame archivos y pregúntame sobre ellos. Cada respuesta indica la página o las filas de donde viene.\n\n/help explica más.",
    ),
    "linked": (
        "Linked. From now on, your files in Citewell and the files you send here are the same.\n\nSend a file, or ask a question.",
        "Verknüpft. Deine Dateien in Citewell und die, die du hier schickst, sind ab jetzt dieselben.\n\nSchick eine Datei oder frag etwas.",
        "Vinculado. A partir de ahora tus archivos de Citewell y los que envíes aquí son los mismos.\n\nEnvía un archivo o pregunta algo.",
    ),
    "not_linked": (
        "I don't know you yet. In Citewell, open Settings, Telegram, create a code, and send it to me within 15 minutes.",
        "Ich kenne dich noch nicht. Öffne in Citewell die Einstellungen, Telegram, und erzeuge einen Code; schick ihn mir. Er gilt 15 Minuten.",
        "Todavía no te conozco. En Citewell abre Ajustes, Telegram, y crea un código; luego envíamelo. Es válido durante 15 minutos.",
    ),
    "wrong_code": (
        "This code is incorrect, already used or expired. Create a new one in Citewell, under Settings, Telegram.",
        "Dieser Code ist falsch, benutzt oder zu alt. Erzeuge in Citewell unter Einstellungen, Telegram, einen neuen.",
        "Este código es incorrecto, ya se usó o caducó. Crea otro en Citewell, en Ajustes, Telegram.",
    ),
    "too_many_codes": (
        "Too many wrong codes. Try again in 15 minutes.",
        "Zu viele falsche Codes. Versuch es in 15 Minuten wieder.",
        "Demasiados códigos incorrectos. Inténtalo de nuevo en 15 minutos.",
    ),
    "help": (
        "*Files*: send documents, photos or albums, or forward them. A caption that ends with a question mark is answered from the file.\n"
        "*Questions*: ask in your own words. The buttons under an answer show the cited page or rows.\n\n"
        "/files – your files\n/delete – delete a file\n/scope – all files, those of this chat, or a project\n"
        "/forget – forget this conversation, or unlink me\n\n"
        "You can send files up to {limit} here. Upload larger ones in Citewell.",
        "*Dateien*: schick Dokumente, Fotos oder Alben, oder leite sie weiter. Endet die Bildunterschrift mit einem Fragezeichen, wird sie aus der Datei "
        "beantwortet.\n*Fragen*: schreib sie, wie du sie sagen würdest. Die Knöpfe unter einer Antwort zeigen die zitierte Seite oder die Zeilen.\n\n"
        "/files – deine Dateien\n/delete – eine Datei löschen\n/scope – alle Dateien, die dieses Chats oder ein Projekt\n"
        "/forget – dieses Gespräch vergessen oder die Verknüpfung lösen\n\n"
        "Hier gehen Dateien bis {limit}; größere lassen sich auf der Seite von Citewell hinzufügen.",
        "*Archivos*: envía documentos, fotos o álbumes, o reenvíalos. Si el pie termina con un signo de interrogación, se responde a partir del archivo.\n"
        "*Preguntas*: escríbelas como las dirías. Los botones debajo de una respuesta muestran la página o las filas citadas.\n\n"
        "/files – tus archivos\n/delete – borrar un archivo\n/scope – todos los archivos, los de este chat o un proyecto\n"
        "/forget – olvidar esta conversación o desvincularme\n\n"
        "Aquí caben archivos de hasta {limit}; los más grandes se pueden añadir en la página de Citewell.",
    ),
    "searching": ("Looking it up …", "Ich sehe nach …", "Buscando …"),
    "sources": ("Sources", "Quellen", "Fuentes"),
    "weak": (" (supports it in part)", " (stützt es teilweise)", " (lo respalda en parte)"),
    "unsupported": (" (does not support it)", " (stützt es nicht)", " (no lo respalda)"),
    "receiving": ("{file}: receiving …", "{file}: wird empfangen …", "{file}: recibiendo …"),
    "uploaded": (
        "{file}: received, waiting to be read",
        "{file}: empfangen, wartet aufs Lesen",
        "{file}: recibido, en espera de lectura",
    ),
    "extracting": ("{file}: being read …", "{file}: wird gelesen …", "{file}: leyendo …"),
    "extracted": (
        "{file}: read, waiting to be indexed",
        "{file}: gelesen, wartet auf den Index",
        "{file}: leído, en espera de indexación",
    ),
    "indexing": ("{file}: being indexed …", "{file}: wird indiziert …", "{file}: indexando …"),
    "indexed": (
        "✓ {file}: ready. Ask me about it.",
        "✓ {file}: bereit. Frag mich danach.",
        "✓ {file}: listo. Pregúntame.",
    ),
    "analyzed": (
        "✓ {file}: ready. Answers are computed over all its rows.",
        "✓ {file}: bereit. Fragen werden über alle Zeilen gerechnet.",
        "✓ {file}: listo. Las preguntas se calculan sobre todas sus filas.",
    ),
    "described": ("✓ {file}: described and ready.", "✓ {file}: beschrieben und bereit.", "✓ {file}: descrito y listo."),
    "stored": (
        "{file} is stored, but Citewell cannot read this type of file, so it cannot be searched.",
        "{file} ist gespeichert, aber für diesen Typ gibt es keinen Leser: Er kann nicht durchsucht werden.",
        "{file} está guardado, pero no hay lector para su tipo, así que no se puede buscar en él.",
    ),
    "partial": (
        "{file} was only partly read: {reason}",
        "{file} wurde zum Teil gelesen: {reason}",
        "{file} se leyó en parte: {reason}",
    ),
    "failed": (
        "{file} could not be read: {reason}",
        "{file} konnte nicht gelesen werden: {reason}",
        "No se pudo leer {file}: {reason}",
    ),
    "duplicate": (
        "{file}: you already have this file, as {name}. It was not added again.",
        "{file}: Diese Datei hast du schon, als {name}. Nichts wurde doppelt gespeichert.",
        "{file}: ya tienes este archivo, como {name}. No se añadió dos veces.",
    ),
    "too_large": (
        "{file} is {size}; bots can receive at most {limit}. Upload it in Citewell instead (Library, Upload), and I can answer from it here.",
        "{file} hat {size}; Bots können höchstens {limit} empfangen. Füge sie auf der Seite von Citewell hinzu (Bibliothek, Hochladen): "
        "Dann kann ich hier daraus antworten.",
        "{file} tiene {size}; los bots reciben como máximo {limit}. Añádelo en la página de Citewell (Biblioteca, Subir): así podré responder aquí.",
    ),
    "not_received": (
        "{file} could not be downloaded from Telegram. Send it again.",
        "{file} konnte nicht von Telegram geholt werden. Schick die Datei noch einmal.",
        "No se pudo obtener {file} de Telegram. Envíalo de nuevo.",
    ),
    "refused": (
        "{file} was not accepted: {reason}",
        "{file} wurde nicht angenommen: {reason}",
        "{file} no se aceptó: {reason}",
    ),
    "voice": (
        "I can't listen to voice messages. Type your question, or add it as a caption.",
        "Sprachnachrichten kann ich nicht hören. Schreib die Frage, oder füge sie als Beschriftung hinzu.",
        "No puedo escuchar mensajes de voz. Escribe la pregunta o añádela como pie.",
    ),
    "not_understood": (
        "I accept documents, photos and text.",
        "Ich nehme Dokumente, Fotos und Text.",
        "Acepto documentos, fotos y texto.",
    ),
    "no_files": (
        "You have no files yet. Send me one.",
        "Du hast noch keine Dateien. Schick mir eine.",
        "Aún no tienes archivos. Envíame uno.",
    ),
    "files": (
        "Your files, newest first",
        "Deine Dateien, die neuesten zuerst",
        "Tus archivos, los más recientes primero",
    ),
    "older": ("Older", "Ältere", "Anteriores"),
    "newer": ("Newer", "Neuere", "Más recientes"),
    "which_delete": (
        "Which file should I delete?",
        "Welche Datei soll gelöscht werden?",
        "¿Qué archivo quieres borrar?",
    ),
    "no_such_file": (
        "You have no file called {name}.",
        "Keine deiner Dateien heißt {name}.",
        "Ninguno de tus archivos se llama {name}.",
    ),
    "sure": (
        "Delete {file} and everything derived from it?",
        "{file} löschen, mit allem, was daraus gemacht wurde?",
        "¿Borrar {file}, con todo lo que se hizo con él?",
    ),
    "delete": ("Delete", "Löschen", "Borrar"),
    "keep": ("Keep", "Behalten", "Conservar"),
    "kept": ("Kept.", "Behalten.", "Se conserva."),
    "deleted": (
        "{file} was deleted everywhere.",
        "{file} ist überall gelöscht.",
        "{file} está borrado en todas partes.",
    ),
    "gone": ("This file no longer exists.", "Diese Datei gibt es nicht mehr.", "Este archivo ya no existe."),
    "scope": ("Questions are about: *{scope}*", "Fragen gelten für: *{scope}*", "Las preguntas son sobre: *{scope}*"),
    "scope_all": ("all files", "alle Dateien", "todos los archivos"),
    "scope_here": ("files of this chat", "Dateien dieses Chats", "archivos de este chat"),
    "forget": ("What should I forget?", "Was soll ich vergessen?", "¿Qué debo olvidar?"),
    "forget_talk": ("This conversation", "Dieses Gespräch", "Esta conversación"),
    "forget_me": ("My account (files stay)", "Mein Konto (Dateien bleiben)", "Mi cuenta (los archivos quedan)"),
    "forget_all": ("Everything, including files", "Alles, auch Dateien", "Todo, también los archivos"),
    "forgot_talk": (
        "Forgotten. The next question starts a new conversation.",
        "Vergessen. Die nächste Frage beginnt ein neues Gespräch.",
        "Olvidado. La próxima pregunta empieza otra conversación.",
    ),
    "forgot_me": (
        "Unlinked. Your files are still in Citewell.",
        "Die Verknüpfung ist gelöst. Deine Dateien sind weiter in Citewell.",
        "El vínculo se eliminó. Tus archivos siguen en Citewell.",
    ),
    "forgot_all": (
        "Your files and conversations were deleted.",
        "Deine Dateien und Gespräche sind gelöscht.",
        "Tus archivos y conversaciones están borrados.",
    ),
    "not_yours": ("Only the person who asked can open this.", "Das gehört jemand anderem.", "Esto no es tuyo."),
    "source_gone": (
        "The file of this source was deleted.",
        "Die Datei dieser Quelle wurde gelöscht.",
        "El archivo de esta fuente fue borrado.",
    ),
    "busy": (
        "Too many requests. Try again in {seconds} s.",
        "Zu viele Anfragen. Versuch es in {seconds} s wieder.",
        "Demasiadas solicitudes. Inténtalo en {seconds} s.",
    ),
    "problem": ("That did not work: {reason}", "Das hat nicht geklappt: {reason}", "No funcionó: {reason}"),
    "broken": (
        "Something went wrong; the server's log has the details. Try again later.",
        "Hier ist etwas schiefgegangen; es steht im Protokoll des Servers. Versuch es später wieder.",
        "Algo salió mal; está anotado en el registro del servidor. Inténtalo más tarde.",
    ),
    "expires": (
        "{file} and everything derived from it will be deleted on {time} (UTC). Send it again to keep it longer.",
        "{file} wird am {time} (UTC) gelöscht, mit allem, was daraus gemacht wurde. Schick die Datei noch einmal, damit sie länger bleibt.",
        "{file} se borrará el {time} (UTC), con todo lo que se hizo con él. Envíalo de nuevo para conservarlo más tiempo.",
    ),
    "expired": (
        "{file} has expired and was deleted everywhere.",
        "{file} ist abgelaufen und überall gelöscht.",
        "{file} ha caducado y está borrado en todas partes.",
    ),
    "blocked_page": (
        "I can't show the page as a picture. This is the passage:",
        "Die Seite lässt sich nicht als Bild zeigen; das ist die Stelle:",
        "La página no se puede mostrar como imagen; este es el pasaje:",
    ),
}


def language_of(code: str | None) -> str:
    """The bot's language for a Telegram language code such as `de-AT`; English if the bot does not speak it."""
    short = (code or "").lower().split("-")[0]
    return short if short in LANGUAGES else LANGUAGES[0]


def plain(language: str, key: str) -> str:
    """A text without values, for buttons and notices."""
    return TEXTS[key][LANGUAGES.index(language)]


def say(language: str, key: str, **values: str) -> Rich:
    """A text with its values inserted: file names as code, everything else plain."""
    rich, template, place = Rich(), plain(language, key), 0
    for match in _FIELD.finditer(template):
        rich.add(template[place : match.start()])
        place = match.end()
        inner = match[1] or match[2].strip("{}")
        if match[1] is None:
            rich.add(values.get(inner, match[2]), "bold")
        else:
            shown = one_line(values[inner], _MAX_VALUE)
            rich.add(shown, "code" if inner in _AS_CODE else None)
    return rich.add(template[place:])
