"""One test set as the judge sees it: what people, metrics and controls say of each system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, TypeAlias, cast

import numpy as np

from gnomon.errors import LengthMismatchError, UsageError
from gnomon.faults import Fault, faults
from gnomon.human import only_kind
from gnomon.metrics import score
from gnomon.metrics.registry import check_metric
from gnomon.options import Metavar
from gnomon.scores import Scores
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from gnomon.human import RankedPairs, Ranking
    from gnomon.metrics.protocol import AnyMetric
    from gnomon.outline import Outline
    from gnomon.testset import TestSet

#: one for all test sets, or the scores of each (None: it has none there)
Wanted: TypeAlias = "AnyMetric | Sequence[Scores | None]"
#: one metric or several, some by name
Judged: TypeAlias = Annotated[
    "Wanted | Sequence[Wanted] | Mapping[str, Wanted] | None", Metavar("METRIC")
]


@dataclass(frozen=True)
class JudgedMetric:
    """The scores of one metric, higher is better; NaN is missing.

    Attributes:
        metric: its name.
        system: system scores [K].
        segments: segment scores [K, N].
        control: whether it is no metric but something to compare metrics with.
    """

    metric: str
    system: NDArray[np.float64]
    segments: NDArray[np.float64]
    control: bool = False


@dataclass(frozen=True)
class Contest:
    """Metrics against people on one test set. Systems are sorted by name.

    Attributes:
        testset: the test set.
        name: what to call it in tables.
        pair: its language pair, or its name if it has none.
        systems: all systems that people or metrics scored, sorted [K].
        kinds: kind of the human scores by level; a level without scores is missing.
        system: people's system scores [K], NaN where there are none.
        segments: people's segment scores [K, N].
        ranking: relative rankings.
        entries: the metrics, in the order given.
        signatures: how to make their scores again, by metric.
        notices: what a reader should know.
    """

    testset: TestSet
    name: str
    pair: str
    systems: tuple[str, ...]
    kinds: Mapping[str, str]
    system: NDArray[np.float64]
    segments: NDArray[np.float64]
    ranking: Ranking | None
    entries: tuple[JudgedMetric, ...]
    signatures: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @property
    def judged(self) -> int:
        """How many systems people judged in any way."""
        known = ~np.isnan(self.system) | (~np.isnan(self.segments)).any(axis=1)
        ranked = () if self.ranking is None else self.ranking.systems
        known |= np.array([name in ranked for name in self.systems], dtype=bool)
        return int(known.sum())

    @property
    def ranked(self) -> RankedPairs | None:
        """The rankings as indices."""
        return None if self.ranking is None else self.ranking.pairs(self.systems)


def every_metric(metrics: object) -> list[object]:
    """One metric or several, as a list."""
    if isinstance(metrics, Mapping):
        return list(metrics.values())
    return list(metrics) if isinstance(metrics, list | tuple) else [metrics]


def metric_faults(outline: Outline | None, metrics: object, *, allow_code: bool) -> Iterator[Fault]:
    """Specs that name no metric, or one that cannot score a test set."""
    for number, one in enumerate(every_metric(metrics)):
        if isinstance(one, str):
            place = f"metrics[{number}]"
            yield from faults(place, check_metric, one, outline, allow_code=allow_code)


def named(
    metrics: Wanted | Sequence[Wanted] | Mapping[str, Wanted],
) -> list[tuple[str | None, Wanted]]:
    """Metrics under the names they are to have; None: their own."""
    if isinstance(metrics, Mapping):
        return list(metrics.items())
    return [(None, cast("Wanted", one)) for one in every_metric(metrics)]


def contest(
    testset: TestSet,
    place: int,
    sets: int,
    metrics: Sequence[tuple[str | None, Wanted]],
    *,
    human: Sequence[str] = (),
    human_systems: bool = False,
    allow_code: bool = False,
    allow_circular: bool = False,
    tick: Callable[[str, int, int], None] | None = None,
) -> Contest:
    """Score a test set and put everything into the order of the systems.

    Args:
        testset: the test set.
        place: its place among the test sets, from 0.
        sets: how many test sets there are.
        metrics: names and metrics.
        human: kinds of human scores and rankings to use; empty: the only one there is.
        human_systems: whether human translators are judged among the systems.
        allow_code: let a spec ``python('module:function')`` run code.
        allow_circular: judge metrics by human scores that went into them.
        tick: progress.

    Raises:
        DataError: there are several kinds of human scores and none was named.
        UsageError: two metrics have one name, scores belong to other test sets, or a metric has
            seen the human scores that would judge it.
    """
    scored: list[tuple[str, Scores]] = []
    for done, (name, wanted) in enumerate(metrics, start=1):
        found = _scores(testset, wanted, place, sets, allow_code=allow_code)
        if found is not None:
            scored.append((name or found.metric, found))
        if tick:
            tick(f"scoring {testset.name}", done, len(metrics))
    _check_names([name for name, _ in scored])
    kinds = kinds_of(testset.outline, human)
    seen = tuple(_circular(title_of(testset), scored, kinds, allowed=allow_circular))
    systems, left_out = _systems(testset, kinds, [s for _, s in scored], keep=human_systems)
    entries = tuple(_entry(name, s, systems, testset.segments) for name, s in scored)
    ranking = testset.ranking(kinds["ranking"]) if "ranking" in kinds else None
    shape = (len(systems), testset.segments)
    return Contest(
        testset=testset,
        name=title_of(testset),
        pair=testset.language_pair or testset.name,
        systems=systems,
        kinds=kinds,
        system=_human(testset, kinds, "system", systems, shape[:1]),
        segments=_human(testset, kinds, "segment", systems, shape),
        ranking=ranking,
        entries=entries,
        signatures={name: str(s.signature) for name, s in scored},
        notices=(*left_out, *seen),
    )


def has_texts(testset: TestSet) -> bool:
    """Whether any output has a text; there are none where scores alone were given."""
    return any(any(texts) for texts in testset.systems.values())


def title_of(testset: TestSet | Outline) -> str:
    """What tables call a test set: its name, and its language pair where that does not say it."""
    pair = testset.language_pair
    return testset.name if not pair or pair in testset.name else f"{testset.name} {pair}"


def _scores(
    testset: TestSet, wanted: Wanted, place: int, sets: int, *, allow_code: bool
) -> Scores | None:
    if isinstance(wanted, Scores):
        if sets > 1:
            raise UsageError(
                f"scores of {wanted.metric!r} belong to one test set, and there are {sets}; give a"
                " list with the scores of each test set (None where there are none)"
            )
        return wanted
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        if len(wanted) != sets:
            raise UsageError(
                f"a metric came as a list of {len(wanted)} Scores, and there are {sets} test sets;"
                " give one Scores (or None) for each"
            )
        return wanted[place]
    if not has_texts(testset):
        raise UsageError(
            f"test set {testset.name!r} holds no texts, so that metrics cannot score it; give score"
            " files alone, or a test set with texts"
        )
    return score(testset, wanted, allow_code=allow_code)


def _check_names(names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"two metrics are called {', '.join(twice)}; give them names of their own (NAME=FILE on"
            " the command line, {name: scores} in Python)"
        )


def kinds_of(outline: Outline, human: Sequence[str]) -> dict[str, str]:
    """The kind of human scores for each level, and of rankings.

    Raises:
        DataError: there are several kinds and none was named.
    """
    found = {}
    there = {
        "system": outline.human_kinds("system"),
        "segment": outline.human_kinds("segment"),
        "ranking": outline.rankings,
    }
    for level, kinds in there.items():
        fitting = [kind for kind in kinds if kind in human] if human else list(kinds)
        if level == "system" and len(fitting) > 1:
            # kinds that are there for systems as such come before means of segment scores
            own = {kind for kind, at in outline.human if at == "system"}
            fitting = [kind for kind in fitting if kind in own] or fitting
        if fitting:
            found[level] = only_kind(None, fitting, f"human {level} scores")
    return found


def _circular(
    title: str, scored: Iterable[tuple[str, Scores]], kinds: Mapping[str, str], *, allowed: bool
) -> Iterator[str]:
    """Metrics that people's scores went into, which these would judge too kindly."""
    for name, scores in scored:
        both = [kind for kind in dict.fromkeys(kinds.values()) if kind in scores.informed_by]
        others = [kind for kind in dict.fromkeys(kinds.values()) if kind not in both]
        if both and not allowed:
            raise circular(title, name, both)
        if both:
            why = _why(title, name, both).replace("would be", "is")
            yield f"CIRCULAR, as was allowed: {why}"
        elif scores.informed_by and others:
            yield (
                f"{title}: {name} was made with human scores ({', '.join(scores.informed_by)});"
                f" judging it by {', '.join(others)} is fair only if these are other judgements"
            )


