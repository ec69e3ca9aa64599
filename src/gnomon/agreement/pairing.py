"""Scores of metrics and controls, paired with people's scores of the same systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import numpy as np

from gnomon import stats
from gnomon.core.errors import LengthMismatchError, UnknownNameError, UsageError
from gnomon.core.human import Judgements, mean, select_segments
from gnomon.core.options import SEED, Metavar, Reaches
from gnomon.core.scores import Scores, name_metric
from gnomon.core.signature import Signature, content_hash
from gnomon.core.slices import slices
from gnomon.core.validation import Problem, problems
from gnomon.messages import message
from gnomon.messages.audiences import flag
from gnomon.metrics import score
from gnomon.metrics.base import list_metrics
from gnomon.metrics.circularity import (
    circularity,
    counts_edits,
    has_post_edits,
    is_informed,
    metric_of_scores,
)
from gnomon.metrics.random_ import Random
from gnomon.metrics.registry import check_metric
from gnomon.metrics.spec import is_own_metric
from gnomon.stats.measures import mean_of_known

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from gnomon.core.human import RankedPairs, Ranking
    from gnomon.core.outline import Outline
    from gnomon.core.slices import Slice
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.base import AnyMetric

#: one for all test sets, or the scores of each (None: it has none there)
Wanted: TypeAlias = "AnyMetric | Sequence[Scores | None]"
#: one metric or several, some by name
Judged: TypeAlias = Annotated[
    "Wanted | Sequence[Wanted] | Mapping[str, Wanted] | None",
    Metavar("METRIC"),
    Reaches(of_text="gnomon.metrics.registry:reaches_of_spec"),
]


class CorpusStatistics(NamedTuple):
    """Sums of a metric over segments, and the systems of a task that they are of."""

    statistics: NDArray[np.float64]  # [systems that it scored, N, S]
    aggregate: Callable[[NDArray[np.float64]], NDArray[np.float64]]  # scores [...] of sums [..., S]
    sign: float  # -1 for error rates, else 1
    places: Sequence[int]  # of the systems that it scored, in the task
    rows: Sequence[int]  # of the same systems, in the statistics
    systems: int  # how many the task has

    def score_segments(self, members: NDArray[np.bool_]) -> NDArray[np.float64]:
        """System scores of some segments (bool [N]): [K]."""
        return self._place_in_task(
            self.aggregate(self.statistics[self.rows][:, members].sum(axis=1))
        )

    def resampled(self, counts: NDArray[np.uint8]) -> NDArray[np.float64]:
        """System scores in every resample of the segments [B, K]."""
        scores = stats.resampled_scores(self.statistics[self.rows], counts, self.aggregate)
        return self._place_in_task(scores)

    def _place_in_task(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        of_task = np.full((*scores.shape[:-1], self.systems), np.nan)
        of_task[..., self.places] = self.sign * scores
        return of_task


@dataclass(frozen=True)
class JudgedMetric:
    """The scores of one metric, higher is better; NaN is missing."""

    metric: str  # its name
    system: NDArray[np.float64]  # system scores [K]
    segments: NDArray[np.float64]  # segment scores [K, N]
    control: bool = False  # whether it is no metric but something to compare metrics with
    # why people's scores cannot judge it, see :mod:`gnomon.metrics.circularity`
    circular: str | None = None
    # aggregate of segments; None: system scores are means of segment scores
    corpus: CorpusStatistics | None = None
    directed: bool = False  # whether it is known which way its scores point

    def select(self, members: NDArray[np.bool_]) -> JudgedMetric:
        """The same on some segments, bool [N]."""
        cells = self.segments[:, members]
        system = (
            mean_of_known(cells) if self.corpus is None else self.corpus.score_segments(members)
        )
        return replace(self, system=system, segments=cells, corpus=None)

    def resampled(self, counts: NDArray[np.uint8]) -> NDArray[np.float64] | None:
        """System scores in every resample of the segments [B, K]; None: segments do not say."""
        if self.corpus is not None:
            return self.corpus.resampled(counts)
        return stats.resampled_scores(self.segments, counts) if self.is_mean else None

    @property
    def is_mean(self) -> bool:
        """True if its system scores are means of its segment scores, as far as these are there."""
        means = mean_of_known(self.segments)
        return bool(np.allclose(means, self.system, rtol=1e-6, equal_nan=True))


@dataclass(frozen=True)
class Pairing:
    """Metrics against one kind of judgements on one test set, or on a slice of it.

    Systems are sorted by name.
    """

    testset: TestSet  # the test set
    name: str  # what to call it in notices
    pair: str  # its language pair, or its name if it has none
    label: str  # what tables call it
    systems: tuple[str, ...]  # all systems that people or metrics scored, sorted [K]
    kind: str | None  # the kind of judgements; None: there are none
    # it, by level ("system", "segment", "ranking"); a level that it does not have is missing
    kinds: Mapping[str, str]
    system: NDArray[np.float64]  # people's system scores [K], NaN where there are none
    segments: NDArray[np.float64]  # people's segment scores [K, N]
    ranking: Ranking | None  # relative rankings
    entries: tuple[JudgedMetric, ...]  # the metrics, in the order given
    # functions that make their scores again, by metric
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    controls: tuple[JudgedMetric, ...] = ()  # what stands beside figures that judge ties
    documents: tuple[str, ...] | None = None  # the document of each segment; None: nobody knows
    slice: str | None = None  # name of the slice; None: all segments
    notices: tuple[Message, ...] = ()  # what a reader should know

    @property
    def title(self) -> str:
        """Title of the test set in tables, in full."""
        return title_of(self.testset)

    @property
    def judged(self) -> int:
        """Number of systems that people judged in any way."""
        judged = ~np.isnan(self.system) | (~np.isnan(self.segments)).any(axis=1)
        ranked = () if self.ranking is None else self.ranking.systems
        judged |= np.array([name in ranked for name in self.systems], dtype=bool)
        return int(judged.sum())

    @property
    def ranked(self) -> RankedPairs | None:
        """The rankings as indices."""
        return None if self.ranking is None else self.ranking.pairs(self.systems)


def metric_faults(
    outline: Outline | None, metrics: object, *, allow_code: bool, pairs: bool = False
) -> Iterator[Problem]:
    """Specs that name no metric, or one that cannot score a test set.

    ``pairs``: nor compare two outputs.
    """
    for number, metric in enumerate(list_metrics(metrics)):
        if isinstance(metric, str):
            where = f"metrics[{number}]"
            checked = partial(check_metric, allow_code=allow_code, pairs=pairs)
            yield from problems(where, checked, metric, outline)


def split_metric_names(
    metrics: Wanted | Sequence[Wanted] | Mapping[str, Wanted],
) -> list[tuple[str | None, Wanted]]:
    """Metrics under the names they are to have; None: their own."""
    if isinstance(metrics, Mapping):
        return list(metrics.items())
    return [(None, metric) for metric in list_metrics(metrics)]


class PairingRequest(NamedTuple):
    """Options of the pairing, beside the test sets and the metrics."""

    human: Sequence[str] = ()  # kinds of human scores and rankings; empty: all that there are
    by: str | None = None  # slices, see :func:`gnomon.core.slices.slices`
    human_systems: bool = False  # whether human translations are judged among the systems
    # systems that were references, and are judged in any case
    reference_systems: Collection[str] = ()
    controls: bool = True  # whether controls stand beside figures that judge ties
    seed: int = SEED  # of random controls
    allow_code: bool = False  # let a spec `python('module:function')` run code
    allow_circular: bool = False  # judge metrics by human scores that went into them
    tick: Callable[[str, int, int], None] | None = None  # progress


def pairings(
    testsets: Sequence[TestSet],
    metrics: Sequence[tuple[str | None, Wanted]],
    request: PairingRequest,
) -> Iterator[Pairing]:
    """Metrics against each kind of judgements of each test set, and against each on every slice."""
    names = labels_of(testsets)
    for number, testset in enumerate(testsets):
        scored = _scored_by(testset, number, len(testsets), metrics, request)
        kinds = kinds_of(testset.outline, request.human)
        judges = _list_kinds(kinds)
        allowed = request.allow_circular
        seen = tuple(_circular(title_of(testset), scored, judges, allowed=allowed))
        whole = [
            _pairing(testset, names[number], levels, scored, seen, request)
            for levels in kinds or [{}]
        ]
        yield from whole
        for slice_ in slices(testset, request.by)[1:]:
            yield from (_select_slice(pairing, slice_, request.by) for pairing in whole)


def _scored_by(
    testset: TestSet,
    place: int,
    sets: int,
    metrics: Sequence[tuple[str | None, Wanted]],
    request: PairingRequest,
) -> list[tuple[str, Scores]]:
    scored: list[tuple[str, Scores]] = []
    for done, (name, wanted) in enumerate(metrics, start=1):
        scores = _scores(testset, wanted, place, sets, allow_code=request.allow_code)
        if scores is not None:
            scored.append((name or scores.metric, scores))
        if request.tick:
            request.tick(f"scoring {testset.name}", done, len(metrics))
    _check_names([name for name, _ in scored])
    return scored


def _score_notices(testset: TestSet, scored: Sequence[tuple[str, Scores]]) -> Iterator[Message]:
    """Messages of metrics on their scores; those on the test set itself stand elsewhere."""
    for name, scores in scored:
        said = (notice for notice in scores.notices if notice not in testset.anomalies)
        yield from (name_metric(name, notice) for notice in said)


def _pairing(
    testset: TestSet,
    label: str,
    kinds: Mapping[str, str],
    scored: Sequence[tuple[str, Scores]],
    seen: tuple[Message, ...],
    request: PairingRequest,
) -> Pairing:
    """One kind of judgements of a test set; all in the order of the systems."""
    systems, left_out = _systems(testset, kinds, [s for _, s in scored], request)
    shape = (len(systems), testset.segments)
    title = title_of(testset)
    several = len(kinds_of(testset.outline, request.human)) > 1
    kind = next(iter(kinds.values()), None)
    made = Pairing(
        testset=testset,
        name=f"{title} ({kind})" if several else title,
        pair=testset.language_pair or testset.name,
        label=label,
        systems=systems,
        kind=kind,
        kinds=kinds,
        system=_human(testset, kinds, "system", systems, shape[:1]),
        segments=_human(testset, kinds, "segment", systems, shape),
        ranking=testset.ranking(kinds["ranking"]) if "ranking" in kinds else None,
        entries=(),
        signatures={name: s.signature for name, s in scored},
        documents=None if testset.documents is None else tuple(testset.documents),
        notices=(*left_out, *seen, *_score_notices(testset, scored)),
    )
    entries = _entries(made, scored)
    made = replace(made, entries=tuple(entries))
    if not request.controls:
        return made
    return replace(made, controls=control_entries(made, seed=request.seed))


def _entries(made: Pairing, scored: Sequence[tuple[str, Scores]]) -> Iterator[JudgedMetric]:
    """The scores of each metric, and whether people's can judge them."""
    kinds = dict.fromkeys(made.kinds.values())
    edits = counts_edits(made.testset, kinds, made.systems, made.segments)
    post_edits = has_post_edits(made.testset)
    for name, scores in scored:
        entry = _entry(name, scores, made.systems, made.testset.segments)
        known = metric_of_scores(scores)
        why = circularity(
            scores,
            kinds,
            pairs=((made.segments, entry.segments), (made.system, entry.system)),
            edits=edits,
            post_edits=post_edits,
        )
        yield replace(
            entry,
            circular=why,
            control=isinstance(known, Random),
            directed=known is not None or is_own_metric(scores.signature.spec),
        )


