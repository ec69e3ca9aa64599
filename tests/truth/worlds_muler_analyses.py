"""What the analyses around MuLER may say: correlations, discrepancies, judgements, validations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tests.methods.muler.experiments import hybrids, parts
from tests.methods.muler.test_other_verdicts import FEATURES, correlated, specific, uneven
from tests.truth.worlds import world
from tests.truth.worlds_muler import PATTERN, lines, moved

import gnomon as gn
from gnomon.linguistics.scorers import LexiconScorer, Ratings
from gnomon.linguistics.scorers.ratings import Rated
from gnomon.muler.correlations import correlate_verdict
from gnomon.muler.discrepancy import discrepancy_verdict
from gnomon.muler.validate.beside_random import random_verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

MOOD = LexiconScorer(
    "mood", "own", Ratings.collect([Rated("good", 2), Rated("bad", -1), Rated("fine", 1)])
)


@world("a feature that goes along with the score", says=["muler.correlate.along"])
def along() -> Iterable[Message]:
    return correlate_verdict(correlated({"pos:NOUN": 0.9, "pos:VERB": 0.1}))


@world("correlations of noise", says=["muler.correlate.chance"], silent=["muler.correlate.*"])
def by_chance() -> Iterable[Message]:
    draw = np.random.default_rng(2)
    values = {f"pos:{n}": float(gn.stats.pearson(*draw.normal(size=(2, 16)))) for n in range(4)}
    return correlate_verdict(correlated(values))


@world("four systems", says=["muler.correlate.few-systems"], silent=["muler.correlate.*"])
def four_systems() -> Iterable[Message]:
    return correlate_verdict(correlated({"pos:NOUN": 0.99}, n=4))


@world("ten segments", says=["note.muler.correlate.left_out"], silent=["muler.correlate.*"])
def ten_segments() -> Iterable[Message]:
    return correlate_verdict(correlated({"pos:NOUN": 0.99}, segments=10))


@world(
    "words that a tagger finds elsewhere in some systems",
    says=["note.muler.correlate.left_out"],
    silent=["muler.correlate.along"],
)
def outside() -> Finding:
    draw = np.random.default_rng(3)
    made, reference = moved(80)
    systems = {
        f"s{k}": [
            fine if draw.random() < share else poor
            for fine, poor in zip(made["A"], made["B"], strict=True)
        ]
        for k, share in enumerate((0.1, 0.3, 0.5, 0.7, 0.9, 1.0))
    }
    testset = gn.TestSet.from_lists(systems, reference)
    return gn.muler.correlate([testset], features=["re:after"], pattern=PATTERN)


@world(
    "too few nouns in one output of five",
    says=["muler.uneven"],
    silent=["muler.*"],
)
def too_few() -> Iterable[Message]:
    return discrepancy_verdict(uneven(0.3, 0.1))


@world(
    "as many too few as too many",
    says=["muler.even"],
    silent=["muler.*"],
)
def balanced() -> Iterable[Message]:
    return discrepancy_verdict(uneven(0.31, 0.3))


@world("as many in every segment", says=["muler.even"], silent=["muler.*"])
def as_many() -> Iterable[Message]:
    return discrepancy_verdict(uneven(0.0, 0.0))


@world("twelve segments", says=["muler.few-counted"], silent=["muler.*"])
def twelve() -> Iterable[Message]:
    return discrepancy_verdict(uneven(0.5, 0.0, segments=12))


def moods(share: float, segments: int = 60) -> Finding:
    """Outputs in which good days are bad in a share of the segments, and some bad ones good."""
    draw = np.random.default_rng(1)
    reference = ["a good day" if n % 2 else "a bad day" for n in range(segments)]
    worse = ["a bad day" if draw.random() < share else one for one in reference]
    even = [reference[n ^ 1] if draw.random() < 0.3 else one for n, one in enumerate(reference)]
    testset = gn.TestSet.from_lists({"s": worse if share else even}, reference)
    return gn.muler.score(testset, "none", scorers=[MOOD], examples=0)


@world(
    "a system that turns good into bad",
    says=["muler.scorers.changed"],
    silent=["muler.scorers.*"],
)
def gloomier() -> Finding:
    return moods(0.6)


@world(
    "a system that errs both ways",
    says=["muler.scorers.unchanged"],
    silent=["muler.scorers.*"],
)
def both_ways() -> Finding:
    return moods(0.0)


@world("twenty sentences", says=["muler.scorers.few"], silent=["muler.scorers.*"])
def few_sentences() -> Finding:
    return moods(0.6, segments=20)


@world("halves of features under BLEU", says=["muler.validate.range.scale"])
def halves() -> Finding:
    testset = gn.TestSet.from_lists(*lines({"A": {"animal": 0.4}, "B": {}}))
    return hybrids(testset, "bleu", ["re:animal", "re:place"], pattern=PATTERN)


@world("rarer features under BLEU", says=["muler.validate.frequency.steady"])
def rarer() -> Finding:
    testset = gn.TestSet.from_lists(*lines({"A": {"animal": 0.4}, "B": {}}))
    return parts(testset, "bleu", ["re:animal", "re:place"], pattern=PATTERN)


def _random(seed: int = 1, draws: int = 100) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    return {name: draw.gamma(3, 0.04, draws).clip(0, 1) for name in FEATURES}


@world(
    "a feature that costs far more than random words",
    says=["muler.validate.random.apart", "muler.validate.random.alike"],
    silent=["muler.*"],
)
def costly_feature() -> Iterable[Message]:
    return random_verdict(specific(dict.fromkeys(FEATURES, 0.12) | {"Apos:1": 0.6}, _random()))


@world(
    "random words beside random words",
    says=["muler.validate.random.alike"],
    silent=["muler.*"],
)
def random_words() -> Iterable[Message]:
    return random_verdict(specific(dict.fromkeys(FEATURES, 0.12), _random()))


@world(
    "thirty draws of random words",
    says=["muler.validate.random.draws"],
    silent=["muler.*"],
)
def few_draws() -> Iterable[Message]:
    return random_verdict(specific({"Apos:1": 0.9}, _random(draws=30)))


@world(
    "MuLER above 1 beside random words",
    says=["note.muler.validate.left_out"],
    silent=["muler.validate.random.apart", "muler.validate.range.scale",
            "muler.validate.frequency.steady"],
)  # fmt: skip
def above_one() -> Iterable[Message]:
    return random_verdict(specific({"Apos:1": 1.4}, _random()))
