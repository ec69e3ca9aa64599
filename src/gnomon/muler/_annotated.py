"""The texts of a batch with the features of both sides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gnomon.annotate import annotate

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from os import PathLike

    from gnomon.annotate import Annotation, Annotator, Labels
    from gnomon.batch import Batch
    from gnomon.cache import Cache
    from gnomon.testset import TestSet

__all__ = ["annotated", "facts_of", "tagger_field"]


def annotated(
    batch: Batch,
    features: Sequence[str],
    tagger: str | Annotator | None,
    testset: TestSet,
    lexicons: Mapping[str, str | PathLike[str] | Sequence[str]] | None,
    patterns: Mapping[str, str] | None,
    labels: Labels | None,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
) -> Annotation:
    """Annotate references and candidates (not sources), with spans over all texts of the batch."""
    columns = [batch.candidates.ravel(), batch.references.indices]
    columns += [own.indices for own in batch.system_references.values()]
    used = np.unique(np.concatenate(columns))
    annotation = annotate(
        [batch.texts[i] for i in used],
        features,
        tagger=tagger,
        language=testset.target_language,
        lexicons=lexicons,
        patterns=patterns,
        labels=labels,
        cache=cache,
        progress=progress,
    )
    spans = annotation.spans
    moved = replace(spans, texts=len(batch.texts), text=used[spans.text].astype(np.int32))
    if progress:
        progress("tagging", annotation.tagged + annotation.cached, len(batch.texts))
    return replace(annotation, spans=moved)


def tagger_field(annotation: Annotation) -> dict[str, object]:
    """The field of a signature that names the taggers; none without a tagger."""
    return {"tagger": "+".join(annotation.taggers)} if annotation.taggers else {}


def facts_of(
    testset: TestSet, annotation: Annotation, metrics: Collection[str] = ()
) -> dict[str, str]:
    """What was looked at, for the head of a report."""
    facts = {
        "test set": testset.name,
        "language pair": testset.language_pair or "not given",
        "segments": str(testset.segments),
        "systems": str(len(testset.systems)),
        "references": ", ".join(testset.references),
    }
    if metrics:
        facts["metrics"] = ", ".join(metrics)
    facts["features"] = str(len(annotation.spans.features))
    if annotation.taggers:
        facts["tagger"] = ", ".join(annotation.taggers)
    return facts
