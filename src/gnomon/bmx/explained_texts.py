"""Explanations by explainers: importances of the words of both sides of every cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from gnomon.bmx._direct import FunctionExplainer
from gnomon.bmx.engine import EFFORT, MAX_CALLS, Effort, Engine
from gnomon.bmx.explainers import NoticingExplainer, SidedExplainer, find_explainer
from gnomon.bmx.pairs import Scorer, TextWords, cells_of
from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.core.options import Help, Positive, Segments, expand_fields  # read for their limits
from gnomon.core.records import METRIC, SEGMENT, SYSTEM, Record, column
from gnomon.core.scripts import is_unspaced
from gnomon.core.testset import pick
from gnomon.messages import message
from gnomon.messages.audiences import flag
from gnomon.metrics.functions import BoundFunction
from gnomon.metrics.scoring import bind, signature_of
from gnomon.metrics.sequences import offsets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx.engine import Boost, CellExplanation, ExplanationStore, Progress
    from gnomon.bmx.explainers import BoundExplainer, Explainer
    from gnomon.bmx.pairs import DistinctCells, Role
    from gnomon.core.batch import Batch
    from gnomon.core.cache import Cache
    from gnomon.core.signature import Signature
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric, Metric

__all__ = [
    "MAX_CALLS",
    "Aggregable",
    "CountedWord",
    "ExplainedBatch",
    "ExplainedSides",
    "ExplainedWord",
    "Explanations",
    "SideWords",
    "Sides",
    "cache_of",
    "calls_of",
    "check_sides",
    "explain_batch",
    "explanations",
]


@dataclass(frozen=True, eq=False)
class SideWords:
    """The words of one side of K x N cells, one cell after the other (compressed sparse rows).

    Cell (k, i) is number k * N + i.

    Attributes:
        side: "candidate", "reference" or "source".
        text: int32 [K * N], index of each cell's text in ``Explanations.texts``; -1 for none.
        offsets: int64 [K * N + 1]; the words of a cell are rows
            ``offsets[cell]:offsets[cell + 1]``.
        start: int32 [rows], first code point of the word in its text.
        end: int32 [rows], code point after the last one.
        importance: float64 [rows], in units of the metric; positive where the word makes the
            candidate look better. NaN where the metric was undefined.
    """

    side: str
    text: NDArray[np.int32]
    offsets: NDArray[np.int64]
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    importance: NDArray[np.float64]

    def rows(self, cell: int) -> slice:
        """The rows of one cell."""
        return slice(int(self.offsets[cell]), int(self.offsets[cell + 1]))


class Aggregable(NamedTuple):
    """The importances of every cell, both sides together (compressed sparse rows).

    Attributes:
        values: float64 [rows], candidate first.
        offsets: int64 [K * N + 1].
    """

    values: NDArray[np.float64]
    offsets: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Explanations:
    """Explanations of a metric's scores of K systems on N segments.

    Attributes:
        metric: the metric's spec.
        systems: names of the K systems.
        segments: int32 [N], numbers of the segments in their test set, from 1.
        texts: the distinct texts that the sides point to.
        scores: float64 [K, N], what the metric says, in its own units.
        held: float64 [K, N], the same beside the one reference that explanations hold on to: that
            of several which scores best. Equal to ``scores`` where there is one reference.
        judged_by: int32 [K, N], index in ``texts`` of what each candidate is judged by: the held
            reference, or the source; -1 for none.
        higher_is_better: False for error rates, whose importances are those of the negated score.
        sides: the words of the candidate, then, if they are explained too, of the other side.
        signature: metric, explainer with its options and seed, sides.
        calls: distinct pairs of texts that the metric scored for this.
        known: cells that a cache knew.
        notices: what a reader should know.
    """

    metric: str
    systems: tuple[str, ...]
    segments: NDArray[np.int32]
    texts: tuple[str, ...]
    scores: NDArray[np.float64]
    held: NDArray[np.float64]
    judged_by: NDArray[np.int32]
    higher_is_better: bool
    sides: tuple[SideWords, ...]
    signature: Signature
    calls: int
    known: int = 0
    notices: tuple[Message, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """(K, N)."""
        systems, segments = self.scores.shape
        return systems, segments

    @property
    def oriented(self) -> NDArray[np.float64]:
        """Scores beside all references, better is higher, float64 [K, N]: what w weighs."""
        return self.scores if self.higher_is_better else -self.scores

    def both(self) -> Aggregable:
        """The importances of both sides of each cell, as the power mean takes them."""
        lengths = np.sum([np.diff(side.offsets) for side in self.sides], axis=0)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        values = np.empty(int(offsets[-1]))
        at = offsets[:-1].copy()
        for side in self.sides:
            sizes = np.diff(side.offsets)
            within = np.arange(len(side.importance)) - np.repeat(side.offsets[:-1], sizes)
            values[np.repeat(at, sizes) + within] = side.importance
            at += sizes
        return Aggregable(values, offsets)

    def rows(self) -> list[dict[str, str | int | float | None]]:
        """One flat record per word: ``system, segment, side, token, position, importance``.

        Segments and positions count from 1; an undefined importance is None.
        """
        rows: list[dict[str, str | int | float | None]] = []
        for cell in range(self.shape[0] * self.shape[1]):
            system, segment = divmod(cell, self.shape[1])
            for side in self.sides:
                rows += self._rows_of(cell, side, self.systems[system], segment)
        return rows

    def _rows_of(
        self, cell: int, side: SideWords, system: str, segment: int
    ) -> list[dict[str, str | int | float | None]]:
        rows = side.rows(cell)
        number = int(side.text[cell])
        places = zip(side.start[rows].tolist(), side.end[rows].tolist(), strict=True)
        return [
            {
                "system": system,
                "segment": int(self.segments[segment]),
                "side": side.side,
                "token": self.texts[number][start:end],
                "position": position,
                "importance": None if np.isnan(value) else value,
            }
            for position, ((start, end), value) in enumerate(
                zip(places, side.importance[rows].tolist(), strict=True), start=1
            )
        ]


# Explaining the scores of a metric, word by word.


Sides: TypeAlias = Literal["both", "candidate"]
ExplainedSides: TypeAlias = Annotated[Sides, Help('explain "both" sides or the "candidate" alone.')]


@dataclass(frozen=True)
class ExplainingRun:
    """Settings of a run of explaining, which decide no explanation."""

    max_calls: Positive = MAX_CALLS
    cache: Cache | None = None
    progress: Progress | None = None
    allow_code: bool = False


@expand_fields(run=ExplainingRun)
def explanations(
    testset: TestSet,
    metric: str | Metric | BoundMetric | Callable[..., float],
    explainer: str | Explainer = "erasure",
    *,
    sides: Sides = "both",
    systems: Sequence[str] | None = None,
    segments: Segments = None,
    run: ExplainingRun,
) -> Explanations:
    """Explain how much each word adds to the score of its segment.

    The words of the candidate are perturbed beside the intact reference (the source, for metrics
    without references), and, with ``sides="both"``, the other way round. Binding happens once:
    perturbing changes nothing that was frozen. Of several references the one that scores best is
    held. Metrics that take both references and sources keep the source as it is.

    >>> from gnomon.core.testset import TestSet
    >>> ts = TestSet.from_lists({"a": ["the cat"]}, ["the dog"])
    >>> found = explanations(ts, lambda candidate, reference: float("cat" in candidate), "erasure")
    >>> found.sides[0].importance.tolist()
    [0.0, 1.0]
    """
    chosen = find_explainer(explainer)
    both = check_sides(sides)
    _, bound = bind(testset, metric, allow_code=run.allow_code)
    rows = None
    if systems is not None:
        names = list(testset.systems)
        rows = [pick("system", name, {n: names.index(n) for n in names}) for name in systems]
    batch = testset.batch()
    if rows is not None or segments is not None:
        chosen_segments = None if segments is None else [number - 1 for number in segments]
        batch = batch.select(systems=rows, segments=chosen_segments)
    kept, notices = cache_of(bound, run.cache, chosen)
    explained = explain_batch(
        bound,
        batch,
        chosen.bind(testset, bound),
        both=both,
        effort=Effort(run.max_calls, kept, run.progress),
    ).explanations
    return replace(explained, notices=(*notices, *explained.notices))


def check_sides(sides: str) -> bool:
    """True if both sides are wanted."""
    if sides not in get_args(Sides):
        raise UnknownNameError("choice of sides", sides, get_args(Sides))
    return sides == "both"


class ExplainedBatch(NamedTuple):
    """Explanations, and what they explain."""

    explanations: Explanations
    base: NDArray[np.float64]


def explain_batch(
    bound: BoundMetric,
    batch: Batch,
    explainer: BoundExplainer,
    *,
    both: bool,
    before: tuple[Boost, ...] = (),
    scale: float = 1.0,
    effort: Effort = EFFORT,
) -> ExplainedBatch:
    """Explain a bound metric, or what some iterations make of it, on a batch.

    Scores, and importances in their units, are divided by the scale.
    """
    scorer = Scorer(bound, batch, scale)
    if both and isinstance(explainer, SidedExplainer) and scorer.role not in explainer.sides:
        raise UsageError(
            f"{explainer.spec} explains no words of the {scorer.role} side; take"
            " sides='candidate' (",
            flag("sides", "candidate", "'candidate'"),
            ")",
        )
    cells = cells_of(batch, scorer.role, by_system=_depends_on_system(scorer, explainer))
    engine = Engine(scorer, batch, explainer, both, before, effort)
    distinct, from_cache = engine.explain(cells.distinct)
    every = [distinct[number] for number in cells.of.tolist()]
    judges = _judges(cells, every)
    sides = _sides(batch, judges, every, scorer.role if both else None)
    sign = 1.0 if bound.higher_is_better else -1.0
    explanations = Explanations(
        metric=bound.signature.spec,
        systems=batch.systems,
        segments=batch.segments + 1,
        texts=batch.texts,
        scores=sign * _matrix([cell.full for cell in every], batch),
        held=sign * _matrix([cell.held for cell in every], batch),
        judged_by=judges.reshape(batch.shape),
        higher_is_better=bound.higher_is_better,
        sides=sides,
        signature=signature_of(bound, batch).adding(
            {
                "explainer": explainer.spec,
                **explainer.fields,
                "sides": "both" if both else "one",
                **({} if scale == 1 else {"scale": f"{scale:g}"}),
            }
        ),
        calls=scorer.calls,
        known=from_cache,
        notices=(
            *_unspaced_notice(batch),
            *_explainer_notices(explainer, sides, batch),
            *_undefined_notice(every),
        ),
    )
    return ExplainedBatch(explanations, _matrix([cell.base for cell in every], batch))


def calls_of(
    bound: BoundMetric,
    batch: Batch,
    explainer: BoundExplainer,
    *,
    both: bool,
    before: tuple[Boost, ...] = (),
    cache: ExplanationStore | None = None,
) -> int:
    """Largest number of pairs that explaining a batch takes, but for what a cache knows."""
    scorer = Scorer(bound, batch)
    engine = Engine(scorer, batch, explainer, both, before, Effort(cache=cache))
    cells = cells_of(batch, scorer.role, by_system=_depends_on_system(scorer, explainer)).distinct
    return engine.estimate(engine.unknown(cells))


def _depends_on_system(scorer: Scorer, explainer: BoundExplainer) -> bool:
    """True if equal outputs of two systems may score, or be explained, differently."""
    return scorer.depends_on_system or bool(getattr(explainer, "depends_on_system", False))


def cache_of(
    bound: BoundMetric, cache: Cache | None, explainer: Explainer | BoundExplainer
) -> tuple[Cache | None, tuple[Message, ...]]:
    """No cache for functions that may change and look the same, whatever is made of them."""
    inmost: object = bound
    while hasattr(inmost, "bound"):
        inmost = inmost.bound
    named = isinstance(inmost, BoundFunction) and not (
        inmost.signature.keys() & {"code", "package"}
    )
    uncertain = [inmost.name] if isinstance(inmost, BoundFunction) and named else []
    if isinstance(explainer, FunctionExplainer) and not explainer.code:
        uncertain.append(explainer.name)
    if cache is None or not uncertain:
        return cache, ()
    return None, (message("note.bmx.not_kept", functions=uncertain),)


def _matrix(values: Sequence[float], batch: Batch) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64).reshape(batch.shape)


def _judges(cells: DistinctCells, every: Sequence[CellExplanation]) -> NDArray[np.int32]:
    """The text that each candidate is judged by, int32 [K * N]; -1 for none."""
    others = (cells.distinct[number].others for number in cells.of.tolist())
    held = [
        -1 if cell.chosen < 0 else texts[cell.chosen]
        for cell, texts in zip(every, others, strict=True)
    ]
    return np.array(held, dtype=np.int32)


def _sides(
    batch: Batch, judges: NDArray[np.int32], every: Sequence[CellExplanation], role: Role
) -> tuple[SideWords, ...]:
    candidates = batch.candidates.astype(np.int32).ravel()
    places = _Places(batch)
    candidate = places.side("candidate", candidates, [cell.candidate for cell in every])
    if role is None:
        return (candidate,)
    other = places.side(role, judges, [cell.other for cell in every])
    return candidate, other


class _Places:
    """Where the words of a batch's texts are."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._spans: dict[int, NDArray[np.int32]] = {-1: _NOWHERE}

    def side(
        self, name: str, text: NDArray[np.int32], importances: Sequence[NDArray[np.float64]]
    ) -> SideWords:
        spans = np.concatenate([_NOWHERE, *map(self._find_places, text.tolist())])
        sizes = [len(values) for values in importances]
        return SideWords(
            side=name,
            text=text,
            offsets=offsets_of(sizes),
            start=spans[:, 0],
            end=spans[:, 1],
            importance=np.concatenate([np.zeros(0), *importances]),
        )

    def _find_places(self, text: int) -> NDArray[np.int32]:
        if text not in self._spans:
            spans = TextWords(self._batch.texts[text]).spans
            self._spans[text] = np.array(spans, dtype=np.int32).reshape(-1, 2)
        return self._spans[text]


