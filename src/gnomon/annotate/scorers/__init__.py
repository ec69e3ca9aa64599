"""Sentence scorers: sentiment, concreteness, valence, arousal, dominance, and one's own.

A scorer gives each sentence a number by itself; what a system changes is the difference between
reference and candidate (``gnomon.muler.sentences``).
"""

from gnomon.annotate.scorers._function import FunctionScorer
from gnomon.annotate.scorers._lexicon import LexiconScorer
from gnomon.annotate.scorers._names import describe_scorers, scorer
from gnomon.annotate.scorers._protocol import SentenceScorer, SentenceScores
from gnomon.annotate.scorers._ratings import Ratings
from gnomon.annotate.scorers._sentences import Plain, Reader, Sentences
from gnomon.annotate.scorers._tagged import Tagged, reader_for
from gnomon.annotate.scorers._vader import Vader
from gnomon.annotate.scorers._words import Word

__all__ = [
    "FunctionScorer",
    "LexiconScorer",
    "Plain",
    "Ratings",
    "Reader",
    "SentenceScorer",
    "SentenceScores",
    "Sentences",
    "Tagged",
    "Vader",
    "Word",
    "describe_scorers",
    "reader_for",
    "scorer",
]
