"""Worlds of `gnomon metaeval`: human scores made of what is known, and metrics made of these."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tests.truth.worlds import bundled, world

import gnomon as gn
from gnomon.core.human import HumanScores
from gnomon.core.signature import Signature

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

#: of draws, where a test draws
FEW: dict[str, Any] = {"resamples": 200}
SYSTEMS = tuple(f"s{k:02}" for k in range(20))
Array = NDArray[np.float64]


def people(systems: int = 12, segments: int = 60, *, seed: int = 1, spread: float = 0.7) -> Array:
    """Human scores [systems, segments]: of systems, of segments, and of nothing else."""
    draw = np.random.default_rng(seed)
    return np.asarray(
        spread * draw.normal(size=(systems, 1))
        + 0.7 * draw.normal(size=(1, segments))
        + draw.normal(size=(systems, segments))
    )


def near(human: Array, noise: float, seed: int) -> Array:
    """What a metric says that people's scores went into, with noise of its own."""
    draw = np.random.default_rng([seed, 99])
    return np.asarray(human + noise * draw.normal(size=human.shape))


def judged(
    human: Array, *, kind: str = "quality", documents: int | None = 3, name: str = "set"
) -> gn.TestSet:
    """A test set whose documents have so many segments each, and people's scores of it."""
    count = human.shape[1]
    texts = {
        s: [f"{'w ' * (1 + (i * 7 + k) % 5)}." for i in range(count)] for k, s in enumerate(SYSTEMS)
    }
    made = gn.TestSet.from_lists(
        {s: texts[s] for s in SYSTEMS[: len(human)]},
        [f"r {i % 4}" for i in range(count)],
        documents=None if documents is None else [f"d{i // documents}" for i in range(count)],
        language_pair="es-en",
        name=name,
    )
    scored = HumanScores(kind, "segment", SYSTEMS[: len(human)], human)
    return replace(made, human=(scored,))


def metric(values: Array, name: str, **fields: Any) -> gn.Scores:
    """Scores of segments, whose means are those of systems."""
    systems = SYSTEMS[: len(values)]
    return gn.Scores(name, systems, values.mean(axis=1), values, True, Signature(name), **fields)


_AGREEMENTS = ["metaeval.agrees", "metaeval.better", "metaeval.highest", "metaeval.against"]


@world(
    "a metric that is nearer to people than another",
    says=["metaeval.better"],
    silent=["metaeval.*"],
)
def one_is_better() -> Finding:
    human = people()
    made = [metric(near(human, 0.2, 1), "near"), metric(near(human, 3.0, 2), "far")]
    return gn.metaeval(judged(human), made, levels=["segment"], **FEW)


@world(
    "a metric that is nearer to people than one of two others",
    says=["metaeval.better"],
    silent=["metaeval.*"],
)
def one_of_two_is_worse() -> Finding:
    human = people()
    made = [metric(near(human, noise, k), f"m{k}") for k, noise in enumerate((1.0, 1.0, 6.0))]
    return gn.metaeval(judged(human), made, levels=["segment"], **FEW)


@world(
    "two metrics that are equally good",
    says=["metaeval.highest"],
    silent=["metaeval.*"],
)
def equally_good() -> Finding:
    human = people()
    made = [metric(near(human, 1.0, k), f"m{k}") for k in (1, 2)]
    return gn.metaeval(judged(human), made, levels=["segment"], **FEW)


@world("two metrics and no draws", says=["metaeval.highest"], silent=["metaeval.*"])
def not_tested() -> Finding:
    human = people()
    made = [metric(near(human, 1.0, k), f"m{k}") for k in (1, 2)]
    return gn.metaeval(judged(human), made, levels=["segment"], resamples=0)


@world(
    "a metric that is near to people",
    says=["metaeval.agrees"],
    silent=["metaeval.*"],
)
def agrees() -> Finding:
    human = people()
    return gn.metaeval(judged(human), metric(near(human, 1.0, 1), "m"), **FEW)


