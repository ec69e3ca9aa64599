"""What MuLER may say of planted outputs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from tests.truth.worlds import outputs, planted, world

import gnomon as gn

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

ANIMALS, PLACES = ("cat", "dog", "horse", "cow"), ("park", "house", "barn", "street")
PATTERN = {
    "animal": "|".join(ANIMALS),
    "place": "|".join(PLACES),
    "after": r"(?<=odd )\w+",  # a word that outputs may have elsewhere than references
}
WORDS = ("pos:NOUN", "pos:VERB", "pos:ADV", "pos:DET", "pos:NUM")


def lines(
    wrong: dict[str, dict[str, float]], segments: int = 60, seed: int = 1
) -> tuple[dict[str, list[str]], list[str]]:
    """Outputs that get words of a feature wrong as often as is said, and their references."""
    draw = np.random.default_rng(seed)
    drawn = [(str(draw.choice(ANIMALS)), str(draw.choice(PLACES))) for _ in range(segments)]

    def other(word: str, words: tuple[str, ...], rate: float) -> str:
        others = [one for one in words if one != word]
        return str(draw.choice(others)) if draw.random() < rate else word

    def line(animal: str, place: str) -> str:
        return f"then the small {animal} came to the old {place} at night"

    systems = {
        name: [
            line(
                other(animal, ANIMALS, rates.get("animal", 0.3)),
                other(place, PLACES, rates.get("place", 0.3)),
            )
            for animal, place in drawn
        ]
        for name, rates in wrong.items()
    }
    return systems, [line(*one) for one in drawn]


def moved(segments: int = 60) -> tuple[dict[str, list[str]], list[str]]:
    """A has all words, and a tagger finds them elsewhere; B lacks some of them."""
    draw = np.random.default_rng(3)
    drawn = [[str(draw.choice(ANIMALS)), str(draw.choice(PLACES))] for _ in range(segments)]
    reference = [f"we saw that odd {a} {p} there with them" for a, p in drawn]
    return {
        "A": [f"we saw that {a} odd {p} there with them" for a, p in drawn],
        "B": [f"we saw that odd thing {p} there with them" for _, p in drawn],
    }, reference


def scored(
    made: tuple[dict[str, list[str]], list[str]], metric: object = "bleu", **options: object
) -> Finding:
    testset = gn.TestSet.from_lists(*made)
    asked = {"features": ["re:animal", "re:place"], "pattern": PATTERN, "examples": 0}
    return gn.muler.score(testset, metric, **{**asked, "resamples": 199, **options})  # type: ignore[arg-type]  # as they are


def tagged(other: list[str]) -> Finding:
    """The first system of the example beside a copy that was changed."""
    testset = planted({"A": outputs(), "B": other})
    return gn.muler.score(testset, features=WORDS, examples=0, resamples=199)


@world(
    "one system gets more animals wrong",
    says=["muler.better", "muler.undecided"],
    silent=["muler.*"],
    without=["B makes fewer"],
)
def more_wrong() -> Finding:
    return scored(lines({"A": {"animal": 0.1}, "B": {"animal": 0.8}}, seed=2))


@world("two systems wrong equally often", says=["muler.undecided"], silent=["muler.*"])
def equally_wrong() -> Finding:
    return scored(lines({"A": {}, "B": {}}, segments=120, seed=4))


@world(
    "one of three systems gets fewer animals wrong",
    says=["muler.many", "muler.undecided"],
    silent=["muler.*"],
)
def three_systems() -> Finding:
    return scored(lines({"A": {"animal": 0.0}, "B": {"animal": 0.8}, "C": {"animal": 0.8}}))


@world("no draws", says=["muler.untested"], silent=["muler.*"])
def no_draws() -> Finding:
    return scored(lines({"A": {}, "B": {}}), resamples=0)


@world("one system", says=["muler.loses"], silent=["muler.*"])
def one_system() -> Finding:
    return scored(lines({"A": {"animal": 0.9, "place": 0.1}}))


@world("24 segments", says=["muler.nothing"], silent=["muler.*"])
def few_segments() -> Finding:
    return scored(lines({"A": {"animal": 0.2}, "B": {"animal": 0.3}}, segments=24))


@world(
    "words of both sides that a pattern finds on one alone",
    says=["note.muler.outside", "muler.nothing"],
    silent=["muler.*"],
    without=["the tagger", "tagged"],
)
def other_tags() -> Finding:
    return scored(moved(), features=["re:after"])


def _lively(candidate: str, reference: str) -> float:
    """A metric that prefers texts without masks to texts that match."""
    ours, theirs = candidate.split(), reference.split()
    known = sum(one.isalpha() and one.islower() and len(one) > 1 for one in ours) / len(ours)
    return known + 0.2 * len(set(ours) & set(theirs)) / len(set(theirs))


@world(
    "a metric that puts any mask below any word",
    says=["note.muler.outside"],
    silent=["muler.better"],
    without=["tagger"],
)
def not_monotone() -> Finding:
    metric = gn.metric(_lively, name="lively", higher_is_better=True)
    made = lines({"A": {"animal": 0.1}, "B": {"animal": 0.8}})
    return scored(made, metric, masking=gn.muler.Masks(words=("X1", "X2", "X3")))


def _other_neighbours(text: str) -> str:
    return text.replace("the small", "zzq").replace("came to", "zzr")


@world(
    "other words around the same animals",
    says=["muler.same"],
    silent=["muler.*"],
)
def other_neighbours() -> Finding:
    systems, reference = lines({"A": {}}, segments=120)
    other = [
        one if one == reference[n] else _other_neighbours(one) for n, one in enumerate(systems["A"])
    ]
    return scored(({"A": systems["A"], "B": other}, reference), features=["re:animal"])


@world(
    "other animals as often, and other words around those that are the same and wrong",
    says=["muler.carried"],
    silent=["muler.*"],
)
def other_neighbours_of_some() -> Finding:
    systems, reference = lines({"A": {}}, segments=240)
    animals = re.compile("|".join(ANIMALS))
    first, second = list(systems["A"]), list(systems["A"])
    for n, right in enumerate(reference):
        if n % 4 == 0:  # one of the two is right, by turns
            wrong = animals.sub("cow" if "horse" in right else "horse", right)
            first[n], second[n] = (wrong, right) if n % 8 else (right, wrong)
        elif animals.findall(first[n]) != animals.findall(right):
            second[n] = _other_neighbours(first[n])
    return scored(({"A": first, "B": second}, reference), features=["re:animal"])


@world(
    "more animals wrong, and other words around those that are wrong in both",
    says=["muler.better"],
    silent=["muler.*"],
)
def more_wrong_and_other_neighbours() -> Finding:
    return scored(wrong_beside(spoilt=True), features=["re:animal"])


def wrong_beside(*, spoilt: bool) -> tuple[dict[str, list[str]], list[str]]:
    """B has more animals wrong; where both have the same wrong one, A may spoil all around it.

    Args:
        spoilt: whether it does, so that it has less to lose there.
    """
    systems, reference = lines({"A": {}}, segments=240)
    second, animals = systems["A"], re.compile("|".join(ANIMALS))
    first = list(second)
    for n, right in enumerate(reference):
        if n % 4 == 0 and first[n] == right:
            second[n] = animals.sub("cow" if "horse" in right else "horse", right)
        elif spoilt and animals.findall(first[n]) != animals.findall(right):
            first[n] = _other_neighbours(first[n])
    return {"A": first, "B": second}, reference


@world(
    "identical systems",
    says=["muler.same"],
    silent=["muler.*"],
    without=["cannot tell"],
)
def identical() -> Finding:
    systems, reference = lines({"A": {}})
    return scored(({"A": systems["A"], "B": systems["A"]}, reference))


@world(
    "one segment changed",
    says=["muler.same"],
    silent=["muler.*"],
)
def one_changed() -> Finding:
    systems, reference = lines({"A": {}}, segments=120)
    return scored(({"A": systems["A"], "B": ["nothing", *systems["A"][1:]]}, reference))


@world(
    "a copy in which only digits changed",
    says=["muler.better", "muler.same"],
    silent=["muler.left-out", "muler.many"],
    without=["B on adverbs", "words are equal", "B on nouns", "B on determiners", "B makes fewer"],
)
def other_digits() -> Finding:
    return tagged([re.sub(r"\d", lambda one: str((int(one[0]) + 3) % 10), t) for t in outputs()])


@world(
    "a copy in which only quotation marks changed",
    says=["muler.same", "muler.uneven"],  # both have too many words of some kinds
    silent=["muler.*"],
)
def other_quotes() -> Finding:
    return tagged([one.replace('"', "\u201c").replace("'", "\u2019") for one in outputs()])


@world(
    "every third output empty",
    says=["muler.left-out"],
    silent=["muler.better", "muler.carried", "muler.many"],
)
def empty_outputs() -> Finding:
    return tagged(["" if n % 3 == 0 else one for n, one in enumerate(outputs())])


@world(
    "half of the determiners deleted",
    says=["muler.uneven", "muler.omits"],
    silent=["muler.left-out"],
    without=["B makes fewer errors than A on determiners"],
)
def fewer_determiners() -> Finding:
    article = re.compile(r"\b(?:the|a|an) ", re.IGNORECASE)
    draw = np.random.default_rng(5)
    return tagged(
        [article.sub(lambda one: "" if draw.random() < 0.5 else one[0], t) for t in outputs()]
    )


@world(
    "a system that leaves out each animal that it would get wrong",
    says=["muler.undecided", "muler.uneven", "muler.omits"],
    silent=["muler.better", "muler.left-out"],
)
def left_out_when_wrong() -> Finding:
    systems, reference = lines({"A": {"animal": 0.2, "place": 0.0}}, segments=240)
    animals = re.compile("|".join(ANIMALS))
    other = [animals.sub("one", right) if n % 2 else right for n, right in enumerate(reference)]
    return scored(({"A": systems["A"], "B": other}, reference), features=["re:animal"])


def numbers_wrong(language_pair: str | None, *, hindi: bool = True) -> Finding:
    """B has the wrong numbers in most of the segments; no option is given."""
    line = "राम ने London में {} किताबें खरीदीं।" if hindi else "ram köpte {} böcker i Delhi."
    draw = np.random.default_rng(5)
    numbers = [int(n) for n in draw.integers(2, 900, 60)]
    a, b = ([line.format(n + draw.integers(0, 9, 1)[0] // 8) for n in numbers] for _ in range(2))
    b = [line.format(n + 1) if n % 3 else text for n, text in zip(numbers, b, strict=True)]
    testset = gn.TestSet.from_lists(
        {"A": a, "B": b}, [line.format(n) for n in numbers], language_pair=language_pair
    )
    return gn.muler.score(testset, examples=0, resamples=199)


FORMS = ["muler.better", "muler.untagged"]


@world("Hindi numbers are wrong, and there is no tagger", says=FORMS)
def hindi_numbers() -> Finding:
    return numbers_wrong("en-hi")


@world("Swedish numbers are wrong, and nobody says which language it is", says=FORMS)
def numbers_of_no_language() -> Finding:
    return numbers_wrong(None, hindi=False)
