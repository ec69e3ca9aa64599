"""Worlds of judges: noise, preferences for a place or a text, flattery, people's scale."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from tests.metrics.judges.chat_server import Chat, Reply, serving
from tests.metrics.judges.test_methods_of_judges import gullible
from tests.metrics.judges.test_metric import fenced, numbers, sets, spec
from tests.truth.worlds import world

import gnomon as gn
from gnomon.core.human import HumanScores

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnomon.core.findings import Finding


def asked(
    method: Callable[..., Finding],
    testset: gn.TestSet,
    reply: Reply,
    rubric: str = "gemba-da",
    *,
    judge: dict[str, object] | None = None,
    **options: object,
) -> Finding:
    """What a method finds of a judge that answers so."""
    with serving(Chat(reply=reply)) as chat:
        return method(testset, spec(chat, rubric, **(judge or {})), **options)


def answers(text: str) -> int:
    """A number that follows from a text, as a judge's mood may."""
    return zlib.crc32(text.encode()) % 100


def texts(n: int, name: str = "text", **more: str) -> gn.TestSet:
    """Two systems whose outputs differ."""
    return sets(
        a=[f"{name} {i}" for i in range(n)], b=[f"{more.get('b', 'other')} {i}" for i in range(n)]
    )


# How certain scores are


@world(
    "a judge that answers unlike each time",
    says=["judges.reliability.noise"],
    silent=["judges.*"],
)
def noisy() -> Finding:
    def reply(body: dict) -> str:
        return json.dumps({"score": answers(f"{fenced(body)} {body['seed']}")})

    judge = {"repeats": 3, "temperature": 1.0}
    return asked(gn.judges.reliability, texts(30), reply, judge=judge, injections=0)


@world(
    "a judge that is asked once, of few segments",
    says=["judges.reliability.no_noise", "data.few"],
    silent=["judges.*"],
)
def asked_once() -> Finding:
    return asked(gn.judges.reliability, texts(5), numbers, injections=0)


@world(
    "a judge that answers alike each time, and nothing of every fourth text",
    says=["judges.reliability.no_noise", "judges.missing"],
    silent=["judges.*"],
)
def equal_answers() -> Finding:
    def reply(body: dict) -> str:
        return "no" if int(fenced(body).split()[1]) % 4 == 0 else numbers(body)

    return asked(gn.judges.reliability, texts(44), reply, judge={"repeats": 2}, injections=0)


# What moves a judge


@world(
    "a judge that believes what a text says of itself",
    says=["judges.reliability.raised", "judges.reliability.no_noise"],
    silent=["judges.*"],
)
def believes() -> Finding:
    testset = sets(a=[f"a text of {'many ' * (n % 5)}words" for n in range(40)])
    return asked(gn.judges.reliability, testset, gullible, injections=20)


@world(
    "a judge whose scores follow from nothing",
    says=["judges.reliability.not_raised", "judges.reliability.no_noise"],
    silent=["judges.*"],
)
def moods() -> Finding:
    def reply(body: dict) -> str:
        return json.dumps({"score": answers(fenced(body))})

    return asked(gn.judges.reliability, texts(40), reply, injections=20)


@world(
    "a judge that is asked of three texts",
    says=["data.few", "judges.reliability.no_noise"],
    silent=["judges.*"],
)
def three_texts() -> Finding:
    testset = sets(a=[f"a text of {n}" for n in range(20)])
    return asked(gn.judges.reliability, testset, gullible, injections=3)


# People's scale


def calibrated(judge: np.ndarray, people: np.ndarray, *, documents: int | None = None) -> Finding:
    """A judge that says what its texts do, beside what people said of them."""
    testset = sets(a=[f"text {n}" for n in judge.tolist()])
    own = None
    if documents is not None:
        own = [f"d{i * documents // len(judge)}" for i in range(len(judge))]
    human = (HumanScores("esa", "segment", ("a",), people[None].astype(float)),)
    return asked(
        gn.judges.calibrate, replace(testset, human=human, documents=own), numbers, items=99
    )


def scores(n: int, slope: float, shift: float, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """A judge's scores, and people's, which rise with them by a line and noise."""
    draw = np.random.default_rng(seed)
    judge = draw.permutation(np.arange(10, 10 + n))
    return judge, shift + slope * judge + draw.normal(0, 4, n)


@world(
    "a judge whose scores people's follow on another scale",
    says=["judges.calibrate.differs"],
    silent=["judges.*"],
)
def another_scale() -> Finding:
    return calibrated(*scores(60, 0.5, 40), documents=30)


@world(
    "a judge that knows nothing, on people's scale",
    says=["judges.calibrate.alike"],
    silent=["judges.*"],
)
def knows_nothing() -> Finding:
    judge, _ = scores(60, 0, 0)
    people = np.random.default_rng(8).normal(50, 5, 60)
    return calibrated(judge, people + 0.02 * judge)


@world(
    "a judge of which people's scores are steps that a line misses",
    says=["judges.calibrate.differs"],
    silent=["judges.*"],
)
def steps() -> Finding:
    judge = np.arange(1, 81)
    people = judge.astype(float)
    people[::4] = 100.0  # a quarter that people find flawless, whatever the judge says
    return calibrated(judge, people)


@world(
    "twenty outputs",
    says=["data.few"],
    silent=["judges.*"],
)
def few_outputs() -> Finding:
    return calibrated(*scores(20, 0.5, 40))


@world(
    "sixty outputs of six documents",
    says=["data.few", "judges.calibrate.alike"],
    silent=["judges.*"],
)
def few_documents() -> Finding:
    return calibrated(*scores(60, 0.5, 40), documents=6)


@world(
    "a judge whose scores fall as people's rise",
    says=["judges.calibrate.not_possible"],
    silent=["judges.*"],
)
def contrary() -> Finding:
    return calibrated(*scores(40, -0.5, 80))


@world(
    "a judge on people's own scale, with noise",
    says=["judges.calibrate.differs"],
    silent=["judges.*"],
    without=["as it is"],
)
def own_scale() -> Finding:
    return calibrated(*scores(60, 1.0, 0.0, seed=1))