def _select_slice(pairing: Pairing, part: Slice, by: str | None) -> Pairing:
    """Select some of the segments of a pairing; people's system scores are means over them."""
    members = part.members
    kinds = {level: kind for level, kind in pairing.kinds.items() if level != "system"}
    segments = pairing.segments[:, members]
    system = mean(segments, axis=1)
    if "segment" not in kinds:
        system = _domain_scores(pairing, part, by)
    if not np.isnan(system).all():
        kinds["system"] = pairing.kinds["system"]
    ranking = pairing.ranking
    if ranking is not None:
        chosen = np.flatnonzero(members).tolist()
        (ranking,) = select_segments(Judgements(rankings=(ranking,)), chosen).rankings
    return replace(
        pairing,
        name=f"{pairing.name}, {part.name}",
        kinds=kinds,
        system=system,
        segments=segments,
        ranking=ranking,
        entries=tuple(entry.select(members) for entry in pairing.entries),
        controls=tuple(entry.select(members) for entry in pairing.controls),
        documents=None
        if pairing.documents is None
        else tuple(
            document for document, kept in zip(pairing.documents, members, strict=True) if kept
        ),
        slice=part.name,
        notices=(),
    )


def _domain_scores(pairing: Pairing, part: Slice, by: str | None) -> NDArray[np.float64]:
    """People's scores of whole domains; NaN where there are none of this one."""
    for scores in pairing.testset.human:
        fitting = scores.level == "domain" and scores.kind == pairing.kinds.get("system")
        if fitting and by == "domain" and scores.rater is None and part.name in scores.items:
            column: NDArray[np.float64] = scores.aligned(pairing.systems)[
                :, scores.items.index(part.name)
            ]
            return column
    return np.full(len(pairing.systems), np.nan)


