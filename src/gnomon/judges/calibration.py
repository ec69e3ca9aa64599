"""From a judge's scale to people's: a line through a handful of human scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import DataError, FormatError
from gnomon.core.signature import content_hash
from gnomon.data.formats import read_bytes, read_lines

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

_COLUMNS = ("source", "candidate", "reference", "score")
_FEWEST = 3


@dataclass(frozen=True)
class Anchors:
    """Texts that people scored.

    Attributes:
        texts: for each of them, the texts by "source", "candidate", "reference".
        scores: float64 [anchors].
        identity: a hash of the file.
    """

    texts: tuple[dict[str, str], ...]
    scores: NDArray[np.float64]
    identity: str


def read_anchors(path: str | PathLike[str], needed: frozenset[str]) -> Anchors:
    """Read human scores that a judge is calibrated on: TSV with a line of titles.

    Args:
        path: the file; columns source, candidate, reference (those that the judge is shown), score.
        needed: which texts the judge is shown.

    Raises:
        MissingFileError: there is no such file.
        FormatError: a column is lacking, or a score is no number.
        DataError: there are fewer than three scores.
    """
    lines = read_lines(path)
    titles = lines[0].split("\t") if lines else []
    lacking = sorted({*needed, "score"} - set(titles))
    if lacking:
        raise FormatError(
            f"lacks the column {lacking[0]!r}; a file of human scores for calibration is TSV whose"
            " first line names columns:"
            f" {', '.join(title for title in _COLUMNS if title in needed)}, score",
            path=path,
            line=1,
        )
    texts, scores = [], []
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split("\t")
        if len(cells) != len(titles):
            message = f"has {len(cells)} cells, and the first line names {len(titles)} columns"
            raise FormatError(message, path=path, line=number)
        row = dict(zip(titles, cells, strict=True))
        try:
            score = float(row["score"])
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise FormatError(f"{row['score']!r} is no score", path=path, line=number)
        texts.append({name: row[name] for name in needed})
        scores.append(score)
    if len(scores) < _FEWEST:
        raise DataError(f"{path}: {len(scores)} human scores; calibration takes {_FEWEST} or more")
    return Anchors(tuple(texts), np.array(scores), content_hash(read_bytes(path)))


@dataclass(frozen=True)
class Calibration:
    """The line from a judge's scores to people's.

    Attributes:
        intercept: what a score of 0 stands for.
        slope: what one point of the judge is worth.
        texts: how many it was fitted to.
    """

    intercept: float
    slope: float
    texts: int

    def __call__(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Scores on people's scale, of any shape; NaN stays NaN."""
        return np.asarray(self.intercept + self.slope * np.asarray(scores, dtype=np.float64))


def fit_calibration(
    judged: ArrayLike, human: ArrayLike, *, higher_is_better: bool = True
) -> Calibration:
    """The line nearest to human scores by least squares.

    Args:
        judged: what the judge said, [n]; NaN is left out.
        human: what people said, [n].
        higher_is_better: of the judge; False for one that counts faults, whose scores fall as
            people's rise.

    Raises:
        DataError: fewer than three known pairs, one score for all, or scores that fall as people's
            rise (rise, where lower is better).

    >>> fit_calibration([1, 2, 3], [10, 20, 30])([2.5, 4]).round(6).tolist()
    [25.0, 40.0]
    """
    x, y = np.asarray(judged, dtype=np.float64), np.asarray(human, dtype=np.float64)
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    if len(x) < _FEWEST or x.min() == x.max():
        raise DataError(
            f"the judge cannot be calibrated: it gave {len(x)} readable scores to the texts that"
            f" people scored, {len(set(x.tolist()))} of them distinct; {_FEWEST} and 2 are needed"
        )
    slope = float(np.cov(x, y)[0, 1] / x.var(ddof=1))
    if slope == 0 or (slope > 0) != higher_is_better:
        way = "fall" if higher_is_better else "rise, though lower is better,"
        raise DataError(
            f"the judge cannot be calibrated: its scores {way} as people's rise, or do not move"
            f" with them (slope {slope:.3g} over {len(x)} texts); look at the human scores and at"
            " the rubric"
        )
    intercept = float(y.mean() - slope * x.mean())
    return Calibration(intercept, slope, len(x))


def predict_left_out(
    judged: ArrayLike, human: ArrayLike, *, higher_is_better: bool = True
) -> NDArray[np.float64]:
    """Predict each text by the line of all other texts, float64 [n].

    Where the others make no line (too few, or they do not rise), it is people's mean score of
    them.

    Args:
        judged: what the judge said, [n]; finite.
        human: what people said, [n]; finite.
        higher_is_better: as in :func:`fit_calibration`.

    >>> predict_left_out([1, 2, 3, 4], [10, 20, 30, 40]).round(6).tolist()
    [10.0, 20.0, 30.0, 40.0]
    """
    x, y = np.asarray(judged, dtype=np.float64), np.asarray(human, dtype=np.float64)
    predictions = np.full(len(x), np.nan)
    for n in range(len(x)):
        others = np.arange(len(x)) != n
        try:
            fitted = fit_calibration(x[others], y[others], higher_is_better=higher_is_better)
            predictions[n] = fitted(x[n])
        except DataError:
            predictions[n] = y[others].mean() if others.any() else np.nan
    return predictions
