"""The kinds of sentences that minimal pairs may say."""

from __future__ import annotations

from gnomon.core.verdicts import UNREAD_TEXTS, Claim
from gnomon.methods.stress._outcomes import FEW_PAIRS
from gnomon.stats.jackknife import LEAST_DOCUMENTS

_INTERVALS = "Wilson's intervals of the shares of pairs, which hold for all rows together"
DETECTS = Claim(
    "stress.detects",
    "{title} detects {detected}: it scores them below the same text without the error",
    "better",
    _INTERVALS,
)
DETECTS_BUT = Claim(
    "stress.detects_but",
    "{title} detects {detected}, but too few of {missed}; detected means scored below the same"
    " text without the error",
    "worse",
    _INTERVALS,
)
MISSES = Claim("stress.misses", "{title} detects too few of {missed}", "worse", _INTERVALS)
BLIND = Claim(
    "stress.blind",
    "{title} is blind to {phenomena}: it scores both texts the same in more than nine of ten pairs",
    "worse",
    f"{_INTERVALS}, and the share of ties",
)
UNDECIDED = Claim(
    "stress.undecided",
    "the data cannot tell whether {title} detects {phenomena} in the share of pairs that was asked"
    " for",
    "undecided",
    _INTERVALS,
)
WORDING = Claim(
    "stress.wording",
    "{title} detects {phenomenon} in {unworded} of {pairs} where the reference has none of the"
    " words (in {worded} where it has them)",
    "caution",
    "the shares of pairs whose reference has all words that the worse text lacks, or none of them,"
    " whose intervals do not overlap",
)
CROSSED = Claim(
    "stress.crossed",
    "{title} detects {plain} of {phenomenon}, but {crossed} where the right text is worded"
    " otherwise than the reference",
    "caution",
    "the shares of pairs of both kinds, whose intervals do not overlap",
)
SANITY = Claim(
    "stress.sanity",
    "{title} scores {input} as high as the output, or higher, in {share} of the pairs",
    "caution",
    "the share of such pairs, 1 in 100 or more",
)
CONTROLLED = Claim(
    "stress.control",
    "random scores or length alone detect {phenomena}, too: that a metric detects them says little",
    "caution",
    _INTERVALS,
)
PENALTIES = Claim(
    "stress.penalties",
    "of comparisons with a harmless change of the same sentence, a critical error is penalised more"
    " in {shares} (50 %: the same penalty)",
    "caution",
    "the mean share over sentences, whose interval lies below 80 in 100",
)
FEW = Claim(
    "stress.few",
    f"{{phenomena}} have fewer than {FEW_PAIRS} pairs, or pairs of fewer than {LEAST_DOCUMENTS}"
    " documents: too few to be a finding",
    "caution",
    f"fewer than {FEW_PAIRS} pairs, or than {LEAST_DOCUMENTS} documents (sentences where several"
    " pairs are of one)",
)
REPEATED = Claim(
    "stress.repeated",
    "fewer than half of the pairs of {phenomena} are distinct and of two texts that differ: nothing"
    " follows from these",
    "caution",
    "the number of distinct pairs",
)
CLAIMS = (
    REPEATED,
    UNREAD_TEXTS,
    DETECTS,
    DETECTS_BUT,
    MISSES,
    BLIND,
    UNDECIDED,
    CROSSED,
    WORDING,
    PENALTIES,
    SANITY,
    CONTROLLED,
    FEW,
)
