"""Planted worlds of `score`: scores say who has the best one, and that nothing was tested."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from tests.told import cut_texts
from tests.truth.worlds import noised, outputs, planted, references, world

import gnomon as gn
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature
from gnomon.core.verdicts import summarise_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.messages import Message

ANY = "score.*"


def texts(**systems: list[str]) -> Iterable[Message]:
    return summarise_scores([gn.score(planted(systems), "bleu")])


def cells(*rows: Iterable[float], name: str = "quality", notice: str = "") -> Scores:
    values: NDArray[np.float64] = np.array([list(row) for row in rows])
    return Scores(
        name,
        tuple("ABCD"[: len(values)]),
        np.nanmean(values, axis=1),
        values,
        higher_is_better=True,
        signature=Signature(name),
        notices=(notice,) if notice else (),
    )


@world("two systems", says=["score.first", "score.not_tested"], silent=[ANY])
def two_systems() -> Iterable[Message]:
    return texts(A=outputs(), B=noised(outputs(), 0.3, 1))


@world("two equal systems", says=["score.first", "score.not_tested"], silent=[ANY])
def equal_systems() -> Iterable[Message]:
    return texts(A=outputs(), B=outputs())


@world("one system", says=["score.first"], silent=[ANY])
def one_system() -> Iterable[Message]:
    return texts(A=outputs())


@world("ten segments", says=["score.few"], silent=["score.first"])
def ten_segments() -> Iterable[Message]:
    testset = planted({"A": outputs(), "B": noised(outputs(), 0.3, 1)}, segments=10)
    return summarise_scores([gn.score(testset, "bleu")])


@world(
    "a judge leaves the bad outputs of B out",
    says=["score.missing"],
    silent=["score.first", "score.not_tested"],
    without=["has the highest"],
)
def left_out() -> Iterable[Message]:
    whole = np.linspace(0, 1, 100)
    return summarise_scores([cells(whole, np.where(whole < 0.3, np.nan, whole))])


@world(
    "a third of a system's outputs are empty",
    says=["data.empty", "score.first", "score.not_tested"],
    silent=[ANY],
)
def empty_outputs() -> Iterable[Message]:
    own = ["" if n % 3 == 0 else text for n, text in enumerate(outputs())]
    (*others, one) = texts(A=outputs(), B=own)
    assert str(one) == "Caution: B leaves 70 of 209 outputs empty."
    return [*others, one]


@world(
    "a reference as a system",
    says=["data.copied", "score.first", "score.not_tested"],
    silent=[ANY],
)
def copied_reference() -> Iterable[Message]:
    return texts(A=outputs(), B=references())


@world("one empty output of 209", says=["score.first", "score.not_tested"], silent=["data.*", ANY])
def one_empty() -> Iterable[Message]:
    return texts(A=noised(outputs(), 0.3, 1), B=["", *outputs()[1:]])


@world("both lack the same third", says=["score.first"], silent=["score.missing"])
def both_lack() -> Iterable[Message]:
    whole = np.linspace(0, 1, 100)
    some = np.where(whole < 0.3, np.nan, whole)
    (one, *others) = summarise_scores([cells(some, some**2)])
    assert "70 of 100 segments" in str(one)
    return [one, *others]


@world("metrics with different leaders", says=["score.disagree"], silent=["score.missing"])
def different_leaders() -> Iterable[Message]:
    whole = np.linspace(0, 1, 50)
    return summarise_scores([cells(whole, whole**2), cells(whole**2, whole, name="other")])


@world("texts that a model cut", says=["score.cut"], silent=["score.missing"])
def cut() -> Iterable[Message]:
    whole = np.linspace(0, 1, 50)
    one = cells(whole, whole**2)
    return summarise_scores([replace(one, notices=(cut_texts(3, 90),))])


UNREAD_OUTPUTS = ["今天天气很好", "我们去公园", "他喜欢读书"] * 15


@world(
    "Chinese texts under a metric of Latin letters",
    says=["data.unread"],
    silent=["score.*"],
    without=["score the same", "highest"],
)
def unread() -> Iterable[Message]:
    other = ["他们在家", "明天下雨", "她去学校"] * 15
    testset = gn.TestSet.from_lists(
        {"A": UNREAD_OUTPUTS, "B": other}, [f"{one}了" for one in UNREAD_OUTPUTS]
    )
    return summarise_scores([gn.score(testset, "rougeL")])
