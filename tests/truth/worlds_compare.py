"""Planted worlds of `compare`: which system is better, and when that cannot be told."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from tests.methods.compare.test_preferences import BoundLonger, Longer
from tests.told import cut_texts, told
from tests.truth.worlds import bundled, noised, outputs, planted, references, world

import gnomon as gn
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.findings import Finding
    from gnomon.messages import Message

BARE = {"resamples": 199, "examples": 0, "ngrams": 0}
ANY = "compare.*"
FOUND = ("compare.better", "compare.worse")


def scored(
    *segments: NDArray[np.float64],
    people: bool = False,
    documents: Sequence[str] | None = None,
    title: str = "quality",
    **options: object,
) -> Finding:
    """Systems A, B, ... of these scores, or of a list of such scores by metric."""
    metrics = segments if segments[0].ndim == 2 else (np.stack(segments),)
    names, n = tuple("ABCDEFGH"[: len(metrics[0])]), metrics[0].shape[1]
    texts = [f"text {k}" for k in range(n)]
    testset = gn.TestSet.from_lists(
        dict.fromkeys(names, texts),
        [f"{text} ." for text in texts],
        documents=documents,
        name="planted",
    )
    given = [
        Scores(
            title if len(metrics) == 1 else f"{title}{k}",
            names,
            np.nanmean(one, axis=1),
            one,
            higher_is_better=True,
            signature=Signature(title),
            from_people=people,
        )
        for k, one in enumerate(metrics)
    ]
    return gn.compare(testset, given, **{**BARE, **options})  # type: ignore[arg-type]


def noise(seed: int, systems: int = 2, segments: int = 60) -> NDArray[np.float64]:
    """Systems that differ by nothing but chance."""
    draw = np.random.default_rng(seed)
    return draw.normal(50, 10, segments) + draw.normal(0, 5, (systems, segments))


def judged(seed: int, gain: float, documents: int = 40) -> NDArray[np.float64]:
    """Two systems judged by the document: half the variance is the document's."""
    draw = np.random.default_rng(seed)
    cells = draw.normal(0, 5, (2, documents)).repeat(5, axis=1)
    cells += draw.normal(70, 5, (2, 5 * documents))
    cells[1] += gain - (cells[1] - cells[0]).mean()
    return cells


def names_of(documents: int, each: int = 5) -> list[str]:
    return [f"d{k}" for k in range(documents) for _ in range(each)]


def compared(systems: dict[str, list[str]], metrics: object = "chrf", **options: object) -> Finding:
    """Planted outputs under a metric."""
    return gn.compare(planted(systems), metrics, **{**BARE, **options})  # type: ignore[arg-type]


# Two systems


@world("a system with a third of its words spoilt", says=["compare.worse"], silent=[ANY])
def spoilt() -> Finding:
    return compared({"A": outputs(), "B": noised(outputs(), 0.33, 1)})


@world("a system whose neighbour is spoilt", says=["compare.better"], silent=[ANY])
def unspoilt() -> Finding:
    return compared({"A": noised(outputs(), 0.33, 1), "B": outputs()}, "bleu")


@world("two equal systems", says=["compare.same"], silent=[ANY], without=["better", "worse"])
def equal_systems() -> Finding:
    return compared({"A": outputs(), "B": outputs()}, "bleu")


@world("one segment changed", says=["compare.few_different"], silent=[ANY], without=["0.00 "])
def one_segment() -> Finding:
    texts = outputs()
    return compared({"A": outputs(), "B": ["nothing of it", *texts[1:]]}, "bleu")


@world("a chance difference in all segments", says=["compare.undecided"], silent=[ANY])
def by_chance() -> Finding:
    return scored(noise(3))


@world(
    "sacreBLEU's p is small, and decides",
    says=["compare.better"],
    silent=["compare.undecided"],
    without=[" [", "corrected"],
)
def published_p() -> Finding:
    cells = noise(0, segments=100)
    error = float(np.std(cells[1] - cells[0], ddof=1)) / 10
    cells[1] += 1.75 * error - (cells[1] - cells[0]).mean()
    found = scored(cells, test="sacrebleu", resamples=999)
    assert found.rows[1]["p"] <= 0.05  # type: ignore[operator]
    return found


