"""Answers that prove themselves: intent, rephrasing, tools, extraction of answers, and the checking of citations."""
