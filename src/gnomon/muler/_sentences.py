"""Sentence scorers: what candidates change of sentiment, concreteness, ... of their references."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from gnomon.annotate.scorers import Sentences, SentenceScores, reader_for
from gnomon.errors import UsageError
from gnomon.faults import refuse
from gnomon.findings import Finding
from gnomon.muler._checks import check_examples, check_sides
from gnomon.muler._requests import check_sentences
from gnomon.muler._sentence_exhibits import sentence_exhibits
from gnomon.muler._sentence_names import AnyScorer, scorers_of
from gnomon.muler._sentence_scores import differences, sentence_figures
from gnomon.muler._sentence_tables import sentence_row, sentence_table, sentence_views
from gnomon.muler._significance import SEED, Bootstrap
from gnomon.muler._slices import drawn_slices
from gnomon.signature import version
from gnomon.slices import slices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.annotate import Annotator
    from gnomon.annotate.scorers import Reader, SentenceScorer
    from gnomon.batch import Batch
    from gnomon.cache import Cache
    from gnomon.findings import Cell, Exhibit, Table, View
    from gnomon.muler._sentence_scores import Differences
    from gnomon.slices import Slice
    from gnomon.testset import TestSet

__all__ = ["AnyScorer", "SentencePart", "sentence_part", "sentences"]

_FEW = 0.5  # coverage below which a reader is told


@dataclass(frozen=True)
class SentencePart:
    """What sentence scorers add to a finding.

    Attributes:
        table: the records.
        views: how they may be looked at.
        signatures: how to make them again, by the scorers' labels.
        notices: what a reader should know.
        exhibits: segments that systems change most.
    """

    table: Table
    views: tuple[View, ...]
    signatures: Mapping[str, str]
    notices: tuple[str, ...] = ()
    exhibits: tuple[Exhibit, ...] = ()

    def added_to(self, finding: Finding) -> Finding:
        """A finding with this part behind its own.

        Raises:
            UsageError: a scorer has the name of something that the finding has a signature for.
        """
        both = [label for label in self.signatures if label in finding.signatures]
        if both:
            raise UsageError(
                f"{both[0]!r} names a metric and a sentence scorer; give the scorer another name"
            )
        return replace(
            finding,
            tables=(*finding.tables, self.table),
            views=(*finding.views, *self.views),
            signatures={**finding.signatures, **self.signatures},
            notices=(*finding.notices, *self.notices),
            exhibits=(*finding.exhibits, *self.exhibits),
            facts={**finding.facts, "sentence scorers": ", ".join(self.signatures)},
        )


@dataclass
class _Gathered:
    rows: list[dict[str, Cell]] = field(default_factory=list)
    signatures: dict[str, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    exhibits: list[Exhibit] = field(default_factory=list)


def sentences(
    testset: TestSet,
    scorers: Sequence[AnyScorer] = ("sentiment", "concreteness"),
    *,
    tagger: str | Annotator | None = None,
    by: str | None = None,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    seed: int = SEED,
    examples: int = 3,
    allow_code: bool = False,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """How far candidates lie from their references in sentiment, concreteness, ... (Karidi et al.).

    s(R, C) = mean over segments of score(reference) - score(candidate), and the mean absolute
    difference. Several references of a segment count with their mean. A segment counts where both
    sides can be scored.

    Args:
        testset: references and the outputs of one or more systems.
        scorers: names (``sentiment``, ``concreteness``, ``valence=FILE``), scorers or functions of
            a sentence, see :func:`gnomon.annotate.scorers.scorer`.
        tagger: gives parts of speech and base forms; by default the standard one of the test set's
            target language if it is installed, else words are reduced by English rules.
        by: slice by "document", "domain", "length" or a label of the test set.
        bootstrap: resamples of the segments for intervals; 0 for none.
        confidence: of the intervals, in (0, 1).
        seed: of the resamples.
        examples: segments shown per scorer and system; 0 for none.
        allow_code: let a scorer ``NAME=python('module:function')`` import and run the module.
        cache: where tags are kept between runs; none by default.
        progress: called with a stage, what is done and the total.

    Returns:
        A finding whose rows hold ``scorer, source, system, slice, n, signed, low, high, absolute,
        absolute_low, absolute_high, coverage, words_known, mean_reference, mean_candidate``;
        ``None`` where undefined.

    Raises:
        UsageError: a scorer lacks its file or is named twice, or an option is out of range.
        UnknownNameError: a scorer, tagger or slice does not exist.
        MissingDependencyError: the package of a scorer is not installed.
        FormatError: a lexicon is malformed; file and line are named.
        DataError: the test set has no references or no systems.
    """
    refuse(
        check_sentences(
            testset.outline, scorers, tagger=tagger, by=by, bootstrap=bootstrap,
            confidence=confidence, seed=seed, examples=examples, allow_code=allow_code,
        )
    )  # fmt: skip
    draws = Bootstrap(bootstrap, confidence, seed)
    chosen = scorers_of(scorers, allow_code=allow_code)
    batch = testset.batch()
    part = sentence_part(
        testset, batch, chosen, slices(testset, by), draws, tagger, examples, cache, progress
    )
    return Finding(
        method="muler sentences",
        title="Sentence scorers: what candidates change of their references",
        tables=(part.table,),
        signatures=part.signatures,
        views=part.views,
        exhibits=part.exhibits,
        notices=part.notices,
        facts=_facts(testset, list(chosen)),
    )


def sentence_part(
    testset: TestSet,
    batch: Batch,
    scorers: Mapping[str, SentenceScorer],
    parts: Sequence[Slice],
    draws: Bootstrap,
    tagger: str | Annotator | None,
    examples: int,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
) -> SentencePart:
    """Tables and views of some scorers, for a finding of their own or for another's.

    Args:
        testset: names documents and domains.
        batch: its texts.
        scorers: by label, see :func:`scorers_of`.
        parts: slices; the first is all segments.
        draws: how uncertainty is estimated.
        tagger: as for :func:`sentences`.
        examples: segments shown per scorer and system.
        cache: where tags are kept.
        progress: called with a stage, what is done and the total.

    Raises:
        DataError: the test set has no references or no systems.
    """
    check_sides(testset.outline, "sentence scorers compare with references")
    check_examples(examples)
    used = _used(batch)
    reader = reader_for(tagger, testset.target_language, cache=cache, progress=progress)
    texts = Sentences(tuple(batch.texts[i] for i in used), reader)
    counts = draws.draw(batch.shape[1])
    gathered = _Gathered()
    for done, (label, one) in enumerate(scorers.items(), start=1):
        scores = _spread(one.score(texts), used, len(batch.texts))
        found = differences(scores, batch)
        _gather(gathered, found, label, one, batch, parts, counts, draws.confidence)
        gathered.signatures[label] = _signature(one, texts, testset, draws)
        if examples:
            gathered.exhibits += sentence_exhibits(found, scores, label, testset, batch, examples)
        if progress:
            progress("scoring sentences", done, len(scorers))
    return _part(gathered, list(scorers), parts, texts)


def _used(batch: Batch) -> NDArray[np.int32]:
    """Texts that are a candidate or a reference (sources are not scored)."""
    columns = [batch.candidates.ravel(), batch.references.indices]
    columns += [own.indices for own in batch.system_references.values()]
    return np.unique(np.concatenate(columns))


def _spread(scores: SentenceScores, used: NDArray[np.int32], texts: int) -> SentenceScores:
    """Scores of the texts used, in places of all texts of the batch."""
    values = np.full(texts, np.nan)
    values[used] = scores.values
    if scores.known is None or scores.words is None:
        return SentenceScores(values)
    known, words = np.zeros(texts, dtype=np.int64), np.zeros(texts, dtype=np.int64)
    known[used], words[used] = scores.known, scores.words
    return SentenceScores(values, known, words)


def _gather(
    gathered: _Gathered,
    found: Differences,
    label: str,
    one: SentenceScorer,
    batch: Batch,
    parts: Sequence[Slice],
    counts: NDArray[np.uint8] | None,
    confidence: float,
) -> None:
    for part in parts:
        figures = sentence_figures(found, part.members, counts, confidence)
        rows = [
            sentence_row(each, scorer=label, source=one.source, system=system, part=part.name)
            for system, each in zip(batch.systems, figures, strict=True)
        ]
        gathered.rows += rows
        covered = [each.coverage for each in figures if each.coverage is not None]
        if part.name is None and covered and min(covered) < _FEW:
            gathered.notices.append(
                f"{label}: only {_shares(covered)} of the segments have a known word on both sides"
            )


def _shares(values: Sequence[float]) -> str:
    low, high = (f"{100 * value:.0f} %" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _signature(one: SentenceScorer, texts: Sentences, testset: TestSet, draws: Bootstrap) -> str:
    fields = [one.signature, "method:sentences", f"refs:{len(testset.references)}"]
    if "words" in vars(texts):  # read by this scorer or one before it
        fields.append(f"words:{texts.reader.signature.replace(':', '=')}")
    fields += [f"{name}:{value}" for name, value in draws.fields().items()]
    return "|".join([*fields, f"gnomon:{version()}"])


def _part(
    gathered: _Gathered, labels: Sequence[str], parts: Sequence[Slice], texts: Sentences
) -> SentencePart:
    table = sentence_table(gathered.rows)
    notices = [*gathered.notices, *_said_of(texts)]
    return SentencePart(
        table=table,
        views=sentence_views(table, labels, [part.name for part in drawn_slices(parts)]),
        signatures=gathered.signatures,
        notices=tuple(notices),
        exhibits=tuple(gathered.exhibits),
    )


def _said_of(texts: Sentences) -> list[str]:
    reader: Reader = texts.reader
    said = {
        "rules": "no tagger: words were reduced to base forms by rules for English",
        "none": "no tagger: words were looked up as they stand",
    }
    return [said[reader.signature]] if "words" in vars(texts) and reader.signature in said else []


def _facts(testset: TestSet, scorers: Sequence[str]) -> dict[str, str]:
    return {
        "test set": testset.name,
        "language pair": testset.language_pair or "not given",
        "segments": str(testset.segments),
        "systems": str(len(testset.systems)),
        "references": ", ".join(testset.references),
        "scorers": ", ".join(scorers),
    }
