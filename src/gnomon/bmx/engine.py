"""Explaining many cells: groups of bounded size, a cache, an estimate first."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import numpy as np

from gnomon.bmx.aggregation import combine, power_means
from gnomon.bmx.explainers import DirectExplainer, PairImportances, PerturbingExplainer, TextPair
from gnomon.bmx.pairs import NO_TEXT, DistinctTexts, PairKey, PairTable
from gnomon.core.cache import key as cache_key
from gnomon.core.errors import UsageError
from gnomon.core.scripts import spaced_words
from gnomon.messages.audiences import Named
from gnomon.metrics.functions import COSTLY, BoundFunction
from gnomon.metrics.sequences import offsets_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx.aggregation import Shift
    from gnomon.bmx.explainers import BoundExplainer, PerturbationPlan
    from gnomon.bmx.pairs import Cell, Scorer
    from gnomon.core.batch import Batch

    Look = Callable[[PairTable, Sequence[TextPair]], Sequence[PairImportances]]

__all__ = [
    "EFFORT",
    "MAX_CALLS",
    "Boost",
    "CellExplanation",
    "Effort",
    "Engine",
    "ExplanationStore",
    "Memory",
    "Progress",
]


_log = logging.getLogger(__name__)
#: scores of pairs that a request may cost unless more are allowed
MAX_CALLS = 1_000_000


# From the pairs to explain down to the pairs that the metric must score, and back.


class Boost(NamedTuple):
    """Rule by which an iteration makes a new score of an old one and its explanation."""

    p: float
    w: float
    shift: Shift

    def scores(self, before: NDArray[np.float64], importances: Importances) -> NDArray[np.float64]:
        """S_t = w S_{t-1} + (1 - w) M_p of every pair, float64 [pairs]; see :func:`boosted`."""
        aggregate = power_means(
            importances.values, importances.offsets, [self.p], shift=self.shift
        ).means[0]
        wordless = np.diff(importances.offsets) == 0
        return combine(before, np.where(wordless, before, aggregate), self.w)


class Importances(NamedTuple):
    """Importances of the words of some pairs, candidate before other (compressed sparse rows)."""

    values: NDArray[np.float64]
    offsets: NDArray[np.int64]
    candidate: NDArray[np.int64]


@dataclass
class Planner:
    """The plans of texts, each made once."""

    explainer: BoundExplainer
    texts: DistinctTexts
    both: bool
    _plans: dict[int, tuple[PerturbationPlan, list[int]] | None] = field(default_factory=dict)

    def prepare(self, keys: Sequence[PairKey]) -> None:
        """Make the plans of all texts of some pairs."""
        if not isinstance(self.explainer, PerturbingExplainer):
            return
        sides = chain.from_iterable((k.candidate, k.other) if self.both else k[1:2] for k in keys)
        new = [n for n in dict.fromkeys(sides) if n not in self._plans]
        worded = [n for n in new if n != NO_TEXT and len(self.texts.words(n))]
        self._plans |= dict.fromkeys(new)
        plans = self.explainer.plans([self.texts.words(n) for n in worded])
        for number, plan in zip(worded, plans, strict=True):
            self._plans[number] = plan, [self.texts.add(text) for text in plan.texts]

    def plans_of(self, key: PairKey) -> tuple[tuple[PerturbationPlan, list[int]] | None, ...]:
        """The plans of both sides, with the numbers of the perturbed texts."""
        other = self._plans.get(key.other) if self.both else None
        return self._plans.get(key.candidate), other


class _Asked(NamedTuple):
    """A pair of a level, and the positions of its perturbations in the level below."""

    own: int
    plans: tuple[tuple[PerturbationPlan, NDArray[np.int64]] | None, ...]


@dataclass(frozen=True, eq=False)
class IterationLevel:
    """The pairs of one level, over the table of the level below."""

    planner: Planner
    pairs: PairTable
    below: PairTable
    asked: Sequence[_Asked]

    @classmethod
    def request(cls, pairs: PairTable, planner: Planner) -> IterationLevel:
        """Ask for what explains some pairs."""
        keys = list(pairs.number)
        planner.prepare(keys)
        below = PairTable()
        return cls(planner, pairs, below, [_ask(key, planner, below) for key in keys])

    def select_scores(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scores of the level's pairs among those of the level below."""
        own_scores: NDArray[np.float64] = scores[[asked.own for asked in self.asked]]
        return own_scores

    def importances(self, scores: NDArray[np.float64], look: Look) -> Importances:
        """Importances that explain the scores of the level below at this level's pairs."""
        if isinstance(self.planner.explainer, DirectExplainer):
            sides = look(self.pairs, [self._pair(key) for key in self.pairs.number])
            parts = [(side.candidate, side.other) for side in sides]
        else:
            parts = [
                (_explain_side(asked, 0, scores), _explain_side(asked, 1, scores))
                for asked in self.asked
            ]
        if not self.planner.both:
            parts = [(candidate, _NONE) for candidate, _ in parts]
        sizes = [len(candidate) + len(other) for candidate, other in parts]
        return Importances(
            values=np.concatenate([_NONE, *chain.from_iterable(parts)]),
            offsets=offsets_of(sizes),
            candidate=np.array([len(candidate) for candidate, _ in parts], dtype=np.int64),
        )

    def _pair(self, key: PairKey) -> TextPair:
        words = self.planner.texts.words
        return TextPair(words(key.candidate), None if key.other == NO_TEXT else words(key.other))


