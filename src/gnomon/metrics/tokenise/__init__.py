"""Texts to integers with offsets: the tokens on which metrics count and masks are put."""

from gnomon.metrics.tokenise._characters import Characters, Tokens, locate, lowered, plain
from gnomon.metrics.tokenise._table import Places, TokenTable, Vocabulary, code_points
from gnomon.metrics.tokenise._tokenise import Tokenised, tokenise
from gnomon.metrics.tokenise._tokenisers import (
    TOKENISERS,
    Tokeniser,
    check_tokeniser,
    default_tokeniser,
    load_tokeniser,
)

__all__ = [
    "TOKENISERS",
    "Characters",
    "Places",
    "TokenTable",
    "Tokenised",
    "Tokeniser",
    "Tokens",
    "Vocabulary",
    "check_tokeniser",
    "code_points",
    "default_tokeniser",
    "load_tokeniser",
    "locate",
    "lowered",
    "plain",
    "tokenise",
]