def circular(title: str, name: str, kinds: Sequence[str]) -> UsageError:
    """A metric would be judged by human scores that went into it."""
    return UsageError(
        f"{_why(title, name, kinds)}; judge by other scores (--human), make the metric without"
        " them, or allow it (--allow-circular)"
    )


def _why(title: str, name: str, kinds: Sequence[str]) -> str:
    return (
        f"{title}: {name} was made with human scores ({', '.join(kinds)}), such as chose its pool"
        " of systems, and would be judged by them"
    )


def _systems(
    testset: TestSet, kinds: Mapping[str, str], scored: Iterable[Scores], *, keep: bool
) -> tuple[tuple[str, ...], list[str]]:
    judged = [h.systems for h in testset.human if h.kind in kinds.values()]
    ranked = [r.systems for r in testset.rankings if r.kind == kinds.get("ranking")]
    names = {*testset.systems, *(n for group in (*judged, *ranked) for n in group)}
    names |= {name for scores in scored for name in scores.systems}
    people = sorted(n for n in names if n in testset.info and testset.info[n].human)
    if keep or not people:
        return tuple(sorted(names)), []
    said = f"{title_of(testset)}: human translations are left out: {', '.join(people)}"
    return tuple(sorted(names - set(people))), [said]


def _human(
    testset: TestSet,
    kinds: Mapping[str, str],
    level: str,
    systems: Sequence[str],
    shape: tuple[int, ...],
) -> NDArray[np.float64]:
    if level not in kinds:
        return np.full(shape, np.nan)
    own = [h for h in testset.human if h.kind == kinds[level]]
    given = [h for h in own if h.level == level] or own  # system scores may be means of segments
    known = {name for h in given for name in h.systems}
    there = [name for name in systems if name in known or name in testset.systems]
    values = np.full(shape, np.nan)
    rows = [systems.index(name) for name in there]
    values[rows] = testset.human_scores(kinds[level], level, systems=there)
    return values


