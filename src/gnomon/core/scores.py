"""Scores of a metric."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core import notebook
from gnomon.core.errors import DataError
from gnomon.core.manifest import imported

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.signature import Signature
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message

__all__ = [
    "Preferences",
    "Scores",
    "check_sums",
    "checked_scores",
    "coverage",
    "list_names",
    "name_metric",
    "name_testset",
]

_LARGEST = 1e150

_SHOWN = 8  # names in a list
_SHOWN_ROWS = 20  # systems in a notebook
_NAMED = 5  # and in a line


class Preferences(NamedTuple):
    """Preferences of a metric that reads two outputs at once, for every two systems."""

    # [K, K, N]: how much better the first system's output is than the second's; the other way
    # round it is the negative; NaN where nothing is said
    values: NDArray[np.float64]
    graded: bool  # they have sizes; False: they are choices, from -1 to 1


@dataclass(frozen=True, repr=False)
class Scores:
    """Scores of K systems on N segments under one metric.

    Attributes:
        metric: the metric's name as it was asked for ("bleu", "chrf(word_order=2)").
        systems: names of the K systems.
        system: float64 [K], the corpus score of each system; NaN where undefined.
        segments: float64 [K, N], NaN where undefined.
        higher_is_better: False for error rates.
        signature: how to make the numbers again.
        statistics: float64 [K, N, S], sufficient statistics of the corpus score, if it has any.
        aggregate: statistics [..., S], summed over segments, to corpus scores [...].
        notices: what a reader should know.
        native_signatures: signatures of the tool that defines the metric, by its name.
        informed_by: kinds of human scores that went into the scores, which they therefore cannot
            be judged by.
        from_people: whether people gave them: what one person judged at one time is not
            independent, so that documents are their unit, and they agree with no people but others.
        doubtful: systems whose outputs are no translations line by line, as a notice says.
        empty: how many outputs of a system are empty, by its name; of those that leave some.
        remarks: what was said in words of outputs, by the numbers of system and segment from 0, and
            by what it is ("reason", "answer"); empty for metrics that give numbers alone.
        preferences: of a metric that reads two outputs at once, in :func:`gnomon.compare`; the
            scores are then mean preferences over the other systems.
    """

    metric: str
    systems: tuple[str, ...]
    system: NDArray[np.float64]
    segments: NDArray[np.float64]
    higher_is_better: bool
    signature: Signature
    statistics: NDArray[np.float64] | None = None
    aggregate: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None
    notices: tuple[Message, ...] = ()
    native_signatures: Mapping[str, str] | None = None
    informed_by: tuple[str, ...] = ()
    from_people: bool = False
    doubtful: tuple[str, ...] = ()
    empty: Mapping[str, int] = field(default_factory=dict)
    remarks: Mapping[tuple[int, int], Mapping[str, str]] = field(default_factory=dict)
    preferences: Preferences | None = None

    def rows(self) -> list[dict[str, str | float | None]]:
        """One flat record per system: ``system, metric, score, signature``."""
        return [
            {
                "system": name,
                "metric": self.metric,
                "score": _defined(float(score)),
                "signature": str(self.signature),
            }
            for name, score in zip(self.systems, self.system, strict=True)
        ]

    def segment_rows(self) -> list[dict[str, str | int | float | None]]:
        """One flat record per system and segment (from 1): ``system, segment, metric, score``."""
        return [
            {
                "system": name,
                "segment": number,
                "metric": self.metric,
                "score": _defined(float(score)),
            }
            for name, scores in zip(self.systems, self.segments, strict=True)
            for number, score in enumerate(scores, start=1)
        ]

    def to_dict(self, *, segments: bool = False) -> dict[str, list[str | int | float | None]]:
        """Column -> cells, ready for any data frame library.

        Args:
            segments: a row per system and segment (``system, segment, metric, score``) in place of
                one per system (``system, metric, score, signature``).
        """
        rows: Sequence[Mapping[str, str | int | float | None]]
        rows = self.segment_rows() if segments else self.rows()
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}

    def to_frame(self, *, segments: bool = False) -> Any:  # polars is optional
        """The scores as a polars data frame.

        Args:
            segments: as for :meth:`to_dict`.

        Raises:
            MissingDependencyError: polars is not installed.
        """
        return notebook.frame(self.to_dict(segments=segments))

    def to_pandas(self, *, segments: bool = False) -> Any:  # pandas is optional
        """The scores as a pandas data frame.

        Args:
            segments: as for :meth:`to_dict`.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        return notebook.pandas_frame(self.to_dict(segments=segments))

    def scalars(self) -> dict[str, float]:
        """The systems' scores by names ("bleu/sysA"), as :meth:`gnomon.Finding.scalars`."""
        pairs = zip(self.systems, self.system.tolist(), strict=True)
        scalars: dict[str, float] = imported("gnomon.core.scalars:name_scalars")(
            ((self.metric, name), score) for name, score in pairs
        )
        return scalars

    def chart(self) -> Any:  # of a package above this one
        """The systems' scores as bars: a Vega-Lite specification that notebooks draw.

        Returns:
            A :class:`gnomon.report.charts.Chart`, whose ``save`` writes it as PDF, SVG or PNG.
        """
        return imported("gnomon.report.rendering:scores_finding")([self], self.metric).chart()

    def __repr__(self) -> str:
        best = [f"{self.systems[i]} {self._shown(i)}" for i in self._ranked()[:_NAMED]]
        more = [f"{len(self.systems) - _NAMED} more"] if len(self.systems) > _NAMED else []
        size = notebook.counted(self.segments.shape[1], "segment")
        return f"<Scores of {self.metric}: {', '.join([*best, *more])}; {size}>"

    def _ranked(self) -> list[int]:
        """The numbers of the systems, the best first."""
        order: list[int] = np.argsort(
            -self.system if self.higher_is_better else self.system
        ).tolist()
        return order

    def _shown(self, system: int) -> str:
        value = float(self.system[system])
        digits = 4 if np.nanmax(np.abs(self.system), initial=0.0) <= 1 else 2
        return f"{value:.{digits}f}" if np.isfinite(value) else "-"

    def _repr_html_(self) -> str:
        rows = [[self.systems[i], self._shown(i)] for i in self._ranked()[:_SHOWN_ROWS]]
        more = len(self.systems) - len(rows)
        said = f"and {more} more: to_pandas() has all systems. " if more > 0 else ""
        table = notebook.html_table(
            [("System", False), (self.metric, True)], rows, f"{said}{self.signature}"
        )
        return notebook.html_box(f"Scores of {self.metric}", [table])


