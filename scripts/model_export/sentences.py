"""Sentences whose vectors are kept: short and long, questions and statements, several languages, numbers and odd signs.

The first twelve come in pairs that say the same in other words; a test wants each nearest to its partner.
"""

from __future__ import annotations

_LONG = (
    "The committee met on the first Tuesday of every month in the reading room of the old library, where the chairwoman "
    "read the minutes, the treasurer explained what had been spent on roofs, drains and window frames, and the members "
    "voted, mostly without debate, on whatever the season had brought before them. "
)

SENTENCES: tuple[str, ...] = (
    "First-time borrowers may receive a loan of up to five thousand cedis.",
    "What is the maximum amount somebody can borrow for the first time?",
    "The pump must be switched off before the filter is removed.",
    "Turn off the pump prior to taking out the filter.",
    "Revenue in the third quarter grew by 14 percent over last year.",
    "Sales between July and September were up 14% compared with the previous year.",
    "Photosynthesis turns light, water and carbon dioxide into sugar.",
    "How do plants make sugar from sunlight?",
    "The museum is closed on Mondays and on public holidays.",
    "When can I not visit the museum?",
    "Mix the flour, the eggs and the milk, and let the batter rest for half an hour.",
    "Batter of milk, eggs and flour should stand thirty minutes before frying.",
    "a",
    "42",
    "Invoice INV-2031-0077, due 2031-04-30: EUR 1,249.50 (19 % VAT included).",
    "def area(radius: float) -> float: return math.pi * radius ** 2",
    "Die Mitgliederversammlung wählt den Vorstand für zwei Jahre.",
    "La réunion est reportée à jeudi, à cause de la neige.",
    "会議は来週の月曜日に延期されました。",
    "Заявление подаётся в течение десяти дней.",
    "Great work 🎉🚀 — see you at 5 pm!",
    "e\u0301te\u0301 naïve café\u200b \u00a0 ﬁnance",
    _LONG,
    _LONG * 6,
)