@world(
    "an error rate that nobody turned",
    says=["metaeval.against"],
    silent=["metaeval.*"],
)
def goes_against() -> Finding:
    human = people()
    made = metric(-near(human, 0.5, 1), "rate")
    return gn.metaeval(judged(human), made, levels=["segment"], **FEW)


@world(
    "human scores drawn at random",
    says=["metaeval.none", "metaeval.controls"],
    silent=["metaeval.*"],
)
def random_people() -> Finding:
    made = metric(people(seed=5, spread=0.0), "m")
    return gn.metaeval(judged(people(seed=4, spread=0.0)), made, **FEW)


@world("two metrics that go against people", says=["metaeval.against"], silent=_AGREEMENTS[:3])
def none_agrees() -> Finding:
    human = people()
    made = [metric(-near(human, 1.0, k), f"m{k}") for k in (1, 2)]
    return gn.metaeval(judged(human), made, levels=["segment"], **FEW)


def _by_chance(level: str, seed: int) -> Finding:
    draws = [people(seed=seed + k, spread=0.0) for k in range(3)]
    made = [metric(one, f"m{k}") for k, one in enumerate(draws[1:])]
    return gn.metaeval(judged(draws[0]), made, levels=[level], **FEW)


@world(
    "human scores of systems drawn at random, and two metrics",
    says=["metaeval.none", "metaeval.controls"],
    silent=["metaeval.*"],
    without=["highest agreement", "agrees better"],
)
def random_people_of_systems() -> Finding:
    return _by_chance("system", 40)


@world(
    "human scores of segments drawn at random, and two metrics",
    says=["metaeval.none", "metaeval.controls"],
    silent=["metaeval.*"],
    without=["highest agreement", "agrees better"],
)
def random_people_of_segments() -> Finding:
    return _by_chance("segment", 40)


def _equal_people(human: Array) -> Finding:
    made = [metric(near(people(), 1.0, k), f"m{k}") for k in (1, 2)]
    return gn.metaeval(judged(human), made, **FEW)


@world(
    "people who gave every output the same score",
    says=["metaeval.equal"],
    silent=["metaeval.*"],
    without=["every system", "of a segment"],
)
def equal_people() -> Finding:
    return _equal_people(np.full(people().shape, 70.1))


@world(
    "people who gave all outputs of a segment the same score",
    says=["metaeval.equal"],
    silent=["metaeval.controls", "metaeval.none", *_AGREEMENTS[3:]],
    without=["1.00 against"],
)
def equal_within_segments() -> Finding:
    return _equal_people(np.repeat(people()[:1], 12, axis=0))


@world(
    "a metric that goes against people beside one that agrees",
    says=["metaeval.better", "metaeval.against"],
    silent=["metaeval.equal"],
    without=["as well as back"],
)
def one_is_backwards() -> Finding:
    human = people()
    made = [metric(near(human, 0.3, 1), "m"), metric(-near(human, 0.3, 2), "back")]
    return gn.metaeval(judged(human), made, **FEW)


@world(
    "a statistic without a value of chance, and one metric",
    says=["metaeval.value"],
    silent=["metaeval.*"],
)
def value_alone() -> Finding:
    human = people()
    return gn.metaeval(
        judged(human),
        metric(near(human, 0.3, 1), "m"),
        statistics=["acc_eq"],
        **FEW,
    )


def _kinds(human: Array, made: list[gn.Scores]) -> Finding:
    first = judged(human)
    kinds = [
        replace(first.human[0], kind=f"kind{k}", values=near(human, 0.3, 40 + k)) for k in range(3)
    ]
    told = replace(first, human=tuple(kinds))
    return gn.metaeval(told, made, levels=["segment"], **FEW)


@world(
    "three kinds of human scores, under all of which one metric is better",
    says=["metaeval.highest"],
    silent=["metaeval.*"],
)
def kinds_better() -> Finding:
    human = people()
    return _kinds(human, [metric(near(human, 0.2, 1), "near"), metric(near(human, 5.0, 2), "far")])


