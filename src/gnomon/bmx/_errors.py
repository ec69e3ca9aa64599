"""Explanations against the errors that people marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.bmx._tag_ranks import TagRanks, tag_ranks
from gnomon.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx._explanations import Explanations, SideWords
    from gnomon.human import ErrorSpan
    from gnomon.outline import Outline
    from gnomon.testset import TestSet

__all__ = ["ErrorAgreement", "against_errors", "check_errors", "tagged_words"]


@dataclass(frozen=True, eq=False)
class ErrorAgreement:
    """How well the importances of one side's words tell the errors, sentence by sentence.

    Attributes:
        side: "candidate" or "source".
        auc: float64 [K, N]; see :class:`TagRanks`. NaN for sentences that are left out.
        average_precision: float64 [K, N], likewise.
        recall: float64 [K, N], recall at top-K, likewise.
        untagged: sentences that are left out because no word is tagged.
        all_tagged: likewise because every word is.
        undefined: likewise because an importance is undefined.
    """

    side: str
    auc: NDArray[np.float64]
    average_precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    untagged: int
    all_tagged: int
    undefined: int

    @property
    def measures(self) -> Mapping[str, NDArray[np.float64]]:
        """The three measures by name."""
        return {
            "auc": self.auc,
            "average precision": self.average_precision,
            "recall at top-K": self.recall,
        }


def against_errors(
    testset: TestSet, explanations: Explanations, *, kind: str | None = None
) -> tuple[ErrorAgreement, ...]:
    """Judge explanations by the errors that people marked.

    A word is an error where a marked span overlaps it; marks without extent (of missing words) say
    nothing of a word. The less important a word, the more it is taken for an error: where the
    importance is negative, the score rises without the word.

    Args:
        testset: whose errors: ``TestSet.errors``.
        explanations: of :func:`explain`, of all or some systems and segments of the test set.
        kind: which judgements ("word-tags", "mqm"); may be left out where there is one kind.

    Returns:
        One agreement for each explained side that has tags.

    Raises:
        DataError: nobody marked errors on an explained side, or there are several kinds and none
            was named.
        UnknownNameError: there is no such kind.
    """
    check_errors(testset.outline, [side.side for side in explanations.sides], kind=kind)
    tagged = tagged_words(testset, explanations, kind=kind)
    return tuple(
        _agreement(side, tagged[side.side], explanations.shape)
        for side in explanations.sides
        if side.side in tagged
    )


def check_errors(outline: Outline, sides: Sequence[str], *, kind: str | None = None) -> None:
    """Refuse a test set without marked errors on some sides, before anything is explained.

    Raises:
        DataError: nobody marked errors there, or there are several kinds and none was named.
        UnknownNameError: there is no such kind.
    """
    _check_kind([one.kind for one in outline.marked], kind)
    there = {one.side for one in outline.marked if kind in (None, one.kind) and one.extent}
    if there.isdisjoint(sides):
        raise DataError(
            f"test set {outline.name!r} has no marked errors on the explained side"
            f" ({' or '.join(sides)}); explanations are judged by word tags or error spans of"
            " candidates and sources"
        )


def tagged_words(
    testset: TestSet, explanations: Explanations, *, kind: str | None = None
) -> dict[str, NDArray[np.bool_]]:
    """Which words of the explained sides are marked, bool [rows of the side], by side.

    Sides on which nothing is marked in the whole test set have no entry.
    """
    errors = _of_kind(testset.errors, kind)
    found = {}
    for side in explanations.sides:
        own = [error for error in errors if error.side == side.side and error.end > error.start]
        if own:
            found[side.side] = _marks(own, side, explanations)
    return found


def _of_kind(errors: Sequence[ErrorSpan], kind: str | None) -> list[ErrorSpan]:
    _check_kind([str(error.kind) for error in errors], kind)
    return [error for error in errors if kind in (None, error.kind)]


def _check_kind(there: Sequence[str], kind: str | None) -> None:
    kinds = tuple(dict.fromkeys(there))
    if kind is not None and kind not in kinds:
        raise UnknownNameError("kind of errors", kind, kinds)
    if kind is None and len(kinds) > 1:
        raise DataError(
            f"there are several kinds of marked errors: {', '.join(kinds)}; name one (kind=)"
        )


def _marks(
    errors: Sequence[ErrorSpan], side: SideWords, explanations: Explanations
) -> NDArray[np.bool_]:
    row = {name: k for k, name in enumerate(explanations.systems)}
    column = {int(segment): i for i, segment in enumerate(explanations.segments)}
    marked = np.zeros(len(side.importance), dtype=np.bool_)
    for error in errors:
        if error.system in row and error.segment in column:
            cell = row[error.system] * explanations.shape[1] + column[error.segment]
            own = side.rows(cell)
            marked[own] |= (side.start[own] < error.end) & (side.end[own] > error.start)
    return marked


def _agreement(
    side: SideWords, tagged: NDArray[np.bool_], shape: tuple[int, int]
) -> ErrorAgreement:
    found = np.full((len(TagRanks._fields), shape[0] * shape[1]), np.nan)
    untagged = full = undefined = 0
    for cell in range(found.shape[1]):
        own = side.rows(cell)
        importance, marks = side.importance[own], tagged[own]
        ranks = None if np.isnan(importance).any() else tag_ranks(importance, marks)
        if ranks is not None:
            found[:, cell] = ranks
        elif not marks.any():
            untagged += 1
        elif marks.all():
            full += 1
        else:
            undefined += 1
    auc, precision, recall = found.reshape(-1, *shape)
    return ErrorAgreement(side.side, auc, precision, recall, untagged, full, undefined)
