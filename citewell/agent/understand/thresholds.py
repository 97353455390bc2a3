"""Every number that messages are read by: small talk or a question, and what a follow-up takes from the thread."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderstandingThresholds:
    """Thresholds of reading a message by rules.

    Small talk is measured by `benchmarks/conversations.py smalltalk`, follow-ups by its `recovered` (nDCG@10 beside rewrites made by
    people). The likenesses were measured on half of the development phrases and checked on the other half; they are of the built-in
    model, and another needs its own. The confidences order how sure each rule is, and were set by hand: the trace shows them, and
    with a chat model those below `sure` are asked of it. The weights of a thread's words were set by hand too, on the
    development conversations.

    Small talk; confidences in 0..1:
    small_talk_characters, small_talk_words: longer messages are questions, whatever they say
    misspelt_characters: shorter polite words are recognised as they are written only
    nearest_phrases:     phrases of each sort that a message is compared with: the nearest
    question_share:      share of the cosine with questions that counts against that with small talk
    like_about:          likeness from which a message that speaks to the assistant is small talk
    like_wordless:       the same for one that asks nothing and has no word of its own
    like_other:          the same for any other
    like_certain:        likeness from which the owner's files are not asked for the message's words
    only_polite:         nothing but greetings, thanks, goodbyes or acknowledgements
    around_polite:       no letter at all
    likened:             small talk by its likeness
    answered_back:       of a question: "yes" after the assistant asked something
    question:            of a question: anything else
    polite_question:     the same after a greeting or thanks
    sure:                from which no chat model is asked whether a message is small talk

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

    small_talk_characters: int = 1_000
    small_talk_words: int = 20
    misspelt_characters: int = 4
    nearest_phrases: int = 3
    question_share: float = 0.7
    like_about: float = 0.12
    like_wordless: float = 0.16
    like_other: float = 0.2
    like_certain: float = 0.25
    only_polite: float = 0.99
    around_polite: float = 0.9
    likened: float = 0.9
    answered_back: float = 0.6
    question: float = 0.95
    polite_question: float = 0.9
    sure: float = 0.9

    topic_terms: int = 3
    few_terms: int = 3
    antecedent_terms: int = 2
    phrase_terms: int = 3
    topic_weight: float = 2.0
    follow_up_characters: int = 1_000
    thread_messages: int = 100
    exchange_depth: int = 6
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
