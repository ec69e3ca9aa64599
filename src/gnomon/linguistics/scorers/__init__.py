"""Sentence scorers: sentiment, concreteness, valence, arousal, dominance, and one's own.

A scorer gives each sentence a number by itself; what a system changes is the difference between
reference and candidate (``gnomon.muler``, ``scorers``).
"""

from gnomon.linguistics.scorers._scorers import (
    FunctionScorer,
    Vader,
    describe_scorers,
    scorer,
)
from gnomon.linguistics.scorers._scorers import is_packaged as is_packaged  # for gnomon itself
from gnomon.linguistics.scorers.ratings import LexiconScorer, Ratings
from gnomon.linguistics.scorers.sentences import (
    PlainReader,
    Reader,
    Sentences,
    SentenceScorer,
    SentenceWord,
)
from gnomon.linguistics.scorers.tagged import TaggedReader, reader_for

__all__ = [
    "FunctionScorer",
    "LexiconScorer",
    "PlainReader",
    "Ratings",
    "Reader",
    "SentenceScorer",
    "SentenceWord",
    "Sentences",
    "TaggedReader",
    "Vader",
    "describe_scorers",
    "reader_for",
    "scorer",
]
