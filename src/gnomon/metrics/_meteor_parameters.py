"""What METEOR 1.5 weighs, by language (Denkowski and Lavie 2014; its task "rank")."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Parameters", "published_parameters"]


class Parameters(NamedTuple):
    """Weights of METEOR 1.5.

    Attributes:
        origin: whose they are, for signatures.
        alpha: weight of precision against recall, 0 to 1.
        beta: how fast the penalty grows with disorder.
        gamma: the largest penalty.
        delta: weight of content words against function words, 0 to 1.
        stem: weight of a match by stem; 0: there is no such stage.
        synonym: weight of a match by synonym; 0: there is no such stage.
    """

    origin: str
    alpha: float
    beta: float
    gamma: float
    delta: float
    stem: float
    synonym: float


#: tuned to rankings of WMT; matches of equal words weigh 1
_RANK = {
    "cs": Parameters("rank-cs", 0.95, 0.20, 0.60, 0.80, 0.0, 0.0),
    "de": Parameters("rank-de", 0.95, 1.00, 0.55, 0.55, 0.8, 0.0),
    "en": Parameters("rank-en", 0.85, 0.20, 0.60, 0.75, 0.6, 0.8),
    "es": Parameters("rank-es", 0.65, 1.30, 0.50, 0.80, 0.8, 0.0),
    "fr": Parameters("rank-fr", 0.90, 1.40, 0.60, 0.65, 0.2, 0.0),
    "ru": Parameters("rank-ru", 0.75, 1.40, 0.70, 0.50, 0.5, 0.0),
}
#: what METEOR takes for every other language
_OTHER = Parameters("language-independent", 0.75, 1.40, 0.70, 0.50, 0.5, 0.0)


def published_parameters(language: str) -> Parameters:
    """The parameters of a target language.

    >>> published_parameters("en").delta
    0.75
    """
    return _RANK.get(language, _OTHER)