_NONE = np.zeros(0)


def levels_below(pairs: PairTable, planner: Planner, iterations: int) -> list[IterationLevel]:
    """The levels T to 1, the highest first; the table below the last is what must be scored."""
    levels: list[IterationLevel] = []
    for _ in range(iterations):
        levels.append(IterationLevel.request(levels[-1].below if levels else pairs, planner))
    return levels


def _ask(key: PairKey, planner: Planner, below: PairTable) -> _Asked:
    candidate, other = planner.plans_of(key)
    position = below.add(key)
    return _Asked(
        position,
        (
            _number_positions(
                candidate, [key._replace(candidate=n) for n in _texts(candidate)], below
            ),
            _number_positions(other, [key._replace(other=n) for n in _texts(other)], below),
        ),
    )


def _texts(planned: tuple[PerturbationPlan, list[int]] | None) -> list[int]:
    return [] if planned is None else planned[1]


def _number_positions(
    planned: tuple[PerturbationPlan, list[int]] | None, keys: Sequence[PairKey], below: PairTable
) -> tuple[PerturbationPlan, NDArray[np.int64]] | None:
    if planned is None:
        return None
    return planned[0], np.array([below.add(key) for key in keys], dtype=np.int64)


def _explain_side(asked: _Asked, side: int, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    chosen = asked.plans[side]
    if chosen is None:
        return _NONE
    plan, at = chosen
    return plan.importances(float(scores[asked.own]), scores[at])


#: (stage, done, total)
Progress: TypeAlias = Callable[[str, int, int], None]

#: pairs of a group of cells, and products of their lengths in words, about
_PAIRS = 4096
_PRODUCTS = 1 << 24
#: changes whenever the same question gets another answer
_SCHEMA = "bmx explanation 1"


class CellExplanation(NamedTuple):
    """Explanation of a cell; scores are oriented: the better the higher."""

    full: float
    held: float
    chosen: int
    base: float
    candidate: NDArray[np.float64]
    other: NDArray[np.float64]


class Effort(NamedTuple):
    """Limits of the cost of explaining, what it keeps, and whom it tells."""

    max_calls: int = MAX_CALLS
    cache: ExplanationStore | None = None
    progress: Progress | None = None


EFFORT = Effort()


@dataclass(frozen=True, eq=False)
class Engine:
    """Explains cells of one batch."""

    scorer: Scorer
    batch: Batch
    explainer: BoundExplainer
    both: bool
    before: tuple[Boost, ...]
    effort: Effort

    def explain(self, cells: Sequence[Cell]) -> tuple[list[CellExplanation], int]:
        """Explanations of some distinct cells, and how many of them the cache knew."""
        explanations = self._read_cache(cells)
        open_ = [cell for cell in cells if cell not in explanations]
        self._check(open_)
        done = len(explanations)
        self._tell(done, len(cells))
        for group in self._groups(open_):
            explained = self._explained(group)
            if self.effort.cache is not None:
                self.effort.cache.put_many(
                    {self._address(c): _pack(f) for c, f in explained.items()}
                )
            explanations |= explained
            done += len(group)
            self._tell(done, len(cells))
        return [explanations[cell] for cell in cells], len(cells) - len(open_)

    def unknown(self, cells: Sequence[Cell]) -> list[Cell]:
        """Those cells that the cache does not know."""
        explanations = self._read_cache(cells)
        return [cell for cell in cells if cell not in explanations]

    def estimate(self, cells: Sequence[Cell]) -> int:
        """Largest number of pairs that explaining some cells takes."""
        return sum(self._calls(cell) for cell in cells)

    def _tell(self, done: int, total: int) -> None:
        if self.effort.progress:
            self.effort.progress("explaining", done, total)

    def _check(self, cells: Sequence[Cell]) -> None:
        calls = self.estimate(cells)
        if calls > self.effort.max_calls:
            times = f", {len(self.before) + 1} iterations," if self.before else ""
            raise UsageError(
                f"explaining {self.scorer.bound.name!r} on {len(cells)} distinct outputs by"
                f" {self.explainer.spec}{times} takes up to {calls} metric calls, more than the"
                f" {self.effort.max_calls} that are allowed; allow more (",
                Named("--max-calls", "max_calls= in a spec and in Python"),
                "), take fewer systems or segments, or a cheaper explainer",
            )
        if calls > COSTLY:
            self._announce(calls)

    def _announce(self, calls: int) -> None:
        """Say how often the metric will be called, before it begins."""
        bound = self.scorer.bound
        if bound.is_limited_to_test_set:
            return  # its scores are known already
        if isinstance(bound, BoundFunction):
            bound.announce(calls)
        else:
            _log.debug("%s will be called up to %s times", bound.name, f"{calls:,}")

    def _calls(self, cell: Cell) -> int:
        choosing = 1 + len(cell.others) if len(cell.others) > 1 else 0
        if not isinstance(self.explainer, PerturbingExplainer):
            return 1 + choosing
        sides = [cell.candidate]
        if self.both and cell.others:
            sides.append(max(cell.others, key=self._length))
        counts = (self._length(text) for text in sides)
        once = 1 + sum(self.explainer.calls(words) for words in counts if words)
        return int(once ** (len(self.before) + 1)) + choosing

    def _length(self, text: int) -> int:
        return len(spaced_words(self.batch.texts[text]))

    def _groups(self, cells: Sequence[Cell]) -> Iterator[list[Cell]]:
        """Cells in their order, as many at a time as memory allows; segments stay together."""
        group: list[Cell] = []
        pairs = products = 0
        for cell in cells:
            full = pairs >= _PAIRS or products >= _PRODUCTS
            far = pairs >= 4 * _PAIRS or products >= 4 * _PRODUCTS
            if group and full and (far or cell.segment != group[-1].segment):
                yield group
                group, pairs, products = [], 0, 0
            group.append(cell)
            calls = self._calls(cell)
            longest = max((self._length(text) for text in cell.others), default=1)
            pairs += calls
            products += calls * max(1, longest * self._length(cell.candidate))
        if group:
            yield group

    def _explained(self, cells: Sequence[Cell]) -> dict[Cell, CellExplanation]:
        judged = [cell for cell in cells if cell.others or self.scorer.role is None]
        explanations = {cell: self._undefined(cell) for cell in cells}
        return explanations | (_JudgedCells(self, judged).explanations() if judged else {})

    def _undefined(self, cell: Cell) -> CellExplanation:
        """Of a candidate that has no reference."""
        nan = float("nan")
        return CellExplanation(
            nan, nan, NO_TEXT, nan, np.full(self._length(cell.candidate), nan), np.zeros(0)
        )

    def _read_cache(self, cells: Sequence[Cell]) -> dict[Cell, CellExplanation]:
        if self.effort.cache is None:
            return {}
        address = {self._address(cell): cell for cell in cells}
        values = self.effort.cache.get_many(list(address))
        return {
            address[name]: self._unpacked(address[name], value) for name, value in values.items()
        }

    def _address(self, cell: Cell) -> bytes:
        texts = self.batch.texts
        explained = [self.explainer.spec, repr(dict(self.explainer.fields)), repr(self.both)]
        fields = [str(self.batch.language_pair), str(int(self.batch.segments[cell.segment]))]
        return cache_key(
            _SCHEMA,
            str(self.scorer.bound.signature),
            *([] if self.scorer.scale == 1 else [f"scale {self.scorer.scale!r}"]),
            *explained,
            repr([tuple(boost) for boost in self.before]),
            *fields,
            repr(self.scorer.role),
            texts[cell.candidate],
            *(texts[number] for number in cell.others),
            "" if cell.source < 0 else "source " + texts[cell.source],
            "" if cell.system < 0 else "system " + self.batch.systems[cell.system],
        )

    def _unpacked(self, cell: Cell, value: bytes) -> CellExplanation:
        numbers = np.frombuffer(value, dtype="<f8")
        full, held, chosen, base = numbers[:4].tolist()
        words = self._length(cell.candidate)
        candidate, other = numbers[4 : 4 + words], numbers[4 + words :]
        return CellExplanation(full, held, int(chosen), base, candidate, other)


def _pack(explanation: CellExplanation) -> bytes:
    head = [explanation.full, explanation.held, float(explanation.chosen), explanation.base]
    return np.concatenate([head, explanation.candidate, explanation.other]).astype("<f8").tobytes()


class _JudgedCells:
    """Cells that are explained in one go; each has something to be judged by."""

    def __init__(self, engine: Engine, cells: Sequence[Cell]) -> None:
        self.engine = engine
        self.scorer = engine.scorer
        self.cells = cells
        self.texts = DistinctTexts()

    def explanations(self) -> dict[Cell, CellExplanation]:
        """Choose references, perturb, score, explain."""
        chosen, full = self._choose_references()
        pairs = PairTable()
        at = [pairs.add(self._key(c, n)) for c, n in zip(self.cells, chosen, strict=True)]
        engine = self.engine
        planner = Planner(engine.explainer, self.texts, engine.both)
        levels = levels_below(pairs, planner, len(engine.before) + 1)
        scores = self.scorer.scores(list(levels[-1].below.number), self.texts)
        held = _top_scores(levels, scores)
        for level, boost in zip(levels[:0:-1], engine.before, strict=True):
            importances = level.importances(scores, self._look)
            scores = boost.scores(level.select_scores(scores), importances)
        importances = levels[0].importances(scores, self._look)
        base = levels[0].select_scores(scores)
        explanations = {}
        for cell, number, row in zip(self.cells, chosen, at, strict=True):
            low, high = importances.offsets[row : row + 2].tolist()
            middle = low + int(importances.candidate[row])
            score = float(held[row])
            explanations[cell] = CellExplanation(
                full=full.get(cell, score),
                held=score,
                chosen=number,
                base=float(base[row]),
                candidate=importances.values[low:middle],
                other=importances.values[middle:high],
            )
        return explanations

    def _choose_references(self) -> tuple[list[int], dict[Cell, float]]:
        """The reference of each cell; and scores with all, where there are several."""
        several = [cell for cell in self.cells if len(cell.others) > 1]
        first = [0 if cell.others else NO_TEXT for cell in self.cells]
        if not several:
            return first, {}
        alone = PairTable()
        at = {cell: [alone.add(self._key(cell, n)) for n in range(len(cell.others))]
              for cell in several}  # fmt: skip
        scores = self.scorer.scores(list(alone.number), self.texts)
        worst = np.where(np.isnan(scores), -np.inf, scores)
        best = {cell: int(worst[rows].argmax()) for cell, rows in at.items()}
        keys = [self._key(cell, 0) for cell in several]
        lists = [[self._text(number) for number in cell.others] for cell in several]
        together = self.scorer.scores(keys, self.texts, lists)
        chosen = [best.get(cell, n) for cell, n in zip(self.cells, first, strict=True)]
        return chosen, dict(zip(several, together.tolist(), strict=True))

    def _key(self, cell: Cell, chosen: int) -> PairKey:
        other = NO_TEXT if chosen == NO_TEXT else self._text(cell.others[chosen])
        source = NO_TEXT if cell.source < 0 else self._text(cell.source)
        return PairKey(cell.segment, self._text(cell.candidate), other, source, cell.system)

    def _text(self, number: int) -> int:
        return self.texts.add(self.engine.batch.texts[number])

    def _look(self, pairs: PairTable, words: Sequence[TextPair]) -> Sequence[PairImportances]:
        explainer = self.engine.explainer
        if not isinstance(explainer, DirectExplainer):
            raise UsageError(f"explainer {explainer.spec!r} neither perturbs nor looks")
        keys = list(pairs.number)
        importances: dict[int, PairImportances] = {}
        for numbers in self.scorer.batch_positions(keys):
            batch = self.scorer.batch([keys[n] for n in numbers], self.texts)
            looked_at = explainer.look(self.scorer.bound, batch, [words[n] for n in numbers])
            if self.scorer.scale != 1 and getattr(explainer, "of_score", False):
                looked_at = [
                    PairImportances(*(side / self.scorer.scale for side in pair))
                    for pair in looked_at
                ]
            importances |= zip(numbers, looked_at, strict=True)
        return [importances[number] for number in range(len(keys))]


def _top_scores(
    levels: Sequence[IterationLevel], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The metric's own scores of the pairs at the top."""
    for level in reversed(levels):
        scores = level.select_scores(scores)
    return scores


# Explanations of a bound metric, kept in memory and, if wanted, on disk.


_LIMIT = 1 << 28


class ExplanationStore(Protocol):
    """Bytes by key; :class:`gnomon.core.cache.Cache` is one."""

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are there."""
        ...

    def put_many(self, items: Mapping[bytes, bytes]) -> None:
        """Keep some values."""
        ...


@dataclass
class Memory:
    """A store in memory, before another one.

    Masked, selected and resampled batches repeat most of the texts of the batch they come from.
    Above the limit the entries that came first go.
    """

    behind: ExplanationStore | None = None
    limit_bytes: int = _LIMIT
    _values: dict[bytes, bytes] = field(default_factory=dict)
    _bytes: int = 0

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values of those keys that are here or behind."""
        values = {key: self._values[key] for key in keys if key in self._values}
        missing = [key for key in keys if key not in values]
        if self.behind is None or not missing:
            return values
        more = self.behind.get_many(missing)
        self._hold(more)
        return values | more

    def put_many(self, items: Mapping[bytes, bytes]) -> None:
        """Keep some values, here and behind."""
        self._hold(items)
        if self.behind is not None:
            self.behind.put_many(items)

    def _hold(self, items: Mapping[bytes, bytes]) -> None:
        for key, value in items.items():
            self._bytes += len(value) - len(self._values.pop(key, b""))
            self._values[key] = value
        while self._bytes > self.limit_bytes:
            oldest = next(iter(self._values))
            self._bytes -= len(self._values.pop(oldest))
