"""What both methods take: options that they share, and what is wrong with a request."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING, Annotated, TypeAlias

from gnomon.agreement.judging import best_count
from gnomon.core.errors import GnomonError, UnknownNameError, UsageError
from gnomon.core.options import Group, Help, InputFile, Metavar, OutputFile
from gnomon.core.validation import Problem, problems
from gnomon.data.formats import Human, human_files
from gnomon.linguistics import Annotator, feature_faults, tagger_faults
from gnomon.methods.difficulty.pools import RANKING, check_pool
from gnomon.methods.difficulty.reference_words import no_words
from gnomon.methods.difficulty.sides import wrapped
from gnomon.metrics.protocol import Metrics, each_metric
from gnomon.metrics.registry import check_metric, check_once

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.methods.difficulty.metric import Difficulty
    from gnomon.metrics.protocol import AnyMetric

_POOL = Group("difficulties")
_PEOPLE = Group("what people said")
_OMISSION = Group("omission test")

PoolOfSystems: TypeAlias = Annotated[
    "str | Sequence[str] | None",
    Metavar("POOL"),
    _POOL,
    Help(
        'systems whose misses make words hard: "all", "top:6", "top:30%" or names; all by default.'
    ),
]
PoolBy: TypeAlias = Annotated[
    str | None,
    Metavar("KIND|METRIC"),
    RANKING,
    _POOL,
    Help('what ranks systems for "top": a kind of human scores, or a metric such as bleu.'),
]
SavedDifficulties: TypeAlias = Annotated[
    OutputFile, Help("file to write the difficulties to, for ``frozen``.")
]
LeaveOneOut: TypeAlias = Annotated[bool, _POOL]
Frozen: TypeAlias = Annotated[
    "str | PathLike[str] | None",
    Metavar("FILE"),
    InputFile(),
    _POOL,
    Help("file of difficulties saved before, in place of a pool."),
]
Judges: TypeAlias = Annotated[Human, _PEOPLE]
Top: TypeAlias = Annotated[str, Metavar("K"), _PEOPLE]
Omission: TypeAlias = Annotated[
    bool,
    _OMISSION,
    Help(
        "the omission test: one content word per segment is deleted, and the drop of base and"
        " weighted score is given by how hard the word was."
    ),
]


def pool_of(pool: PoolOfSystems) -> str | tuple[str, ...] | None:
    """A rule ("all", "top:6"), or the names of systems; a rule may be the only item of a list."""
    if pool is None or isinstance(pool, str):
        return pool
    rules = [name for name in pool if name == "all" or name.startswith("top:")]
    if rules and len(pool) > 1:
        raise UsageError(f"pool takes all, top:K, or names of systems; got {' '.join(pool)}")
    return rules[0] if rules else tuple(pool)


def weighted(
    metric: AnyMetric,
    *,
    pool: PoolOfSystems = None,
    pool_by: str | None = None,
    leave_one_out: bool = False,
    frozen: str | PathLike[str] | None = None,
    allow_code: bool = False,
) -> Difficulty:
    """A metric under difficulty with the options of a request."""
    return wrapped(
        metric,  # type: ignore[arg-type]  # what is none is refused
        allow_code=allow_code,
        pool=pool_of(pool),
        by=pool_by,
        leave_one_out=leave_one_out,
        frozen=None if frozen is None else fspath(frozen),
    )


def check_score(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.difficulty.score` refuses of options that fit each alone."""
    yield from _shared_faults(outline, options, leave_one_out=options.leave_one_out)


def check_words(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.difficulty.words` refuses of options that fit each alone."""
    yield from _of_tagger(outline, options.tagger)
    yield from _without_words(options.metrics, allow_code=options.allow_code)
    yield from problems("top", best_count, options.top, 0)
    kinds = human_files(options.human)[1]  # those of files are not known yet
    for number, kind in enumerate(kinds):
        option = f"human[{number}]" if isinstance(options.human, list | tuple) else "human"
        if outline is not None:
            yield from problems(option, _check_kind, outline, kind)
    yield from _shared_faults(outline, options)
    if outline is not None:
        for position, number in enumerate(options.segments or ()):
            yield from problems(f"segments[{position}]", _check_segment, outline, number)


def _without_words(metrics: Metrics, *, allow_code: bool) -> Iterator[Problem]:
    """Metrics that weigh no words, where words are asked for."""
    for number, metric in enumerate(each_metric(metrics)):
        option = f"metrics[{number}]" if isinstance(metrics, list | tuple) else "metrics"
        yield from problems(option, _check_tells_words, metric, allow_code=allow_code)


def _check_tells_words(metric: AnyMetric, *, allow_code: bool) -> None:
    try:
        weighted_metric = wrapped(metric, allow_code=allow_code)  # type: ignore[arg-type]  # what is none is refused elsewhere
    except GnomonError:
        return  # reported by the other checks
    if not weighted_metric.weighs_words:
        raise UsageError(no_words(weighted_metric.spec))


def _of_tagger(outline: Outline | None, tagger: str | Annotator | None) -> Iterator[Problem]:
    """The tagger of word classes: one by name, or that of the language."""
    if tagger == "auto":
        language_known = outline is not None
        language = None if outline is None else outline.target_language
        yield from feature_faults(["pos:*"], language=language, known=language_known)
    elif isinstance(tagger, str):
        yield from tagger_faults("tagger", tagger)


def _shared_faults(
    outline: Outline | None,
    options: BoundOptions,
    *,
    leave_one_out: bool = False,
) -> Iterator[Problem]:
    """Metrics and their pool."""
    wrong = list(problems("pool", _check_pool, options.pool))
    yield from wrong
    yield from problems("metrics", check_once, options.metrics, allow_code=options.allow_code)
    every = each_metric(options.metrics)
    if len(every) > 1 and (options.frozen or options.save):
        reason = "difficulties in a file are those of one metric; name one"
        yield Problem("frozen" if options.frozen else "save", UsageError(reason))
    for number, metric in enumerate(every):
        argument = f"metrics[{number}]" if isinstance(options.metrics, list | tuple) else "metrics"
        unfit = list(
            problems(argument, _check_words, metric, outline, allow_code=options.allow_code)
        )
        yield from unfit
        if unfit or wrong:
            continue
        try:
            weighted_metric = weighted(
                metric,
                pool=options.pool,
                pool_by=options.pool_by,
                leave_one_out=leave_one_out,
                frozen=options.frozen,
                allow_code=options.allow_code,
            )
        except UsageError as error:
            yield Problem("", error)
            continue
        if outline is not None:
            option = "frozen" if options.frozen else "pool"
            yield from problems(option, weighted_metric.check_pool, outline)


def _check_pool(pool: PoolOfSystems) -> None:
    rule = pool_of(pool)
    if rule is not None:
        check_pool(rule)


def _check_words(metric: AnyMetric, outline: Outline | None, *, allow_code: bool) -> None:
    check_metric(metric, outline, allow_code=allow_code)  # type: ignore[arg-type]  # what is none is refused
    wrapped(metric, allow_code=allow_code).check_metric(outline)  # type: ignore[arg-type]  # likewise


def _check_kind(outline: Outline, kind: str) -> None:
    kinds = outline.human_kinds("system")
    if kind not in kinds:
        raise UnknownNameError("kind of human system scores", kind, kinds)


def _check_segment(outline: Outline, number: int) -> None:
    if not 1 <= number <= outline.segments:
        raise UsageError(
            f"there is no segment {number}; {outline.name!r} has segments 1 to {outline.segments}"
        )