def labels_of(testsets: Sequence[TestSet]) -> list[str]:
    """Labels of test sets in tables: the language pair, if that tells the set apart."""
    named = [(testset.language_pair or testset.name, title_of(testset)) for testset in testsets]
    pairs, names = (Counter(column) for column in zip(*named, strict=True)) if named else ({}, {})
    return [
        pair if pairs[pair] == 1 else name if names[name] == 1 else f"{name} ({number})"
        for number, (pair, name) in enumerate(named, start=1)
    ]


def has_texts(testset: TestSet) -> bool:
    """True if any output has a text; there are none where scores alone were given."""
    return any(any(texts) for texts in testset.systems.values())


def title_of(testset: TestSet | Outline) -> str:
    """Title of a test set: its name, and its language pair where that does not say it."""
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


def kinds_of(outline: Outline, human: Sequence[str]) -> list[dict[str, str]]:
    """The kinds of judgements that metrics are compared with: level -> the kind, of each.

    Levels are "system", "segment" and "ranking"; without names, all kinds that there are.
    """
    there = {
        "system": outline.human_kinds("system"),
        "segment": outline.human_kinds("segment"),
        "ranking": outline.rankings,
    }
    every = dict.fromkeys(kind for kinds in there.values() for kind in kinds)
    return [
        {level: kind for level, kinds in there.items() if kind in kinds}
        for kind in every
        if not human or kind in human
    ]