@world(
    "three kinds of human scores and two metrics that are equally good",
    says=["metaeval.highest"],
    silent=["metaeval.*"],
)
def kinds_highest() -> Finding:
    human = people()
    return _kinds(human, [metric(near(human, 1.0, k), f"m{k}") for k in (3, 4)])


def _several(noises: tuple[float, ...]) -> Finding:
    sets, scores = [], [[] for _ in noises]  # type: ignore[var-annotated]
    for seed, pair in enumerate(("de-en", "fr-en", "cs-en")):
        human = people(seed=seed)
        sets.append(replace(judged(human, name=pair), language_pair=pair))
        for k, noise in enumerate(noises):
            scores[k].append(metric(near(human, noise, 10 * seed + k), f"m{k}"))
    made = {f"m{k}": one for k, one in enumerate(scores)}
    return gn.metaeval(sets, made, levels=["segment"], **FEW)


@world("two metrics on three test sets", says=["metaeval.highest"], silent=["metaeval.*"])
def several_sets() -> Finding:
    return _several((0.3, 4.0))


@world(
    "two metrics on two test sets, one of them of three systems",
    says=["metaeval.highest", "data.few"],
    silent=["metaeval.*"],
    without=["over 1 test set", "of 1"],
)
def one_of_two_sets_is_small() -> Finding:
    sets, scores = [], {"near": [], "far": []}  # type: ignore[var-annotated]
    for pair, systems in (("de-en", 12), ("fr-en", 3)):
        human = people(systems)
        sets.append(replace(judged(human, name=pair), language_pair=pair))
        scores["near"].append(metric(near(human, 0.2, 1), "near"))
        scores["far"].append(metric(near(human, 2.0, 2), "far"))
    return gn.metaeval(sets, scores, levels=["system"], statistics=["pearson"], **FEW)


def _sure(confidence: float) -> Finding:
    human = people()
    made = [metric(near(human, noise, k), f"m{k}") for k, noise in enumerate((1.0, 1.1))]
    return gn.metaeval(
        judged(human), made, levels=["segment"], confidence=confidence, resamples=1000
    )


@world("a small difference at a confidence of .8", says=["metaeval.better"], silent=["metaeval.*"])
def a_small_difference() -> Finding:
    return _sure(0.8)


@world(
    "the same difference at a confidence of .999",
    says=["metaeval.highest"],
    silent=["metaeval.*"],
)
def not_sure_enough() -> Finding:
    return _sure(0.999)


@world("one metric on three test sets", says=["metaeval.value"], silent=["metaeval.*"])
def one_metric_on_several_sets() -> Finding:
    return _several((0.3,))


@world(
    "a metric that is the human scores",
    says=["metaeval.circular", "metaeval.agrees"],
    silent=["metaeval.*"],
    without=["same agrees", "same has", "than same", "and same"],
)
def the_same() -> Finding:
    human = people()
    made = [metric(2 * human + 1, "same"), metric(near(human, 0.5, 1), "m")]
    return gn.metaeval(judged(human), made, levels=["segment"], **FEW)


@world("human scores with a little noise", says=["metaeval.circular"], silent=["metaeval.*"])
def nearly_the_same() -> Finding:
    human = people()
    made = metric(2 * human + 5 + near(human, 0.001, 3) - human, "same")
    return gn.metaeval(judged(human), [made], resamples=100)


@world("scores that people gave", says=["metaeval.circular"], silent=["metaeval.*"])
def people_as_a_metric() -> Finding:
    human = people()
    made = metric(near(human, 0.5, 1), "esa", from_people=True)
    return gn.metaeval(judged(human), made, **FEW)


@world("a metric made with the human scores", says=["metaeval.circular"], silent=["metaeval.*"])
def informed() -> Finding:
    human = people()
    made = metric(near(human, 0.5, 1), "m", informed_by=("quality",))
    return gn.metaeval(judged(human), made, allow_circular=True, **FEW)