@world("few segments of which two differ much", says=["compare.few_different"], silent=[*FOUND])
def skewed() -> Finding:
    draw = np.random.default_rng(2)
    gains = draw.exponential(1.0, 40) + 0.5
    gains[:2] = 40
    base = draw.normal(50, 10, 40)
    return scored(base, base + gains)


@world("ten segments", says=["data.few"], silent=[ANY], without=["is better"])
def ten_segments() -> Finding:
    cells = noise(1, segments=10)
    cells[1] += 20
    return scored(cells)


@world("nothing was drawn", says=["compare.untested"], silent=[ANY])
def undrawn() -> Finding:
    cells = noise(1)
    cells[1] += 20
    return scored(cells, resamples=0)


# Missing outputs and scores


@world(
    "a fifth of a system's outputs are empty",
    says=["data.empty", "compare.worse"],
    silent=[ANY],
    without=["A leaves"],
)
def empty_outputs() -> Finding:
    texts = ["" if k % 5 == 0 else text for k, text in enumerate(outputs())]
    found = compared({"A": outputs(), "B": texts}, "bleu")
    assert any("B leaves 42 of 209 outputs empty" in str(said) for said in found.verdict)
    return found


@world("two outputs of 209 are empty", says=["compare.few_different"], silent=[ANY])
def two_empty_outputs() -> Finding:
    return compared({"A": outputs(), "B": ["", " ", *outputs()[2:]]}, "bleu")


@world(
    "a judge that gives no score to a third of B's outputs, the bad ones",
    says=["compare.missing", "compare.same"],
    silent=[*FOUND],
    without=["is better", "is worse"],
)
def bad_ones_left_out() -> Finding:
    cells = np.repeat(noise(5, 1, 90), 2, axis=0)
    cells[1, np.argsort(cells[1])[:30]] = np.nan
    return scored(cells)


@world(
    "the same holes under randomisation, and small differences elsewhere",
    says=["compare.missing", "compare.undecided"],
    silent=[*FOUND],
)
def bad_ones_left_out_exchanged() -> Finding:
    cells = np.repeat(noise(5, 1, 90), 2, axis=0)
    cells[1] += np.random.default_rng(1).normal(0, 1, 90)
    cells[1] -= (cells[1] - cells[0]).mean()
    cells[1, np.argsort(cells[0])[:30]] = np.nan
    return scored(cells, test="ar")


@world("one score of 200 is missing", says=["compare.undecided"], silent=["compare.missing"])
def one_missing() -> Finding:
    cells = noise(3, segments=200)
    cells[1] -= (cells[1] - cells[0]).mean()
    cells[1, 0] = np.nan
    return scored(cells)


@world(
    "no segment has both scores",
    says=["compare.missing", "compare.undefined"],
    silent=["data.few", *FOUND],
)
def nothing_in_common() -> Finding:
    cells = noise(3, segments=80)
    cells[0, :40] = np.nan
    cells[1, 40:] = np.nan
    return scored(cells)


# What people said, and documents


@world(
    "people like B better, document by document",
    says=["compare.better"],
    silent=["compare.worse", "compare.clustered"],
    without=["agree"],
)
def liked() -> Finding:
    return scored(judged(1, 8.0), people=True, documents=names_of(40), title="esa")


@world(
    "people like B less",
    says=["compare.worse"],
    silent=["compare.better"],
)
def disliked() -> Finding:
    return scored(judged(1, -8.0), people=True, documents=names_of(40), title="esa")


@world(
    "a difference that segments decide and documents do not",
    says=["compare.undecided"],
    silent=[*FOUND],
)
def judged_by_document() -> Finding:
    return scored(judged(2, 2.1), people=True, documents=names_of(40), title="esa")


@world(
    "the same scores of a metric, which documents decide as well",
    says=["compare.undecided"],
    silent=[*FOUND, "compare.clustered"],
)
def clustered() -> Finding:
    return scored(judged(2, 2.1), documents=names_of(40))


