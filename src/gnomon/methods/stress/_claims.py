"""The kinds of sentences that minimal pairs may say."""

from __future__ import annotations

from gnomon.core.verdicts import UNREAD_TEXTS, Claim
from gnomon.methods.stress._outcomes import FEW_PAIRS
from gnomon.stats.jackknife import LEAST_DOCUMENTS

_INTERVALS = "Wilson's intervals of the shares of pairs, which hold for all rows together"
SEES = Claim(
    "stress.sees",
    "{title} sees {sees}: it scores them below the same text without the error",
    "better",
    _INTERVALS,
)
SEES_BUT = Claim(
    "stress.sees_but",
    "{title} sees {sees}, but too few of {misses}; seen means scored below the same text without"
    " the error",
    "worse",
    _INTERVALS,
)
MISSES = Claim("stress.misses", "{title} sees too few of {misses}", "worse", _INTERVALS)
BLIND = Claim(
    "stress.blind",
    "{title} is blind to {phenomena}: it scores both texts the same in more than nine of ten pairs",
    "worse",
    f"{_INTERVALS}, and the share of ties",
)
UNDECIDED = Claim(
    "stress.undecided",
    "the data cannot tell whether {title} sees {phenomena} in the share of pairs that was asked"
    " for",
    "undecided",
    _INTERVALS,
)
WORDING = Claim(
    "stress.wording",
    "{title} sees {phenomenon} in {unworded} of {pairs} where the reference has none of the words"
    " (in {worded} where it has them)",
    "caution",
    "the shares of pairs whose reference has all words that the worse text lacks, or none of them",
)
CROSSED = Claim(
    "stress.crossed",
    "{title} sees {plain} of {phenomenon}, but {crossed} where the right text is worded otherwise"
    " than the reference",
    "caution",
    "the shares of pairs of both kinds, whose intervals do not overlap",
)
SANITY = Claim(
    "stress.sanity",
    "{title} scores {input} as high as the output, or higher, in {share} of the pairs",
    "caution",
    "the share of such pairs, 1 in 100 or more",
)
SANITY_BEATS = Claim(
    "stress.sanity_beats",
    "{input} has a {title} of {corpus}, better than {beaten} of {systems}",
    "caution",
    "the corpus scores of the systems, and of a text that is no translation in place of an output",
)
CONTRAST = Claim(
    "stress.contrast",
    "{title} sees more of {phenomena} than {other} does",
    "better",
    "tests of both metrics on the same pairs (McNemar), corrected for all of them (Holm)",
)
CONTRASTS = Claim(
    "stress.contrasts",
    "{title} sees more of {phenomena} than {other} does, and {other} more of {others}",
    "undecided",
    "tests of both metrics on the same pairs (McNemar), corrected for all of them (Holm)",
)
DOSES = Claim(
    "stress.doses",
    "with each further error a score should fall or stay: under {title} it does in {share} of the"
    " sentences with {phenomenon} at up to {places}",
    "caution",
    "the interval of the share of sentences whose score never rises, below 80 in 100",
)
HIDDEN = Claim(
    "stress.hidden",
    "{phenomenon} in {hidden} of 100 sentences cost no more {title} than the difference between"
    " neighbouring systems",
    "caution",
    "the fall of the corpus score if all sentences have the error, and the median difference"
    " between the scores of neighbouring systems",
)
CONTROLLED = Claim(
    "stress.control",
    "random scores or length alone see {phenomena}, too: that a metric sees them says little",
    "caution",
    _INTERVALS,
)
PRICES = Claim(
    "stress.prices",
    "of comparisons with a harmless change of the same sentence, a critical error costs more in"
    " {shares} (50 %: the same price)",
    "caution",
    "the mean share over sentences, whose interval lies below 80 in 100",
)
NO_DEARER = Claim(
    "stress.no_dearer",
    "under {title} {phenomena} cost no more than a harmless change of the same sentence",
    "caution",
    "intervals of the shares of comparisons in which an error that is not labelled minor costs"
    " more, which hold for all rows together and end at one half or below",
)
SEVERITY = Claim(
    "stress.severity",
    "the more severe of two errors in a sentence does not cost more under {title}: it does in"
    " {share} of comparisons",
    "caution",
    "the interval of the mean share over sentences, which does not lie above one half",
)
FEW = Claim(
    "stress.few",
    "{phenomena} have fewer than {least} pairs each, too few to be a finding",
    "caution",
    f"fewer than {FEW_PAIRS} pairs",
)
REPEATED = Claim(
    "stress.repeated",
    "of the pairs of {phenomena} only {distinct} of {pairs} are distinct and of two texts that"
    " differ: nothing follows from these",
    "caution",
    "fewer than half of the pairs are distinct",
)
FEW_DOCUMENTS = Claim(
    "stress.few_documents",
    "the pairs of {phenomena} are of fewer than {least} documents, so that their shares have no"
    " interval and nothing follows from them",
    "caution",
    f"fewer than {LEAST_DOCUMENTS} documents, or sentences where several pairs are of one",
)
CLAIMS = (
    REPEATED,
    UNREAD_TEXTS,
    SEES,
    SEES_BUT,
    MISSES,
    BLIND,
    UNDECIDED,
    CROSSED,
    WORDING,
    PRICES,
    NO_DEARER,
    SEVERITY,
    SANITY,
    SANITY_BEATS,
    CONTRAST,
    CONTRASTS,
    DOSES,
    HIDDEN,
    CONTROLLED,
    FEW,
    FEW_DOCUMENTS,
)