@world("post-edits as references", says=["metaeval.circular"], silent=["metaeval.*"])
def post_edits() -> Finding:
    """Reference-based metrics against post-edits, judged directly."""
    told = bundled()
    systems, chrf = tuple(told.systems), gn.score(told, "chrf").segments
    human = chrf + 5 * np.random.default_rng(1).normal(size=chrf.shape)
    (texts,) = told.references.values()
    made = replace(
        told,
        references={"post-edit": texts},
        human=(HumanScores("quality", "segment", systems, human),),
    )
    return gn.metaeval(made, ["bleu"], levels=["segment"], **FEW)


def _hter(kind: str) -> gn.TestSet:
    told = bundled()
    ter = -gn.score(told, "ter").segments
    return replace(told, human=(HumanScores(kind, "segment", tuple(told.systems), ter),))


@world("HTER as human scores", says=["metaeval.edits"], silent=["metaeval.*"])
def edit_rates() -> Finding:
    return gn.metaeval(_hter("hter"), ["bleu", "chrf"], **FEW)


@world("HTER under another name", says=["metaeval.edits"], silent=["metaeval.*"])
def edit_rates_by_another_name() -> Finding:
    return gn.metaeval(_hter("effort"), ["bleu", "chrf"], **FEW)


@world("three systems", says=["data.few"], silent=["metaeval.*"], without=["[1.0"])
def three_systems() -> Finding:
    human = people(3)
    made = metric(near(human, 0.1, 1), "m")
    return gn.metaeval(judged(human), made, levels=["system"], **FEW)


@world("three segments", says=["data.few"], silent=_AGREEMENTS)
def three_segments() -> Finding:
    human = people(6, 3)
    made = metric(near(human, 0.1, 1), "m")
    return gn.metaeval(judged(human, documents=None), made, levels=["segment"], **FEW)


@world("ten documents", says=["data.few"], silent=["metaeval.*"])
def ten_documents() -> Finding:
    human = people(6, 100)
    made = metric(near(human, 0.1, 1), "m")
    return gn.metaeval(judged(human, documents=10), made, levels=["segment"], **FEW)


@world(
    "a metric that random numbers reach, and one that they do not",
    says=["metaeval.controls"],
    silent=["metaeval.circular", "metaeval.agrees"],
    without=["as well as near", "and near", "length"],
)
def reached_by_chance() -> Finding:
    human = people()
    made = [metric(near(human, 0.2, 1), "near"), metric(-human + near(human, 1, 2), "poor")]
    told = judged(human)
    # outputs of one length, so that only chance orders anything
    told = replace(told, systems={name: ["w"] * told.segments for name in told.systems})
    return gn.metaeval(told, made, statistics=["pairwise_accuracy"], **FEW)


@world(
    "a random metric beside one that agrees",
    says=["metaeval.agrees"],
    silent=["metaeval.*"],
    without=["andom"],
)
def a_control_is_no_metric() -> Finding:
    told = bundled()
    chrf = gn.score(told, "chrf").segments
    human = chrf + 5 * np.random.default_rng(1).normal(size=chrf.shape)
    made = replace(told, human=(HumanScores("quality", "segment", tuple(told.systems), human),))
    return gn.metaeval(made, ["chrf", "random"], levels=["segment"], **FEW)


@world(
    "people gave each system one score, and all its outputs that one",
    says=["metaeval.equal"],
    silent=["metaeval.better", "metaeval.highest"],
    without=[".500 against .500", "goes against", "go against"],
)
def one_score_of_each_system() -> Finding:
    human = np.repeat(np.arange(12.0)[:, None], 60, axis=1)
    draw = np.random.default_rng(3)
    noise = draw.normal(size=(2, 12, 60))
    made = [metric(noise[0], "one"), metric(noise[1], "two")]
    return gn.metaeval(judged(human), made, levels=["segment"], statistics=["acc_eq"], **FEW)