@world(
    "people judged ten documents",
    says=["compare.untested"],
    silent=[*FOUND],
    without=["p =", " [-", " [0", "told apart"],
)
def few_documents() -> Finding:
    return scored(judged(1, 8.0, 10), people=True, documents=names_of(10), title="esa")


@world(
    "people judged four systems in ten documents",
    says=["compare.untested"],
    silent=["compare.leaders", "compare.several_undecided", *FOUND],
    without=["p =", "told apart"],
)
def few_documents_of_several() -> Finding:
    cells = np.vstack([judged(1, 8.0, 10), judged(2, 4.0, 10)])
    return scored(cells, people=True, documents=names_of(10), baseline="A", title="esa")


@world(
    "scores with a mood in each of twelve documents",
    says=["compare.clustered"],
    silent=["compare.untested"],
    without=["take documents"],
)
def moods() -> Finding:
    return scored(judged(1, 8.0, 12), documents=names_of(12))


@world(
    "segments that differ, in eight documents that do not",
    says=["compare.by_document"],
    silent=["compare.clustered", *FOUND],
    without=["is better", "is worse"],
)
def few_documents_of_a_metric() -> Finding:
    found = scored(judged(2, 4.0, 8), documents=names_of(8))
    row = found.rows[1]
    assert row["p_documents"] > 0.05  # type: ignore[operator]
    assert (row["p"], row["low"], row["caveat"]) == (None, None, "by document")
    return found


@world(
    "four systems in eight documents that do not differ",
    says=["compare.leaders"],
    silent=["compare.best", *FOUND],
    without=["is better", "is worse", "p <= .00"],
)
def few_documents_of_four() -> Finding:
    cells = np.vstack([judged(2, 2.4, 8), judged(5, 0.4, 8)])
    return scored(cells, documents=names_of(8), resamples=1999)


@world(
    "one document",
    says=["compare.clustered", "compare.better"],
    silent=["compare.by_document"],
    without=["intervals by document"],
)
def one_document() -> Finding:
    return scored(judged(1, 8.0, 12), documents=["d"] * 60)


@world(
    "twelve documents that do not matter",
    says=["compare.undecided"],
    silent=["compare.clustered"],
)
def no_moods() -> Finding:
    cells = noise(3, segments=120)
    cells[1] -= (cells[1] - cells[0]).mean()
    return scored(cells, documents=[f"d{k % 12}" for k in range(120)])


@world(
    "people judged, and documents are not known",
    says=["human.no_documents", "compare.better"],
    silent=["compare.worse"],
)
def unknown_documents() -> Finding:
    return scored(judged(1, 8.0), people=True, title="esa")


@world(
    "a metric's scores in documents that do not matter",
    says=["compare.undecided"],
    silent=["compare.clustered", *FOUND],
)
def unclustered() -> Finding:
    cells = noise(3, segments=200)
    cells[1] -= (cells[1] - cells[0]).mean()
    return scored(cells, documents=[f"d{k % 40}" for k in range(200)])


# Several systems


@world("one of four systems is ahead", says=["compare.best"], silent=[ANY])
def one_best() -> Finding:
    cells = noise(4, 4)
    cells[2] += 9
    return scored(cells)


@world("two of four systems are ahead", says=["compare.leaders"], silent=[ANY])
def two_best() -> Finding:
    cells = noise(4, 4)
    cells[2:] += 12
    return scored(cells)


@world("four equal systems", says=["compare.leaders"], silent=[ANY], without=["better than"])
def four_equal() -> Finding:
    return scored(noise(4, 4))


@world("the best of four, where nothing was drawn", says=["compare.untested"], silent=[ANY])
def highest() -> Finding:
    return scored(noise(4, 4), resamples=0)


@world(
    "two systems above a baseline that was named, and two below",
    says=["compare.several"],
    silent=["compare.several_undecided", *FOUND],
)
def named_baseline() -> Finding:
    cells = noise(4, 5)
    cells[1:3] += 12
    cells[3:] -= 12
    return scored(cells, baseline="A")