_NOWHERE = np.zeros((0, 2), dtype=np.int32)


def _explainer_notices(
    explainer: BoundExplainer, sides: Sequence[SideWords], batch: Batch
) -> tuple[Message, ...]:
    """Notices of the explainer for each side."""
    if not isinstance(explainer, NoticingExplainer):
        return ()
    texts = {side.side: np.unique(side.text[side.text >= 0]).tolist() for side in sides}
    return tuple(
        notice
        for side, numbers in texts.items()
        for notice in explainer.notices(side, [batch.texts[number] for number in numbers])
    )


def _unspaced_notice(batch: Batch) -> tuple[Message, ...]:
    """That words are no words, where spaces do not part them."""
    if not is_unspaced(batch.target_language):
        return ()
    return (message("note.bmx.clauses"),)


def _undefined_notice(every: Sequence[CellExplanation]) -> tuple[Message, ...]:
    """Notice of how many explanations have holes."""
    count = sum(
        bool(np.isnan(cell.candidate).any() or np.isnan(cell.other).any()) for cell in every
    )
    if not count:
        return ()
    return (message("note.bmx.undefined", undefined=count, explanations=len(every)),)


# Explanations as rows of tables: every word, and the words that hurt most often.


_EXPLAINER: Any = column("Explainer", help="what explained, as it was given")
_SIDE: Any = column("Side", help="whose word it is: candidate, reference or source")


class ExplainedWord(Record):
    """A word of a text, and what it adds to the score."""

    system: str = SYSTEM
    segment: int = SEGMENT
    side: str = _SIDE
    token: str = column("Word", help="as the text has it")
    position: int = column("Position", help="of the word in its text, from 1")
    importance: float | None = column(
        "Importance",
        digits=4,
        better="higher",
        help="above 0 where the word makes the candidate look better, in units of the metric",
    )
    score: float | None = column("Score", digits=4, help="beside all references")
    reference: str | None = column(
        "Reference", help="the reference that is used: of several the best match"
    )
    metric: str = METRIC
    explainer: str = _EXPLAINER


class CountedWord(Record):
    """A word as it is written, and its importance wherever it occurs."""

    metric: str = METRIC
    explainer: str = _EXPLAINER
    side: str = _SIDE
    token: str = column("Word", help="as it is written")
    count: int = column("Occurs", help="occurrences with a defined importance")
    hurts: int = column("Hurts", help="occurrences with a negative importance")
    mean: float = column("Mean importance", digits=4, help="over its occurrences")