@world(
    "a metric that is turned around beside two that agree, of few systems",
    says=["metaeval.better", "metaeval.against"],
    silent=["metaeval.*"],
    without=["and back (", "but back"],
)
def turned_around_beside_two() -> Finding:
    human = people(8)
    made = [metric(near(human, 2.5, k), f"m{k}") for k in (1, 4)]
    made.append(metric(-near(human, 2.9, 2), "back"))
    return gn.metaeval(judged(human), made, levels=["system"], **FEW)


@world(
    "a metric that is turned around, of five systems, which no test tells from two that agree",
    says=["metaeval.highest", "metaeval.none"],
    silent=["metaeval.*"],
    without=["and back (", "but back"],
)
def turned_around_of_five_systems() -> Finding:
    human = people(5)
    made = [metric(near(human, 2.5, k), f"m{k}") for k in (0, 1)]
    made.append(metric(-near(human, 3.5, 13), "back"))
    return gn.metaeval(judged(human), made, levels=["system"], statistics=["pearson"], **FEW)


@world(
    "a metric that gives everything the same score beside one that agrees",
    says=["metaeval.agrees", "metaeval.equal"],
    silent=["metaeval.*"],
    without=["highest", "better", "as well as flat"],
)
def a_constant_metric() -> Finding:
    human = people()
    made = [metric(near(human, 0.5, 1), "m"), metric(np.ones_like(human), "flat")]
    return gn.metaeval(judged(human), made, **FEW)


@world(
    "two metrics that give the same scores",
    says=["metaeval.highest"],
    silent=["metaeval.*"],
    without=["has the highest", "but m", "not clearly worse"],
)
def the_same_scores() -> Finding:
    made = near(people(), 1.0, 1)
    return gn.metaeval(judged(people()), [metric(made, "m1"), metric(made, "m2")], **FEW)


@world(
    "two metrics that give the same scores, and one that knows less",
    says=["metaeval.better"],
    silent=["metaeval.*"],
    without=["m1 agrees", "m2 agrees", "m2 (", "not clearly worse"],
)
def the_same_scores_and_worse_ones() -> Finding:
    human, same = people(), near(people(), 1.0, 1)
    made = [metric(same, "m1"), metric(same, "m2"), metric(near(human, 6.0, 3), "poor")]
    return gn.metaeval(judged(human), made, levels=["segment"], **FEW)


def _without_bad_ones(*names: str) -> Finding:
    """Metrics that are one but that some have no scores of what people find bad."""
    human, made = people(), near(people(), 3.0, 5)
    holes = np.where(human < -0.5, np.nan, made)
    scores = [metric(made, "whole"), metric(holes, "holes")]
    means = np.nanmean(holes, axis=1)
    scores[1] = replace(scores[1], system=means)
    chosen = [one for one in scores if one.metric in names]
    return gn.metaeval(judged(human), chosen, levels=["segment"], **FEW)


@world(
    "a metric without scores of bad outputs beside the whole metric",
    says=["metaeval.agrees", "metaeval.missing"],
    silent=["metaeval.*"],
    without=["highest", "holes (", "holes agrees", "whole (", "not clearly"],
)
def without_bad_outputs() -> Finding:
    return _without_bad_ones("whole", "holes")


@world(
    "a metric without scores of bad outputs, alone",
    says=["metaeval.agrees", "metaeval.missing"],
    silent=["metaeval.*"],
)
def without_bad_outputs_alone() -> Finding:
    return _without_bad_ones("holes")


@world(
    "a metric that is a little better than random scores are on average",
    says=["metaeval.value"],
    silent=["metaeval.*"],
    without=["andom"],
)
def above_chance_on_average() -> Finding:
    """One draw of random scores in four agrees better than this on so few systems."""
    human = people(8)
    made = metric(near(human, 4.0, 11), "m")
    told = judged(human)
    told = replace(told, systems={name: ["w"] * told.segments for name in told.systems})
    return gn.metaeval(told, made, statistics=["pairwise_accuracy"], **FEW)
