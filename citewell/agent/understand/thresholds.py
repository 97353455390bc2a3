"""Every number that messages are read by: small talk or a question, and what a follow-up takes from the thread."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderstandingThresholds:
    """Thresholds of reading a message by rules.

    Small talk is measured by `benchmarks/conversations.py smalltalk`, follow-ups by its `recovered` (nDCG@10 beside rewrites made by
    people). The weights of a thread's words were set by hand, on the development conversations.

    What the model that reads messages says; probabilities:
    small_talk:          of the acts that nothing is looked up for, together, from which a message is small talk
    small_talk_about:    the same for one with words that say what it is about, but for greetings, thanks and farewells
    leans:               from which a message is read in the light of its thread
    whole:               of the acts that want whole documents, together, from which a message does
    whole_named:         the same where the message is about nothing but a file that it names whole
    file_named:          similarity of a file's name from which words that are not in it mean that file; on the scale of the built-in English model
    file_margin:         how much nearer it is than the next
    whole_topic:         from which everything about a topic is looked for in all files
    answered_back:       of a question: "yes" after the assistant asked something
    sure:                from which no chat model is asked whether a message is small talk
    messages_read:       messages of a thread that are read with the model, the last ones

    Which words a follow-up takes from its thread:
    topic_terms:         words
    few_terms:           terms up to which what compares ("the other ones") leaves open with what
    antecedent_terms:    terms before a pronoun from which it may stand for one of them
    phrase_terms:        words of substance up to which what asks nothing is a phrase that goes on from the thread
    topic_weight:        what the hits of the search with the topic count in the sum; those of the message as it is, and of the search
                         beside these, count 1
    follow_up_characters: longer messages, or ones after a longer one, exchange no words with the message before ("and for …?")
    thread_messages:     messages looked back at for the last question
    exchange_depth:      messages before that question which it is itself read in the light of
    continued:           questions of a thread from which one about a table may go on, each from the one before
    exchanged_words:     words of a phrase after a preposition that another takes the place of
    topic_messages:      messages whose words are weighed; those before would weigh less than a hundredth of the last
    decay:               weight of a message against the one after it: 0.7 per question and answer
    assistant_weight:    weight of the assistant's messages against the user's
    name_factor:         for words capitalised in mid-sentence
    unasked_factor:      for words that only the assistant used
    user_characters, assistant_characters: of each message that are read
    word_characters:     shorter words are left out unless they are written in capitals
    same_start:          characters in which two words are forms of one, whatever their stems
    """

    small_talk: float = 0.5
    small_talk_about: float = 0.9
    leans: float = 0.5
    whole: float = 0.5
    whole_named: float = 0.3
    file_named: float = 0.55
    file_margin: float = 0.05
    whole_topic: float = 0.7
    answered_back: float = 0.6
    sure: float = 0.9
    messages_read: int = 12

    topic_terms: int = 3
    few_terms: int = 3
    antecedent_terms: int = 2
    phrase_terms: int = 3
    topic_weight: float = 2.0
    follow_up_characters: int = 1_000
    thread_messages: int = 100
    exchange_depth: int = 6
    continued: int = 3
    exchanged_words: int = 5
    topic_messages: int = 30
    decay: float = 0.84
    assistant_weight: float = 0.5
    name_factor: float = 2.0
    unasked_factor: float = 0.3
    user_characters: int = 2_000
    assistant_characters: int = 1_000
    word_characters: int = 3
    same_start: int = 5


THRESHOLDS = UnderstandingThresholds()