@world(
    "systems that are like the baseline",
    says=["compare.several_undecided"],
    silent=["compare.several"],
)
def like_the_baseline() -> Finding:
    return scored(noise(4, 4), baseline="A")


# A metric that reads two outputs at once


def lengths(n: int = 60, *, seed: int = 1, **means: int) -> Finding:
    """Outputs of about these lengths, by a metric that prefers the longer one."""
    draw = random.Random(seed)
    systems = {
        name: ["x" * max(1, mean + draw.randint(-4, 4)) for _ in range(n)]
        for name, mean in means.items()
    }
    testset = gn.TestSet.from_lists(systems, ["x" * 20] * n)
    return gn.compare(testset, Longer(), **BARE)  # type: ignore[arg-type]


@world("two systems, one of them longer", says=["compare.better"], silent=[ANY])
def longer() -> Finding:
    return lengths(a=10, b=14)


@world("two systems of one length", says=["compare.undecided"], silent=[ANY])
def as_long() -> Finding:
    return lengths(a=10, b=10, seed=3)


@world("the longest of three", says=["compare.best"], silent=[ANY])
def longest() -> Finding:
    return lengths(a=6, b=9, c=15)


@world("two of three are long", says=["compare.leaders"], silent=[ANY])
def two_long() -> Finding:
    return lengths(a=5, b=14, c=14, seed=3)


@world("many are a little longer, few much shorter", says=["compare.undecided"], silent=[*FOUND])
def opposite_mean() -> Finding:
    systems = {"a": ["x" * 10] * 60, "b": ["x" * 11] * 50 + ["x"] * 10}
    return gn.compare(gn.TestSet.from_lists(systems, ["x" * 90] * 60), Longer(), **BARE)  # type: ignore[arg-type]


class _Cut(Longer):
    def bind(self, _: gn.TestSet) -> BoundLonger:
        return _BoundCut(self)


class _BoundCut(BoundLonger):
    def pair_notices(self, _: Batch) -> tuple[Message, ...]:
        return (cut_texts(3, 120),)


@world("texts that are too long for a metric of pairs", says=["score.cut"], silent=["data.few"])
def cut_pairs() -> Finding:
    texts = ["x" * (k % 7 + 1) for k in range(60)]
    testset = gn.TestSet.from_lists({"a": texts, "b": texts[::-1]}, ["x" * 20] * 60)
    return gn.compare(testset, _Cut(), **BARE)  # type: ignore[arg-type]


# Several metrics and slices


@world("metrics that say the opposite", says=["compare.disagree"], silent=["data.few"])
def opposite() -> Finding:
    up, down = noise(1), noise(2)
    up[1] += 6
    down[1] -= 6
    return scored(up, down)


@world("metrics that say the same", says=["compare.better"], silent=["compare.disagree"])
def alike() -> Finding:
    up, down = noise(1), noise(2)
    up[1] += 6
    down[1] += 6
    return scored(up, down)


def _sliced(gains: tuple[float, float]) -> Finding:
    cells = noise(1, segments=120)
    cells[1] += np.repeat(gains, 60)
    texts = [f"text {k}" for k in range(120)]
    testset = gn.TestSet.from_lists(
        {"A": texts, "B": texts},
        [f"{text} ." for text in texts],
        domains=["news"] * 60 + ["chat"] * 60,
    )
    metric = Scores("quality", ("A", "B"), cells.mean(axis=1), cells, True, Signature("quality"))
    return gn.compare(testset, metric, by="domain", **BARE)  # type: ignore[arg-type]


@world(
    "better in news and worse in chat",
    says=["compare.slice"],
    silent=["compare.better", "compare.worse"],
)
def by_domain() -> Finding:
    return _sliced((8, -8))


@world(
    "equal in news and in chat",
    says=["compare.undecided"],
    silent=["compare.slice"],
)
def equal_by_domain() -> Finding:
    return _sliced((0, 0))


# Texts that a model does not read to their end