def _defined(score: float) -> float | None:
    return None if score != score else score  # noqa: PLR0124  # NaN is the only such number


def coverage(systems: Sequence[str], scored: NDArray[np.bool_]) -> str:
    """Say how many segments of each system have a score [K, N]; empty if all have one.

    >>> coverage(["a", "b", "c"], np.array([[True, True], [True, False], [True, True]]))
    'of 2 segments, b has 1, the most is 2; means over unlike segments do not compare'
    >>> coverage(["a", "b"], np.array([[True, False], [True, False]]))
    'of 2 segments, every system has the same 1'
    """
    if scored.all():
        return ""
    counts = [int(count) for count in scored.sum(axis=1)]
    most, of = max(counts), f"of {scored.shape[1]} segments"
    if (scored == scored.any(axis=0)).all():
        return f"{of}, every system has the same {most}"
    fewer = sorted((n, name) for n, name in zip(counts, systems, strict=True) if n < most)
    words = [f"{name} has {n}" for n, name in fewer[:_SHOWN]]
    if len(fewer) > _SHOWN:
        words.append(f"{len(fewer) - _SHOWN} more have {fewer[_SHOWN][0]} to {fewer[-1][0]}")
    words.append(f"the most is {most}" if fewer else f"every system has {most}, but unlike ones")
    said = ", ".join(words)
    return f"{of}, {said}; means over unlike segments do not compare"


def name_metric(metric: str, notice: Message) -> Message:
    """A notice with the metric that it is of."""
    return notice if notice.subjects.get("metrics") else notice.about(metrics=[metric])


def name_testset(testset: str, notice: Message) -> Message:
    """A notice with the test set that it is of."""
    return notice.about(testsets=[testset])


def list_names(names: Sequence[str]) -> str:
    """A list of names of readable length."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def checked_scores(scores: Scores, testset: TestSet) -> Scores:
    """The scores, if they are of this test set."""
    missing = [name for name in testset.systems if name not in scores.systems]
    if missing:
        raise DataError(
            f"the scores of {scores.metric} lack {', '.join(missing)}; there are:"
            f" {', '.join(scores.systems)}"
        )
    if scores.segments.shape[1] != testset.segments:
        raise DataError(
            f"the scores of {scores.metric} are of {scores.segments.shape[1]} segments, and test"
            f" set {testset.name!r} has {testset.segments}"
        )
    return scores


def check_sums(where: str, systems: Sequence[str], cells: NDArray[np.float64]) -> None:
    """Refuse scores [K, N] of segments that no statistic can sum."""
    for system, sizes in zip(systems, np.abs(cells), strict=True):
        if (sizes > _LARGEST).any():
            raise DataError(
                f"{where}: the scores of {system!r} are so large that their sum is infinite, or"
                f" that of their squares; the largest is {np.nanmax(sizes):g}: look for a damaged"
                " number"
            )
