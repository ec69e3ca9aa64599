"""Which words were hard, for whom, and where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from gnomon.difficulty._agreement import subsets
from gnomon.difficulty._observed import Observed, observed
from gnomon.difficulty._omission import omission
from gnomon.difficulty._people import people
from gnomon.difficulty._requests import check_words
from gnomon.difficulty._setup import wrapped
from gnomon.difficulty._word_classes import word_classes
from gnomon.difficulty._word_exhibits import exhibits
from gnomon.difficulty._word_rows import (
    class_rows,
    distribution_rows,
    document_rows,
    hard,
    occurrence_rows,
    segment_rows,
    strip_rows,
    system_rows,
    type_rows,
)
from gnomon.difficulty._word_tables import words_finding
from gnomon.faults import refuse
from gnomon.metrics.scoring import signature_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from gnomon.cache import Cache
    from gnomon.difficulty._setup import Bound
    from gnomon.difficulty._word_rows import Row
    from gnomon.findings import Finding
    from gnomon.metrics import Metric
    from gnomon.metrics.protocol import BoundMetric
    from gnomon.testset import TestSet

__all__ = ["words"]

_LEAST_WORDS = 5  # of a segment that is shown where none was asked for


def words(
    testset: TestSet,
    metric: str | Metric = "bertscore",
    *,
    pool: str | tuple[str, ...] | None = None,
    pool_by: str | None = None,
    frozen: str | None = None,
    save: str | PathLike[str] | None = None,
    segments: Sequence[int] = (),
    min_count: int | None = None,
    human: str | None = None,
    top: str = "30%",
    examples: int = 0,
    occurrences: bool = False,
    omit: bool = False,
    tagger: str | None = None,
    seed: int = 12345,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    allow_code: bool = False,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """The hardest words of the references, who got them right, and how difficulties spread.

    Zhan et al. (2021), table 3 and figure 3. A word is a run of letters and digits, or a single
    sign; where the model sees it in several pieces its difficulty, and its similarity in an output,
    are the means of those of its pieces.

    Args:
        testset: the test set.
        metric: "difficulty(bertscore)", or a metric that is wrapped so.
        pool: "all", "top:6", "top:30%" or systems, as in :class:`Difficulty`.
        pool_by: what ranks systems for "top": a kind of human scores, or a metric.
        frozen: file of difficulties saved before, in place of a pool.
        save: file to write the difficulties to.
        segments: whose words are shown across systems, from 1; by default those of the hardest
            segment of at least five words.
        min_count: how often a word must occur to be listed; by default 5, or 1 where there are
            fewer than 100 segments.
        human: the kind of human scores that tells the best systems, whose difficulties stand beside
            those of the pool.
        top: how many these are: "30%" (rounded down) or a number.
        examples: segments to gather for a page, hardest first.
        occurrences: list every word of every reference too, in the table "occurrences".
        omit: the omission test, as in :func:`score`.
        tagger: word classes by ``spacy:NAME``, or "auto" for the one of the target language.
        seed: of the omission test and of resamples.
        bootstrap: resamples for its intervals; 0: none.
        confidence: share of resamples inside them.
        allow_code: let a spec ``python('module:function')`` run code.
        cache: where tags are kept.
        progress: called with a stage, what is done and the total.

    Returns:
        A finding with rows ``word, class, difficulty, count, segments, ...`` and tables "strips",
        "systems", "distribution", "segments", and as far as they apply "classes", "documents",
        "occurrences", "omission".

    Raises:
        UsageError: an option is out of its range, or there is no such segment.
        UnknownNameError: there is no such metric, system or kind of human scores.
        DataError: the test set lacks what the metric needs, or frozen difficulties do not fit.
        OutputError: the difficulties cannot be written.
    """
    refuse(
        check_words(
            testset.outline, metric, pool=pool, pool_by=pool_by, frozen=frozen, segments=segments,
            min_count=min_count, human=human, top=top, examples=examples, tagger=tagger,
            seed=seed, bootstrap=bootstrap, confidence=confidence, allow_code=allow_code,
        )
    )  # fmt: skip
    options = wrapped(metric, allow_code=allow_code, pool=pool, by=pool_by, frozen=frozen)
    bound = options.bind(testset)
    if save is not None:
        bound.save(save)
    batch = testset.batch()
    found = observed(bound, batch)
    if progress:
        progress("matching", 1, 1)
    least = (5 if testset.segments >= 100 else 1) if min_count is None else min_count
    classes, said = word_classes(found, testset, tagger, cache) if tagger else (None, "")
    pools, notices = _pools(testset, bound, human, top)
    names = list(batch.systems)
    by_segment = list(segment_rows(found, testset))
    tables: dict[str, list[Row]] = {
        "words": list(type_rows(found, least, classes)),
        "classes": [] if classes is None else list(class_rows(found, classes)),
        "occurrences": list(occurrence_rows(found, testset)) if occurrences else [],
        "strips": list(strip_rows(found, _chosen(segments, by_segment), testset, names)),
        "systems": list(system_rows(found, names)),
        "distribution": list(distribution_rows(found, pools)),
        "segments": by_segment,
        "documents": list(document_rows(found, testset)),
    }
    shown = exhibits(found, testset, by_segment[:examples], hard(found)[0]) if examples else ()
    told = bound.notices(batch)  # while the matches of all texts are remembered
    if omit:
        test = omission(
            testset, bound, tagger=tagger, seed=seed, bootstrap=bootstrap, confidence=confidence,
            cache=cache, found=found,
        )  # fmt: skip
        tables["omission"] = list(test.rows)
        notices += test.notices
        if progress:
            progress("omission test", 1, 1)
    signature = signature_of(cast("BoundMetric", bound), batch)
    notices = (*told, *_explained(found, least), *notices)
    return words_finding(testset, bound, signature, tables, notices, shown, said)


def _chosen(segments: Sequence[int], rows: Sequence[Row]) -> list[int]:
    if segments:
        return list(dict.fromkeys(segments))
    long = [row for row in rows if int(row["words"] or 0) >= _LEAST_WORDS] or rows
    return [int(row["segment"] or 0) for row in long[:1]]


def _pools(
    testset: TestSet, bound: Bound, human: str | None, top: str
) -> tuple[Mapping[str, list[int] | None], tuple[str, ...]]:
    """Whose difficulties are spread out: the pool's, all systems', the best systems'."""
    how = "difficulties from a file" if bound.pool is None else bound.pool.how
    pools: dict[str, list[int] | None] = {how: None}
    everyone = f"all {len(testset.systems)} systems"
    pools.setdefault(everyone, list(range(len(testset.systems))))
    # to choose the best systems is not to judge them
    judge, said = people(testset, human, (), allow_circular=True)
    if judge is None:
        return pools, tuple(
            notice.replace("agreement with people is", "the difficulties for the best systems are")
            for notice in said
        )
    chosen, notices = subsets(judge, top)
    for subset in chosen[1:]:
        pools.setdefault(f"{subset.name} by human {judge.kind}", subset.rows.tolist())
    return pools, notices


def _explained(found: Observed, least: int) -> tuple[str, ...]:
    several = int((found.words.pieces > 1).sum())
    edge = hard(found)[1]
    notices = []
    if several:
        notices.append(
            f"{several} of {len(found.words)} words are seen in several pieces: their figures are"
            " means over the pieces"
        )
    if np.isfinite(edge):
        notices.append(
            f"the hardest tenth are words of difficulty {edge:.3f} or more; what a system of the"
            " pool misses is the harder for it, which lowers its own figure for hard words"
        )
    if least > 1:
        notices.append(f"words that occur fewer than {least} times are not listed (--min-count)")
    return tuple(notices)