def _read(notice: Message) -> Finding:
    cells = noise(3)
    texts = [f"text {k}" for k in range(60)]
    testset = gn.TestSet.from_lists({"A": texts, "B": texts}, [f"{text} ." for text in texts])
    metric = Scores("quality", ("A", "B"), cells.mean(axis=1), cells, True, Signature("quality"))
    return gn.compare(testset, replace(metric, notices=(notice,)), **BARE)  # type: ignore[arg-type]


@world("texts that are too long for a model", says=["score.cut"], silent=[*FOUND])
def too_long() -> Finding:
    return _read(cut_texts(3, 120))


@world("a notice of something else", says=["compare.undecided"], silent=["score.cut"])
def long_enough() -> Finding:
    return _read(told("the model is small", "note"))


# Noise in texts


@world("3 % noise against another 3 % noise", says=["compare.undecided"], silent=[*FOUND])
def equal_noise() -> Finding:
    return compared({"A": noised(outputs(), 0.03, 1), "B": noised(outputs(), 0.03, 2)}, "bleu")


@world("outputs of two systems, drawn by coins", says=["compare.undecided"], silent=[*FOUND])
def by_coins() -> Finding:
    draw = random.Random(3)
    pairs = zip(outputs(), outputs("apertium-french"), strict=True)
    mixed = [pair[:: draw.choice((1, -1))] for pair in pairs]
    return compared({"A": [one for one, _ in mixed], "B": [two for _, two in mixed]}, "bleu")


@world(
    "the reference against a system",
    says=["data.copied", "compare.worse"],
    silent=["compare.better"],
)
def the_reference() -> Finding:
    assert bundled().segments == len(references())
    found = compared({"copy": references(), "B": outputs()}, "bleu")
    copied = "output of 'copy' is the same text as the reference"
    assert any(copied in str(said) for said in found.verdict)
    return found


def _copied(of_hundred: int) -> Finding:
    rows = enumerate(zip(references(), outputs(), strict=True))
    texts = [ref if at % 100 < of_hundred else out for at, (ref, out) in rows]
    return compared({"A": outputs(), "B": texts}, "bleu")


def _set_of(rows: Sequence[int], *, emptied: int = 0) -> Finding:
    """Some segments of the example; references of so many are empty."""
    own = {"A": outputs(), "B": outputs("apertium-french")}
    systems = {name: [texts[row] for row in rows] for name, texts in own.items()}
    against = ["" if at < emptied else references()[row] for at, row in enumerate(rows)]
    return gn.compare(planted(systems, against=against), "chrf", **BARE)  # type: ignore[arg-type]


@world("a test set that is given twice", says=["data.repeated"], silent=["data.no_reference"])
def given_twice() -> Finding:
    return _set_of([*range(100), *range(100)])


@world("4 of 104 segments come again", silent=["data.*"])
def few_come_again() -> Finding:
    return _set_of([*range(100), *range(4)])


@world("a tenth of the references is empty", says=["data.no_reference"], silent=["data.repeated"])
def empty_references() -> Finding:
    return _set_of(range(200), emptied=20)


@world("1 of 200 references is empty", silent=["data.*"])
def one_empty_reference() -> Finding:
    return _set_of(range(200), emptied=1)


@world("nearly all outputs are the reference", says=["data.copied"])
def nearly_the_reference() -> Finding:
    return _copied(97)


@world("most outputs are the reference", silent=["data.copied"])
def mostly_the_reference() -> Finding:
    return _copied(80)


UNREAD_OUTPUTS = ["今天天气很好", "我们去公园", "他喜欢读书"] * 15


@world(
    "Chinese texts under a metric of Latin letters",
    says=["data.unread"],
    silent=["compare.*"],
    without=["score the same", "highest"],
)
def unread() -> Finding:
    other = ["他们在家", "明天下雨", "她去学校"] * 15
    testset = gn.TestSet.from_lists(
        {"A": UNREAD_OUTPUTS, "B": other}, [f"{one}了" for one in UNREAD_OUTPUTS]
    )
    return gn.compare(testset, "rougeL", **BARE)  # type: ignore[arg-type]
