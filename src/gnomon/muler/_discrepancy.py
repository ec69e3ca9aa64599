"""Too few, equally many, too many: how often features occur on the two sides (figure 8).

No metric is needed, nor any system: a paraphrase may stand against its sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.findings import Finding
from gnomon.muler._annotated import annotated, facts_of, tagger_field
from gnomon.muler._checks import check_sides
from gnomon.muler._discrepancy_tables import PARTS, discrepancy_table, discrepancy_views
from gnomon.muler._presence import occurrences, presence
from gnomon.muler._significance import LEAST, SEED, Bootstrap
from gnomon.signature import Signature
from gnomon.slices import slices
from gnomon.stats.resampling import percentile_interval, resampled_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from gnomon.annotate import Annotation, Annotator, Labels
    from gnomon.batch import Batch
    from gnomon.cache import Cache
    from gnomon.findings import Cell
    from gnomon.slices import Slice
    from gnomon.testset import TestSet

__all__ = ["discrepancy"]


def discrepancy(
    testset: TestSet,
    features: Sequence[str] = ("pos:*", "ent:*"),
    *,
    tagger: str | Annotator | None = None,
    lexicons: Mapping[str, str | PathLike[str] | Sequence[str]] | None = None,
    patterns: Mapping[str, str] | None = None,
    labels: Labels | None = None,
    by: str | None = None,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    seed: int = SEED,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """In how many segments candidates have more, less, or equally much of a feature.

    add: the candidate has more than the reference; miss: less; hit: equally much, and some;
    neither: no side has any. Shares of all segments, averaged over the references of a segment.

    Args:
        testset: references and the texts to compare with them.
        features: names and wildcards, as for :func:`gnomon.muler.muler`.
        tagger: ``spacy:NAME`` or an annotator; by default one for the test set's target language.
        lexicons: word lists for ``lex:NAME``; ``lex:gender`` needs none.
        patterns: regular expressions for ``re:NAME``.
        labels: the user's own labels.
        by: slice by "document", "domain", "length" or a label of the test set.
        bootstrap: resamples of the segments for intervals; 0 for none.
        confidence: of the intervals, in (0, 1).
        seed: of the resamples.
        cache: where annotations are kept between runs; none by default.
        progress: called with a stage, what is done and the total.

    Returns:
        A finding whose rows hold ``system, feature, slice, segments, add, miss, hit, neither``,
        the ends of their intervals (``add_low, add_high``, ...), and ``per_reference,
        per_candidate``, how often the feature occurs per segment.

    Raises:
        UsageError: a feature or an option is malformed, or no tagger is named or found.
        UnknownNameError: a feature, tagger or slice does not exist.
        DataError: the test set has no references or no systems.
    """
    check_sides(testset.outline, "discrepancies are between candidates and references")
    draws = Bootstrap(bootstrap, confidence, seed)
    batch = testset.batch()
    annotation = annotated(
        batch, features, tagger, testset, lexicons, patterns, labels, cache, progress
    )
    rows = list(_rows(batch, annotation, slices(testset, by), draws))
    table = discrepancy_table(rows)
    return Finding(
        method="muler discrepancy",
        title="Discrepancy: too few, equally many, too many",
        tables=(table,),
        signatures={"discrepancy": _signature(annotation, testset, draws)},
        views=discrepancy_views(table),
        notices=annotation.notices,
        facts=facts_of(testset, annotation),
    )


def _rows(
    batch: Batch, annotation: Annotation, parts: Sequence[Slice], draws: Bootstrap
) -> Iterator[dict[str, Cell]]:
    counts = draws.draw(batch.shape[1])
    for number, feature in enumerate(annotation.spans.features):
        present = presence(batch, annotation.spans, number)
        shares = {name: getattr(present, name) for name in PARTS}
        often = occurrences(batch, annotation.spans, number)
        for part in parts:
            judged = ~np.isnan(present.add) & part.members
            ends = _ends(shares, judged, counts, draws.confidence)
            for k, system in enumerate(batch.systems):
                yield {
                    "system": system,
                    "feature": feature,
                    "slice": part.name,
                    "segments": int(judged[k].sum()),
                    **{name: _mean(shares[name][k], judged[k]) for name in PARTS},
                    **ends[k],
                    "per_reference": _mean(_per_reference(often, batch, k), judged[k]),
                    "per_candidate": _mean(often[batch.candidates[k]], judged[k]),
                }


def _ends(
    shares: Mapping[str, NDArray[np.float64]],
    judged: NDArray[np.bool_],
    counts: NDArray[np.uint8] | None,
    confidence: float,
) -> list[dict[str, float | None]]:
    """Per system, the ends of the interval of every share."""
    found: list[dict[str, float | None]] = [{} for _ in judged]
    enough = judged.sum(axis=1) >= LEAST
    sizes = None if counts is None else resampled_sums(judged.astype(np.float64), counts)
    for name, values in shares.items():
        low = high = np.full(len(judged), np.nan)
        if counts is not None and sizes is not None:
            sums = resampled_sums(np.where(judged, values, 0.0), counts)
            means = np.divide(sums, sizes, out=np.full(sums.shape, np.nan), where=sizes > 0)
            low, high = percentile_interval(means, confidence)
        for k, ends in enumerate(found):
            ends[f"{name}_low"] = _number(low[k]) if enough[k] else None
            ends[f"{name}_high"] = _number(high[k]) if enough[k] else None
    return found


def _per_reference(often: NDArray[np.intp], batch: Batch, k: int) -> NDArray[np.float64]:
    references = batch.references_of(k)
    width = np.diff(references.offsets)
    segment = np.repeat(np.arange(len(width)), width)
    total = np.bincount(segment, often[references.indices], minlength=len(width))
    return np.asarray(total / np.where(width > 0, width, np.nan), dtype=np.float64)


def _mean(values: NDArray[np.float64] | NDArray[np.intp], where: NDArray[np.bool_]) -> float | None:
    return float(values[where].mean()) if where.any() else None


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _signature(annotation: Annotation, testset: TestSet, draws: Bootstrap) -> str:
    fields = {"refs": len(testset.references), **tagger_field(annotation), **draws.fields()}
    return str(Signature("discrepancy").adding(fields))