def check_kinds(outlines: Sequence[Outline], kinds: Sequence[str]) -> None:
    """Refuse kinds of human scores and rankings that no test set has."""
    there = dict.fromkeys(
        kind for outline in outlines for kind in (*outline.human_kinds(), *outline.rankings)
    )
    for kind in kinds:
        if kind not in there:
            raise UnknownNameError("kind of human scores", kind, tuple(there))


def _list_kinds(kinds: Iterable[Mapping[str, str]]) -> list[str]:
    return [kind for levels in kinds for kind in dict.fromkeys(levels.values())]


def _circular(
    title: str,
    scored: Iterable[tuple[str, Scores]],
    kinds: Sequence[str],
    *,
    allowed: bool,
) -> Iterator[Message]:
    """Metrics that people's scores went into, which these would judge too kindly."""
    for name, scores in scored:
        both = [kind for kind in kinds if is_informed(scores, kind)]
        others = [kind for kind in kinds if kind not in both]
        if both and not allowed:
            raise circular(title, name, both)
        if both:
            yield message("note.metaeval.allowed", set=title, metric=name, kinds=both)
        elif scores.informed_by and others:
            yield message(
                "note.metaeval.informed",
                set=title,
                metric=name,
                informed=scores.informed_by,
                kinds=others,
            )


def circular(title: str, name: str, kinds: Sequence[str]) -> UsageError:
    """A metric would be judged by human scores that went into it."""
    return UsageError(
        f"{title}: {name} was made with human scores ({', '.join(kinds)}), such as chose its pool"
        " of systems, and would be judged by them; judge by other scores (",
        flag("human"),
        "), make the metric without them, or allow it (",
        flag("allow_circular"),
        ")",
    )


