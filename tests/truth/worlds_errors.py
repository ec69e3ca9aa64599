"""What errors by feature may say of planted marks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from tests.truth.worlds import world

import gnomon as gn
from gnomon.core.human import HumanScores
from gnomon.core.spans import ErrorSpan

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

WORDS = ("dog", "cat", "hat", "mat", "car", "bus")


def marks(rates: dict[str, list[float]], segments: int = 120, seed: int = 0) -> gn.TestSet:
    """Outputs of the same six words each; those of each system are marked as often as is said."""
    draw = np.random.default_rng(seed)
    texts = [" ".join(WORDS)] * segments
    errors = tuple(
        ErrorSpan(name, n, "candidate", 4 * w, 4 * w + 3, "", "minor", "r", "esa")
        for name, often in rates.items()
        for n in range(segments)
        for w in np.flatnonzero(draw.random(len(WORDS)) < np.array(often)).tolist()
    )
    human = HumanScores("esa", "segment", tuple(rates), np.ones((len(rates), segments)), rater="r")
    return gn.TestSet(
        name="marked",
        references={"A": texts},
        systems=dict.fromkeys(rates, texts),
        language_pair="en",
        errors=errors,
        human=(human,),
    )


def found(testset: gn.TestSet, **options: object) -> Finding:
    asked: dict[str, object] = {"resamples": 199, "examples": 0, "features": ["re:*"]}
    asked["pattern"] = {word: word for word in WORDS}
    return gn.muler.errors(testset, **asked | options)  # type: ignore[arg-type]  # as they are


EVEN = [0.2] * 6


@world(
    "errors on dogs, of one system alone",
    says=["errors.where", "errors.systems"],
    silent=["errors.*"],
)
def on_dogs() -> Finding:
    return found(marks({"a": [0.6, *EVEN[1:]], "b": EVEN}))


@world(
    "marks whose places are moved by one character, into words",
    says=["errors.cut", "errors.where"],
    silent=["errors.*"],
)
def moved_marks() -> Finding:
    made = marks({"a": EVEN, "b": EVEN}, seed=1)
    moved = [replace(one, start=one.start + 1, end=one.end + 1) for one in made.errors]
    texts = {name: [f"{text} {name}" for text in some] for name, some in made.systems.items()}
    return found(replace(made, systems=texts, errors=tuple(moved)))


@world(
    "errors by chance",
    says=["errors.where"],
    silent=["errors.*"],
    without=["more often on"],
)
def by_chance() -> Finding:
    return found(marks({"a": EVEN, "b": EVEN}, seed=1))


@world(
    "the same errors in both systems",
    says=["errors.where"],
    silent=["errors.*"],
)
def same_marks() -> Finding:
    testset = marks({"a": [0.6, *EVEN[1:]]})
    copies = [replace(one, system="b") for one in testset.errors]
    systems = dict.fromkeys("ab", testset.systems["a"])
    return found(replace(testset, systems=systems, errors=(*testset.errors, *copies), human=()))


@world(
    "errors on dogs in ten segments",
    says=["errors.where", "data.few"],
    silent=["errors.*"],
    without=["more often on"],
)
def few_segments() -> Finding:
    return found(marks({"a": [0.9, *EVEN[1:]], "b": [0.1] * 6}, segments=10))


@world(
    "words marked by chance, some of them in names of three words",
    says=["errors.where"],
    silent=["errors.*"],
    without=["more often on", "less often on"],
)
def long_names() -> Finding:
    made = marks({"a": EVEN, "b": EVEN}, seed=1)
    return found(made, pattern={"name": "cat hat mat", "half": "car bus"})


@world(
    "no errors on cats",
    says=["errors.where"],
    silent=["errors.*"],
    without=["0.00 [0.00, 0.00]"],
)
def no_marks() -> Finding:
    return found(marks({"a": [0.3, 0.0, *[0.3] * 4]}))


def unscored(a: list[int], b: list[int]) -> Finding:
    """Errors of the segments of two systems, in the order of a file without scores."""
    testset = marks({"a": [1.0] * 6, "b": [1.0] * 6})
    kept = [e for e in testset.errors if e.segment in {"a": a, "b": b}[e.system]]
    return found(replace(testset, errors=tuple(kept), human=()))


@world(
    "outputs of one system that a file lists in part",
    says=["errors.unlisted", "errors.where", "errors.systems"],
    silent=["data.few"],
)
def listed_in_part() -> Finding:
    return unscored(list(range(120)), list(range(0, 120, 3)))


@world(
    "outputs of both systems that a file lists",
    says=["errors.where"],
    silent=["errors.*"],
)
def listed_alike() -> Finding:
    return unscored(list(range(120)), list(range(1, 120)))


@world("three words in all", says=["data.few"], silent=["errors.*"])
def few_words() -> Finding:
    return found(marks({"a": EVEN}, segments=2))


@world(
    "marked by people by fewer documents than intervals need",
    says=["errors.where", "data.few"],
    silent=["errors.*"],
    without=[" [", "more often on"],
)
def few_documents() -> Finding:
    testset = marks({"a": [0.6, *EVEN[1:]], "b": EVEN})
    return found(replace(testset, documents=tuple(f"d{n // 12}" for n in range(120))))
