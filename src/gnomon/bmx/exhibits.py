"""Segments whose words are coloured by their importance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.findings import Exhibit, ExhibitText, Highlight

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Literal

    from numpy.typing import NDArray

    from gnomon.bmx.explained_texts import Explanations, SideWords
    from gnomon.core.testset import TestSet

    Role = Literal["source", "reference", "candidate"]

__all__ = ["worst_explained"]


_ROLES: dict[str, Role] = {"source": "source", "reference": "reference", "candidate": "candidate"}


def worst_explained(
    testset: TestSet,
    explanations: Explanations,
    explainer: str,
    tagged: Mapping[str, NDArray[np.bool_]],
    most: int,
) -> tuple[Exhibit, ...]:
    """The outputs that score worst, the worst first."""
    sign = 1.0 if explanations.higher_is_better else -1.0
    oriented = sign * explanations.scores.ravel()
    order = np.argsort(np.where(np.isnan(oriented), np.inf, oriented), kind="stable")
    group = f"{explanations.metric} by {explainer}"
    return tuple(
        _exhibit(testset, explanations, group, tagged, cell, float(-rank))
        for rank, cell in enumerate(order[:most].tolist())
    )


def _exhibit(
    testset: TestSet,
    explanations: Explanations,
    group: str,
    tagged: Mapping[str, NDArray[np.bool_]],
    cell: int,
    weight: float,
) -> Exhibit:
    system, column = divmod(cell, explanations.shape[1])
    segment = int(explanations.segments[column])
    name = explanations.systems[system]
    largest = _largest(explanations, cell)
    labels = {"document": testset.documents, "domain": testset.domains}
    return Exhibit(
        group=group,
        kind="lowest scores",
        segment=segment,
        texts=tuple(_texts(testset, explanations, tagged, cell, largest)),
        systems=(name,),
        weight=weight,
        caption=(
            "Blue words raise the score, orange ones lower it; the strongest weighs"
            f" {largest:.4g}." + (" People marked underlined words as errors." if tagged else "")
        ),
        **{label: None if of is None else of[segment - 1] for label, of in labels.items()},
    )


def _largest(explanations: Explanations, cell: int) -> float:
    values = [np.abs(side.importance[side.rows(cell)]) for side in explanations.sides]
    return float(np.nan_to_num(np.concatenate(values)).max(initial=0.0))


def _texts(
    testset: TestSet,
    explanations: Explanations,
    tagged: Mapping[str, NDArray[np.bool_]],
    cell: int,
    largest: float,
) -> Iterator[ExhibitText]:
    system, column = divmod(cell, explanations.shape[1])
    if testset.sources is not None and explanations.sides[-1].side != "source":
        yield ExhibitText("source", "", testset.sources[int(explanations.segments[column]) - 1])
    for side in reversed(explanations.sides):
        number = int(side.text[cell])
        if number >= 0:
            is_candidate = side.side == "candidate"
            score = float(explanations.scores.ravel()[cell])
            yield ExhibitText(
                _ROLES[side.side],
                explanations.systems[system] if is_candidate else "",
                explanations.texts[number],
                tuple(_highlights(side, cell, tagged.get(side.side), largest)),
                {"score": None if np.isnan(score) else score} if is_candidate else {},
            )


def _highlights(
    side: SideWords, cell: int, tagged: NDArray[np.bool_] | None, largest: float
) -> Iterator[Highlight]:
    for row in range(*side.rows(cell).indices(len(side.importance))):
        value = float(side.importance[row])
        if np.isnan(value):
            continue
        wrong = tagged is not None and bool(tagged[row])
        yield Highlight(
            int(side.start[row]),
            int(side.end[row]),
            f"{value:+.4g}{', marked as an error' if wrong else ''}",
            weight=value / largest if largest else 0.0,
            flagged=wrong,
        )