def _systems(
    testset: TestSet, kinds: Mapping[str, str], scored: Iterable[Scores], request: PairingRequest
) -> tuple[tuple[str, ...], list[Message]]:
    judged = [h.systems for h in testset.human if h.kind in kinds.values()]
    ranked = [r.systems for r in testset.rankings if r.kind == kinds.get("ranking")]
    names = {*testset.systems, *(n for group in (*judged, *ranked) for n in group)}
    names |= {name for scores in scored for name in scores.systems}
    human = {name for name, info in testset.info.items() if info.human}
    people = sorted(names & human - set(request.reference_systems))
    if request.human_systems or not people:
        return tuple(sorted(names)), []
    left = message("note.metaeval.people_left_out", set=title_of(testset), systems=people)
    return tuple(sorted(names - set(people))), [left]


def _human(
    testset: TestSet,
    kinds: Mapping[str, str],
    level: str,
    systems: Sequence[str],
    shape: tuple[int, ...],
) -> NDArray[np.float64]:
    if level not in kinds:
        return np.full(shape, np.nan)
    of_kind = [h for h in testset.human if h.kind == kinds[level]]
    # system scores may be means of segments
    given = [h for h in of_kind if h.level == level] or of_kind
    judged = {name for h in given for name in h.systems}
    there = [name for name in systems if name in judged or name in testset.systems]
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
    scored = [number for number, system in enumerate(systems) if system in index]
    rows = [index[systems[number]] for number in scored]
    system = np.full(len(systems), np.nan)
    cells = np.full((len(systems), segments), np.nan)
    system[scored] = sign * np.asarray(scores.system, dtype=np.float64)[rows]
    cells[scored] = sign * np.asarray(scores.segments, dtype=np.float64)[rows]
    return JudgedMetric(
        name,
        system,
        cells,
        corpus=None
        if scores.statistics is None or scores.aggregate is None
        else CorpusStatistics(
            scores.statistics, scores.aggregate, sign, scored, rows, len(systems)
        ),
    )


# Controls of tie-aware figures: constants, chance, lengths.


PREFIX = "control: "
RANDOM = PREFIX + "random"


def control_entries(pairing: Pairing, *, seed: int) -> tuple[JudgedMetric, ...]:
    """Scores that know nothing of quality, for comparison with metrics.

    A constant; uniform random numbers; the length of the output and of the (first) reference in
    characters. Lengths are left out where there are no texts. System scores are means. Systems
    that no metric scored are left out.
    """
    shape = (len(pairing.systems), pairing.testset.segments)
    controls = {"constant": np.zeros(shape), "random": _random(pairing, seed)}
    if has_texts(pairing.testset):
        texts = pairing.testset.systems
        missing = [float("nan")] * pairing.testset.segments
        rows = [
            [float(len(t)) for t in texts[s]] if s in texts else missing for s in pairing.systems
        ]
        controls["candidate length"] = np.array(rows, dtype=np.float64).reshape(
            len(rows), pairing.testset.segments
        )
        lengths = _reference_lengths(pairing)
        if lengths is not None:
            controls["reference length"] = np.tile(lengths, (shape[0], 1))
    outside = ~_find_scored(pairing)
    for scores in controls.values():
        scores[outside] = np.nan
    return tuple(
        JudgedMetric(PREFIX + name, mean_of_known(scores), scores, control=True)
        for name, scores in controls.items()
    )


def _find_scored(pairing: Pairing) -> NDArray[np.bool_]:
    scored = np.zeros(len(pairing.systems), dtype=bool)
    for entry in pairing.entries:
        scored |= ~np.isnan(entry.system) | (~np.isnan(entry.segments)).any(axis=1)
    return scored


def _random(pairing: Pairing, seed: int) -> NDArray[np.float64]:
    rows = []
    for system in pairing.systems:
        of_system = int(content_hash(pairing.title, system), 16)
        rows.append(np.random.default_rng([seed, of_system]).random(pairing.testset.segments))
    return np.array(rows, dtype=np.float64).reshape(len(rows), pairing.testset.segments)


def _reference_lengths(pairing: Pairing) -> NDArray[np.float64] | None:
    references = list(pairing.testset.references.values())
    if not references:
        return None
    firsts = [
        next((t for t in each if t is not None), None) for each in zip(*references, strict=True)
    ]
    return np.array([np.nan if t is None else float(len(t)) for t in firsts])
