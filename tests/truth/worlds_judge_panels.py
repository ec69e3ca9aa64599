"""Worlds of panels: judges with noise, on other levels, of other opinions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
from tests.metrics.judges.chat_server import Chat, serving
from tests.metrics.judges.test_metric import fenced, sets
from tests.metrics.judges.test_panel import panel
from tests.truth.worlds import world

import gnomon as gn

if TYPE_CHECKING:
    from gnomon.core.findings import Finding


def judged(scores: np.ndarray) -> Finding:
    """Judges that give some scores [judges, segments] (NaN: none)."""
    testset = sets(a=[f"text {i}" for i in range(scores.shape[1])])
    models = "abcdef"[: len(scores)]

    def reply(body: dict) -> str:
        score = scores[models.index(body["model"]), int(fenced(body).split()[1])]
        return "well" if np.isnan(score) else json.dumps({"score": float(score)})

    with serving(Chat(reply=reply)) as chat:
        return gn.judges.reliability(testset, panel(chat, models), injections=0)


def opinions(n: int, noise: list[float], shift: tuple[float, ...] = (0, 0, 0), seed: int = 5)\
        -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """A truth, and judges who give it with some noise and on some level."""
    draw = np.random.default_rng(seed)
    truth = draw.normal(50, 8, n)
    own = np.stack([truth + draw.normal(0, sd, n) for sd in noise])
    return np.clip(own + np.array(shift)[: len(own), None], 0, 100).round(2), truth


_OTHERS = ["judges.*"]
_ONCE = ["judges.reliability.no_noise"]


@world(
    "three judges who see one truth with the same noise",
    says=[*_ONCE, "judges.reliability.agreement"],
    silent=_OTHERS,
)
def one_truth() -> Finding:
    return judged(opinions(80, [6, 6, 6])[0])


@world(
    "a judge who is stricter than the others",
    says=[*_ONCE, "judges.reliability.agreement", "judges.reliability.levels"],
    silent=_OTHERS,
)
def strict() -> Finding:
    return judged(opinions(80, [6, 6, 6], (0, 0, -15))[0])


@world(
    "two judges of twenty texts",
    says=[*_ONCE, "data.few"],
    silent=_OTHERS,
)
def few_texts() -> Finding:
    return judged(opinions(20, [6, 6])[0])


@world(
    "two judges, one of whom says nothing of every fifth text",
    says=[*_ONCE, "judges.missing", "judges.reliability.agreement"],
    silent=_OTHERS,
)
def silent_judge() -> Finding:
    scores = opinions(80, [6, 6])[0]
    scores[1, ::5] = np.nan
    return judged(scores)