def _entry(name: str, scores: Scores, systems: Sequence[str], segments: int) -> JudgedMetric:
    if scores.segments.shape != (len(scores.systems), segments):
        raise LengthMismatchError(
            f"the scores of {name!r} have shape {scores.segments.shape}, and the test set has"
            f" {segments} segments; {len(scores.systems)} x {segments} is expected"
        )
    sign = 1.0 if scores.higher_is_better else -1.0
    index = {system: row for row, system in enumerate(scores.systems)}
    known = [place for place, system in enumerate(systems) if system in index]
    rows = [index[systems[place]] for place in known]
    system = np.full(len(systems), np.nan)
    cells = np.full((len(systems), segments), np.nan)
    system[known] = sign * np.asarray(scores.system, dtype=np.float64)[rows]
    cells[known] = sign * np.asarray(scores.segments, dtype=np.float64)[rows]
    return JudgedMetric(name, system, cells)


# What tie-aware figures are compared with: constants, chance, lengths.


PREFIX = "control: "


def control_entries(contest: Contest, *, seed: int) -> tuple[JudgedMetric, ...]:
    """Scores that know nothing of quality, for comparison with metrics.

    A constant; uniform random numbers; the length of the output and of the (first) reference in
    characters. Lengths are left out where there are no texts. System scores are means. Systems
    that no metric scored are left out.

    Args:
        contest: the test set.
        seed: seed of the random numbers, which depend on the system's name and not on its place.
    """
    shape = (len(contest.systems), contest.testset.segments)
    found = {"constant": np.zeros(shape), "random": _random(contest, seed)}
    if has_texts(contest.testset):
        found["candidate length"] = _candidate_lengths(contest)
        lengths = _reference_lengths(contest)
        if lengths is not None:
            found["reference length"] = np.tile(lengths, (shape[0], 1))
    outside = ~_scored(contest)
    for scores in found.values():
        scores[outside] = np.nan
    return tuple(
        JudgedMetric(PREFIX + name, _means(scores), scores, control=True)
        for name, scores in found.items()
    )


def _scored(contest: Contest) -> NDArray[np.bool_]:
    found = np.zeros(len(contest.systems), dtype=bool)
    for entry in contest.entries:
        found |= ~np.isnan(entry.system) | (~np.isnan(entry.segments)).any(axis=1)
    return found


def _random(contest: Contest, seed: int) -> NDArray[np.float64]:
    rows = []
    for system in contest.systems:
        own = int(content_hash(contest.name, system), 16)
        rows.append(np.random.default_rng([seed, own]).random(contest.testset.segments))
    return np.array(rows, dtype=np.float64).reshape(len(rows), contest.testset.segments)


def _candidate_lengths(contest: Contest) -> NDArray[np.float64]:
    texts = contest.testset.systems
    missing = [float("nan")] * contest.testset.segments
    rows = [[float(len(t)) for t in texts[s]] if s in texts else missing for s in contest.systems]
    return np.array(rows, dtype=np.float64).reshape(len(rows), contest.testset.segments)


def _reference_lengths(contest: Contest) -> NDArray[np.float64] | None:
    references = list(contest.testset.references.values())
    if not references:
        return None
    firsts = [
        next((t for t in each if t is not None), None) for each in zip(*references, strict=True)
    ]
    return np.array([np.nan if t is None else float(len(t)) for t in firsts])


def _means(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    known = (~np.isnan(scores)).sum(axis=1)
    return np.asarray(np.nansum(scores, axis=1) / np.where(known == 0, np.nan, known))
