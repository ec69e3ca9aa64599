"""bmx explain: words, what hurts, and whether that can be believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from gnomon.bmx._direct import RandomExplainer
from gnomon.bmx._explanations import MAX_CALLS, check_sides, explain
from gnomon.bmx._judging import (
    Draws,
    Judged,
    against_errors,
    check_errors,
    curves_table,
    errors_table,
    faithfulness,
    tagged_words,
)
from gnomon.bmx._pairs import role_of
from gnomon.bmx.explainers import EXPLAINERS, check_explainer, find_explainer
from gnomon.errors import UsageError
from gnomon.faults import Fault, faults, refuse
from gnomon.findings import (
    Column,
    Excerpt,
    Exhibit,
    ExhibitText,
    Finding,
    Highlight,
    Listing,
    Table,
)
from gnomon.metrics import resolve
from gnomon.metrics.registry import check_metric
from gnomon.metrics.scoring import bind
from gnomon.stats.significance import check_confidence, check_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Literal

    from numpy.typing import NDArray

    from gnomon.bmx._engine import Progress
    from gnomon.bmx._explanations import Explanations, Sides, SideWords
    from gnomon.bmx.explainers import Explainer
    from gnomon.cache import Cache
    from gnomon.findings import Cell
    from gnomon.metrics.protocol import BoundMetric, Metric
    from gnomon.outline import Outline
    from gnomon.testset import TestSet

    AnyMetric = str | Metric | BoundMetric | Callable[..., float]
    Role = Literal["source", "reference", "candidate"]
    Row: TypeAlias = Mapping[str, Cell]


# What is wrong with a request to explain, before a metric is bound.


def check_examine(
    outline: Outline | None,
    metrics: AnyMetric | Sequence[AnyMetric] = "bleu",
    explainers: str | Explainer | Sequence[str | Explainer] = "erasure",
    *,
    sides: str = "both",
    segments: Sequence[int] | None = None,
    sample: int | None = None,
    errors: bool = False,
    errors_kind: str | None = None,
    show: int = 3,
    least: int = 3,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    max_calls: int = MAX_CALLS,
    allow_code: bool = False,
) -> Iterator[Fault]:
    """What :func:`gnomon.bmx.examine` refuses of its arguments, which are as there.

    The outline says what the test set holds; without, that is not known yet.
    """
    yield from faults("show", _at_least, "outputs to show are", show, 0)
    yield from faults("least", _at_least, "occurrences of a listed word are", least, 1)
    yield from faults("resamples", check_count, resamples)
    yield from faults("confidence", check_confidence, confidence)
    yield from faults("seed", _at_least, "a seed is", seed, 0)
    yield from faults("max_calls", _at_least, "metric calls are", max_calls, 1)
    yield from faults("sides", check_sides, sides)
    if sample is not None:
        yield from faults("sample", _at_least, "the segments of a sample are", sample, 1)
    if outline is not None:
        for number, segment in enumerate(segments or ()):
            yield from faults(f"segments[{number}]", _check_segment, segment, outline.segments)
    if errors and outline is not None:
        option = "errors" if errors_kind is None else "errors_kind"
        yield from faults(option, check_errors, outline, ("candidate", "source"), kind=errors_kind)
    yield from _explained(outline, metrics, explainers, allow_code=allow_code)


def _explained(
    outline: Outline | None, metrics: object, explainers: object, *, allow_code: bool
) -> Iterator[Fault]:
    """Metrics and explainers, and whether they go together."""
    explaining = explainers if isinstance(explainers, list | tuple) else None
    good = []
    if not listed(explainers):
        said = f"no explainer is asked for; name some of {', '.join(EXPLAINERS)}"
        yield Fault("explainers", UsageError(said))
    for number, one in enumerate(listed(explainers)):
        place = "explainers" if explaining is None else f"explainers[{number}]"
        wrong = list(faults(place, find_explainer, one))
        yield from wrong
        if not wrong:
            good.append((place, one))
    for one in listed(metrics):
        wrong = list(
            faults("metrics", check_metric, one, outline, allow_code=allow_code, changed=True)
        )
        yield from wrong
        if wrong or not _is_unbound(one):
            continue
        metric = resolve(one, allow_code=allow_code)
        for place, explainer in good:
            yield from faults(place, check_explainer, explainer, metric)


def listed(what: Any) -> list[Any]:
    """One thing, or several of them, as a list."""
    return list(what) if isinstance(what, (list, tuple)) else [what]


def _is_unbound(what: object) -> bool:
    return isinstance(what, str) or callable(getattr(what, "bind", None))


def _at_least(what: str, given: int, least: int) -> None:
    if given < least:
        raise UsageError(f"{what} {least} or more; got {given}")


def _check_segment(segment: int, segments: int) -> None:
    if not 0 <= segment < segments:
        raise UsageError(
            f"segment {segment + 1} is not there; the test set has 1 to {segments} (numbers from 0)"
        )


# Segments whose words are coloured by their importance.


_ROLES: dict[str, Role] = {"source": "source", "reference": "reference", "candidate": "candidate"}


def worst_explained(
    testset: TestSet,
    explanations: Explanations,
    explainer: str,
    tagged: Mapping[str, NDArray[np.bool_]],
    most: int,
) -> tuple[Exhibit, ...]:
    """The outputs that score worst, the worst first.

    Args:
        testset: for documents and domains.
        explanations: of one metric.
        explainer: its name.
        tagged: words that people marked, by side; see :func:`tagged_words`.
        most: how many outputs.
    """
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
        segment=segment + 1,
        texts=tuple(_texts(testset, explanations, tagged, cell, largest)),
        systems=(name,),
        weight=weight,
        caption=(
            f"Blue {{+words+}} raise the score, orange [-ones-] lower it; the strongest weighs"
            f" {largest:.4g}." + (" People marked underlined* words as errors." if tagged else "")
        ),
        **{label: None if of is None else of[segment] for label, of in labels.items()},
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
        yield ExhibitText("source", "", testset.sources[int(explanations.segments[column])])
    for side in reversed(explanations.sides):
        number = int(side.text[cell])
        if number >= 0:
            own = side.side == "candidate"
            score = float(explanations.scores.ravel()[cell])
            yield ExhibitText(
                _ROLES[side.side],
                explanations.systems[system] if own else "",
                explanations.texts[number],
                tuple(_highlights(side, cell, tagged.get(side.side), largest)),
                {"score": None if np.isnan(score) else score} if own else {},
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


# Explanations as tables: every word, and the words that hurt most often.


_PAGE = 5000
_OF = (
    Column("metric", "Metric"),
    Column("explainer", "Explainer"),
    Column("side", "Side"),
)
_COUNTED = (
    *_OF,
    Column("token", "Word"),
    Column("count", "Occurs", "count"),
    Column("hurts", "Hurts", "count", help="occurrences with a negative importance"),
    Column("share", "Share", "share", help="of the occurrences, those that hurt"),
    Column("mean", "Mean importance", "number", digits=4),
    Column("lowest", "Lowest", "number", digits=4),
)


def words_table(rows: Sequence[Row]) -> Table:
    """Every explained word, the records of the contract."""
    columns = (
        Column("system", "System"),
        Column("segment", "Segment", "count"),
        Column("side", "Side"),
        Column("token", "Word"),
        Column("position", "Position", "count"),
        Column("importance", "Importance", "number", digits=4, better="higher"),
        Column("score", "Score", "number", digits=4, help="beside all references"),
        Column("held", "Held", "number", digits=4, help="beside the reference that is explained"),
        Column("reference", "Reference", help="the one that is held: of several the best match"),
        Column("metric", "Metric"),
        Column("explainer", "Explainer"),
        Column("higher_is_better", "Higher is better", "truth"),
    )
    excerpt = None
    if len(rows) > _PAGE:
        note = f"The first {_PAGE} of {len(rows)} words; all with --export FILE, -f tsv or -f json."
        excerpt = Excerpt(tuple(range(_PAGE)), note)
    note = (
        "A positive importance makes the candidate look better, in units of the metric; positions"
        " count from 1."
    )
    return Table("words", "Importance of every word", columns, tuple(rows), note, excerpt)


def hurting_table(rows: Iterable[Row]) -> Table:
    """The words that hurt the score, those that do so most often first."""
    found = [row for row in _counted(rows) if row["hurts"]]
    found.sort(key=lambda row: (-_of(row, "hurts"), _of(row, "mean")))
    note = "A word hurts where its importance is negative. Words are compared as they are written."
    return Table("hurting", "Words that most often hurt", _COUNTED, tuple(found), note)


def lowest_table(rows: Iterable[Row], least: int) -> Table:
    """Words of the lowest mean importance.

    Args:
        rows: of :func:`words_table`.
        least: how often a word must occur.
    """
    found = [row for row in _counted(rows) if _of(row, "count") >= least]
    found.sort(key=lambda row: (_of(row, "mean"), -_of(row, "count")))
    title = f"Lowest mean importance of words that occur {least} times or more"
    return Table("lowest", title, _COUNTED, tuple(found))


def _counted(rows: Iterable[Row]) -> list[dict[str, Cell]]:
    values: dict[tuple[Cell, ...], list[float]] = {}
    for row in rows:
        if row["importance"] is not None:
            key = tuple(row[column.name] for column in (*_OF, _COUNTED[len(_OF)]))
            values.setdefault(key, []).append(_of(row, "importance"))
    return [
        {
            **dict(zip(("metric", "explainer", "side", "token"), key, strict=True)),
            "count": len(some),
            "hurts": (hurts := sum(value < 0 for value in some)),
            "share": hurts / len(some),
            "mean": sum(some) / len(some),
            "lowest": min(some),
        }
        for key, some in values.items()
    ]


def _of(row: Row, name: str) -> float:
    value = row[name]
    return float(value) if isinstance(value, int | float) else float("nan")


# Which reference each explanation is beside, by name.


def held_references(
    testset: TestSet, bound: BoundMetric, found: Explanations
) -> dict[tuple[str, int], str]:
    """The references that explanations hold on to, by system and segment (from 1).

    Of references with the same text it is the first. Nothing for metrics that take no references.

    Args:
        testset: what was explained.
        bound: the metric.
        found: the explanations.
    """
    if role_of(bound, testset.batch()) != "reference":
        return {}
    return {
        (system, int(segment) + 1): name
        for k, system in enumerate(found.systems)
        for i, segment in enumerate(found.segments)
        if (number := int(found.judged_by[k, i])) >= 0
        for name in _called(testset, system, int(segment), found.texts[number])
    }


def _called(testset: TestSet, system: str, segment: int, text: str) -> Iterator[str]:
    own = testset.system_references.get(system, {})
    for name, texts in (*testset.references.items(), *own.items()):
        if texts[segment] == text:
            yield name
            return


# Explanations of metrics as a finding: words, what hurts, and whether that can be believed.


_LISTED = 15


def examine(
    testset: TestSet,
    metrics: AnyMetric | Sequence[AnyMetric],
    explainers: str | Explainer | Sequence[str | Explainer] = "erasure",
    *,
    sides: Sides = "both",
    systems: Sequence[str] | None = None,
    segments: Sequence[int] | None = None,
    sample: int | None = None,
    errors: bool = False,
    errors_kind: str | None = None,
    curves: bool = False,
    show: int = 3,
    least: int = 3,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    max_calls: int = MAX_CALLS,
    cache: Cache | None = None,
    progress: Progress | None = None,
    allow_code: bool = False,
) -> Finding:
    """Explain metrics, list what hurts, and judge the explanations.

    Args:
        testset: what was translated, and by whom.
        metrics: one or several, as in :func:`explain`.
        explainers: one or several, likewise.
        sides: explain "both" sides or the "candidate" alone.
        systems: names of the systems to explain; all by default.
        segments: numbers of the segments to explain, from 0; all by default.
        sample: so many of these, drawn with the seed.
        errors: judge by the errors that people marked; see :func:`against_errors`.
        errors_kind: which judgements, where there are several kinds.
        curves: judge by deletion and insertion; see :func:`faithfulness`.
        show: outputs whose words are coloured, for each metric and explainer, the worst ones.
        least: how often words occur that are listed by their mean importance.
        resamples: of the segments, for intervals.
        confidence: share inside an interval, in (0, 1).
        seed: of the sample, the resamples and the random explainer that is the control.
        max_calls: most pairs of texts that may be scored for each metric and explainer.
        cache: as in :func:`explain`.
        progress: as in :func:`explain`.
        allow_code: as in :func:`explain`.

    Returns:
        Tables ``words`` (the records of the contract), ``hurting``, ``lowest``, and, if asked for,
        ``errors`` and ``faithfulness``.

    Raises:
        DataError: nobody marked errors on an explained side.
        UsageError: an option is out of its range.
        GnomonError: whatever :func:`explain` raises.
    """
    refuse(
        check_examine(
            testset.outline, metrics, explainers, sides=sides, segments=segments, sample=sample,
            errors=errors, errors_kind=errors_kind, show=show, least=least, resamples=resamples,
            confidence=confidence, seed=seed, max_calls=max_calls, allow_code=allow_code,
        )
    )  # fmt: skip
    chosen = _segments(testset, segments, sample, seed)
    draws = Draws(resamples, seed, confidence)
    several: list[AnyMetric] = listed(metrics)
    named: list[str | Explainer] = listed(explainers)
    found: list[_Examined] = []
    for metric in several:
        _, bound = bind(testset, metric, allow_code=allow_code)
        run = _Run(testset, bound, sides, systems, chosen, max_calls, cache, progress)
        judge = _Judge(run, errors, errors_kind, curves, seed)
        found += [judge.examined(find_explainer(explainer), show) for explainer in named]
    return _finding(testset, found, least, draws)


class _Examined(NamedTuple):
    """The explanations of one metric by one explainer, and what judges them."""

    explanations: Explanations
    explainer: str
    judged: Judged
    exhibits: tuple[Exhibit, ...]
    references: Mapping[tuple[str, int], str]


@dataclass(frozen=True)
class _Run:
    """What is explained, and how much that may cost."""

    testset: TestSet
    bound: BoundMetric
    sides: Sides
    systems: Sequence[str] | None
    segments: Sequence[int] | None
    max_calls: int
    cache: Cache | None
    progress: Progress | None

    def explanations(self, explainer: Explainer) -> Explanations:
        return explain(
            self.testset,
            self.bound,
            explainer,
            sides=self.sides,
            systems=self.systems,
            segments=self.segments,
            max_calls=self.max_calls,
            cache=self.cache,
            progress=self.progress,
        )


@dataclass
class _Judge:
    """Judges explanations beside those of the control, which are made once."""

    run: _Run
    errors: bool
    kind: str | None
    curves: bool
    seed: int
    _control: Judged | None = None

    def examined(self, explainer: Explainer, show: int) -> _Examined:
        found = self.run.explanations(explainer)
        own = self._judged(found, explainer.spec)
        if self._control is None and (self.errors or self.curves):
            control = RandomExplainer(seed=self.seed)
            self._control = self._judged(self.run.explanations(control), control.spec)
        if self._control is not None:
            own = own._replace(
                errors_control=self._control.errors, curves_control=self._control.curves
            )
        tagged = tagged_words(self.run.testset, found, kind=self.kind) if self.errors else {}
        exhibits = worst_explained(self.run.testset, found, explainer.spec, tagged, show)
        references = held_references(self.run.testset, self.run.bound, found)
        return _Examined(found, explainer.spec, own, exhibits, references)

    def _judged(self, found: Explanations, explainer: str) -> Judged:
        testset = self.run.testset
        return Judged(
            found.metric,
            explainer,
            errors=against_errors(testset, found, kind=self.kind) if self.errors else (),
            curves=faithfulness(testset, self.run.bound, found, max_calls=self.run.max_calls)
            if self.curves
            else None,
        )


def _segments(
    testset: TestSet, segments: Sequence[int] | None, sample: int | None, seed: int
) -> Sequence[int] | None:
    if sample is None:
        return segments
    among = list(range(testset.segments)) if segments is None else list(segments)
    drawn = np.random.default_rng(seed).permutation(len(among))[:sample]
    return sorted(among[place] for place in drawn.tolist())


def _finding(testset: TestSet, found: Sequence[_Examined], least: int, draws: Draws) -> Finding:
    rows = [row for one in found for row in _rows(one)]
    judged = [one.judged for one in found]
    tables: list[Table] = [words_table(rows), hurting_table(rows), lowest_table(rows, least)]
    views = [_listing(table, _LISTED) for table in tables[1:]]
    for table in (errors_table(judged, draws), curves_table(judged, draws)):
        if table.rows:
            tables.append(table)
            views.insert(0, _listing(table, None))
    explanations = [one.explanations for one in found]
    return Finding(
        method="bmx explain",
        title=f"Which words scores rest on: {testset.name}",
        tables=tuple(tables),
        signatures={
            f"{one.explanations.metric} by {one.explainer}": str(one.explanations.signature)
            for one in found
        },
        views=tuple(views),
        exhibits=tuple(exhibit for one in found for exhibit in one.exhibits),
        notices=tuple(dict.fromkeys(notice for one in explanations for notice in one.notices)),
        facts={
            "test set": testset.name,
            "systems": str(explanations[0].shape[0]),
            "segments": str(explanations[0].shape[1]),
            "metric calls": str(sum(one.calls for one in explanations)),
            "known before": str(sum(one.known for one in explanations)),
        },
    )


def _rows(one: _Examined) -> Iterator[dict[str, Cell]]:
    explanations = one.explanations
    column = {int(segment) + 1: i for i, segment in enumerate(explanations.segments)}
    of = {
        (name, segment): (float(explanations.scores[k, i]), float(explanations.held[k, i]))
        for k, name in enumerate(explanations.systems)
        for segment, i in column.items()
    }
    for row in explanations.rows():
        score, held = of[str(row["system"]), int(row["segment"] or 0)]
        yield {
            **row,
            "score": None if np.isnan(score) else score,
            "held": None if np.isnan(held) else held,
            "reference": one.references.get((str(row["system"]), int(row["segment"] or 0))),
            "metric": explanations.metric,
            "explainer": one.explainer,
            "higher_is_better": explanations.higher_is_better,
        }


def _listing(table: Table, most: int | None) -> Listing:
    columns = tuple(column.name for column in table.columns)
    return Listing(table.name, table.title, columns, most=most)
