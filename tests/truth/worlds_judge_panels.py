"""Worlds of panels: judges with noise, on other levels, of other opinions; people beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from tests.metrics.judges.chat_server import Chat, serving
from tests.metrics.judges.test_metric import fenced, sets
from tests.metrics.judges.test_panel import panel
from tests.truth.worlds import world

import gnomon as gn
from gnomon.core.human import HumanScores

if TYPE_CHECKING:
    from gnomon.core.findings import Finding


def judged(
    scores: np.ndarray, people: np.ndarray | None = None, *, documents: int | None = None
) -> Finding:
    """Judges that give some scores [judges, segments] (NaN: none), beside people's [segments]."""
    n = scores.shape[1]
    testset = sets(a=[f"text {i}" for i in range(n)])
    if people is not None:
        human = (HumanScores("esa", "segment", ("a",), people[None].astype(float)),)
        testset = replace(testset, human=human)
    if documents is not None:
        testset = replace(testset, documents=[f"d{i * documents // n}" for i in range(n)])
    models = "abcdef"[: len(scores)]

    def reply(body: dict) -> str:
        score = scores[models.index(body["model"]), int(fenced(body).split()[1])]
        return "well" if np.isnan(score) else json.dumps({"score": float(score)})

    with serving(Chat(reply=reply)) as chat:
        return gn.judges.panel(testset, panel(chat, models))


def opinions(n: int, noise: list[float], shift: tuple[float, ...] = (0, 0, 0), seed: int = 5)\
        -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """A truth, and judges who give it with some noise and on some level."""
    draw = np.random.default_rng(seed)
    truth = draw.normal(50, 8, n)
    own = np.stack([truth + draw.normal(0, sd, n) for sd in noise])
    return np.clip(own + np.array(shift)[: len(own), None], 0, 100).round(2), truth


_OTHERS = ["judges.*"]


@world(
    "three judges who see one truth with the same noise",
    says=["judges.panel.agreement"],
    silent=_OTHERS,
)
def one_truth() -> Finding:
    return judged(opinions(80, [6, 6, 6])[0])


@world(
    "a judge who is stricter than the others",
    says=["judges.panel.agreement", "judges.panel.levels"],
    silent=_OTHERS,
)
def strict() -> Finding:
    return judged(opinions(80, [6, 6, 6], (0, 0, -15))[0])


@world(
    "a judge who judges something else",
    says=["judges.panel.agreement", "judges.panel.odd"],
    silent=_OTHERS,
)
def another_opinion() -> Finding:
    scores = opinions(150, [4, 4, 4])[0]
    scores[2] = np.random.default_rng(8).permutation(scores[2])
    return judged(scores)


@world(
    "two judges of twenty texts",
    says=["judges.panel.few_segments"],
    silent=_OTHERS,
)
def few_texts() -> Finding:
    return judged(opinions(20, [6, 6])[0])


@world(
    "two judges, one of whom says nothing of every fifth text",
    says=["judges.missing", "judges.panel.agreement"],
    silent=_OTHERS,
)
def silent_judge() -> Finding:
    scores = opinions(80, [6, 6])[0]
    scores[1, ::5] = np.nan
    return judged(scores)


@world(
    "four judges with much noise of their own, beside people who give the truth",
    says=["judges.panel.agreement", "judges.panel.better"],
    silent=_OTHERS,
)
def many_noises() -> Finding:
    scores, truth = opinions(200, [12, 12, 12, 12], (0, 0, 0, 0))
    return judged(scores, truth.round(2))


@world(
    "a judge who gives the truth and two who know nothing of it, beside people",
    says=["judges.panel.agreement", "judges.panel.worse"],
    silent=[*_OTHERS],
)
def best_alone() -> Finding:
    scores, truth = opinions(200, [2, 2, 2])
    draw = np.random.default_rng(9)
    scores[1:] = draw.normal(50, 8, (2, 200)).round(2)
    return judged(scores, truth.round(2))


@world(
    "judges who say nearly the same, beside people",
    says=["judges.panel.agreement", "judges.panel.undecided"],
    silent=_OTHERS,
)
def alike() -> Finding:
    draw = np.random.default_rng(4)
    truth = draw.normal(50, 8, 60)
    base = truth + draw.normal(0, 8, 60)
    scores = np.stack([base + draw.normal(0, 0.5, 60) for _ in range(2)]).round(2)
    return judged(np.clip(scores, 0, 100), truth.round(2))


@world(
    "judges beside people who judged ten documents",
    says=["judges.panel.agreement", "judges.panel.untested"],
    silent=_OTHERS,
)
def ten_documents() -> Finding:
    scores, truth = opinions(80, [6, 6])
    return judged(scores, truth.round(2), documents=10)
