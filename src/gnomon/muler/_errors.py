"""Words that contain errors, as marked by people, metrics and judges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np

from gnomon.core.errors import DataError
from gnomon.core.findings import Finding
from gnomon.core.gates import GateCase
from gnomon.core.human import marked_kinds
from gnomon.core.options import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    Confidence,
    Count,
    Group,
    Limits,
    Metavar,
    Resamples,
    Seed,
    Unit,
    expand_fields,
)
from gnomon.core.registry import method
from gnomon.core.run_settings import Run
from gnomon.core.scripts import is_unspaced
from gnomon.core.testset import TestSet
from gnomon.linguistics import Features, FeatureSources
from gnomon.metrics.error_marks import (
    ErrorMarks,
    MarkedSide,
    Marking,
    Marks,
    PeoplesMarks,
    has_marks,
    list_marks,
    read_every_mark,
    read_people_marks,
)
from gnomon.muler._error_rates import CHARACTERS, WORDS, major_errors
from gnomon.muler._error_rows import COUNTS, DIFFERENCES, ROWS
from gnomon.muler._error_tables import ErrorTables
from gnomon.muler._errors_verdict import errors_verdict
from gnomon.muler._setup import WordChoice
from gnomon.muler.errors_checks import (
    check_errors_by_feature,
    language_of,
)
from gnomon.muler.uncertainty import Bootstrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.data.formats import Human

#: a number of major errors at which a gate closes
MajorErrors: TypeAlias = Annotated[int | None, Limits(1), Metavar("N")]

_EXAMPLES = """\
examples:
  gnomon errors -t wmt24/en-cs --human esa
  gnomon errors -t wmt21/zh-en --human mqm --marks xcomet.json --features 'pos:*' 'ent:*'
  gnomon errors ref.txt -i main.txt -s src.txt --marks judge.jsonl --fail-if-major 3   # for CI

exit code 3: --fail-if-major found a system with so many major errors or more
"""


@method(
    "errors",
    purpose="count the errors that people or metrics marked, by kinds of words",
    title="Errors by linguistic feature",
    unread=("paraphrases",),
    examples=_EXAMPLES,
    tables={
        "": "error_rates",
        DIFFERENCES: "error_rate_differences",
        COUNTS: "error_counts",
    },
    rows=ROWS,
    human=True,
    judged=has_marks,
    tagged=True,
    usual={"examples": 0},
    for_pages={"examples": ""},
    verdict=errors_verdict,
    check=check_errors_by_feature,
)
@expand_fields(sources=FeatureSources, run=Run)
def errors(
    testset: TestSet,
    features: Features = None,
    *,
    human: PeoplesMarks = (),
    marks: Marks = (),
    side: MarkedSide = "candidate",
    sources: FeatureSources,
    fail_if_major: MajorErrors = None,
    examples: Annotated[Count, Group("output")] = 3,
    resamples: Resamples = RESAMPLES,
    confidence: Confidence = CONFIDENCE,
    unit: Unit = "auto",
    seed: Seed = SEED,
    run: Run,
) -> Finding:
    """Errors on each linguistic feature, per hundred of its occurrences.

    Each word of a feature (a noun, the words of a name, a number) is an occurrence, and is hit by
    every error that shares a character with it, in the outputs that somebody checked. Where spaces
    do not part words (Chinese, Japanese), each character of a feature is one. Rates are told per
    system and severity, beside that of all words, and systems are compared feature by feature.

    Args:
        testset: outputs in which errors were marked.
        features: names and wildcards, as for :func:`gnomon.muler`; by default parts of speech
            and entities, or the form of words where no tagger of the language is installed.
        tagger: ``spacy:NAME`` or another tagger; by default one for the language of the side.
        fail_if_major: the number of major errors from which a system fails, by any who marked;
            where one does, the command line ends with exit code 3.
        examples: outputs shown for each who marked errors, those with the gravest first.
        unit: the independent unit: "segment", "document" (left out one at a time, in place of
            resamples), or "auto": documents for people's marks where they are known, because one
            person marks a whole document; segments for metrics and judges.

    Returns:
        A finding whose rows hold ``marks, by, system, feature, severity, occurrences, hits, rate,
        relative, p_words, decided``; tables ``differences`` (pairs of systems) and ``counts`` (by
        severity and category). ``None`` where undefined.

    Raises:
        DataError: nobody marked errors, or there are several kinds and none was named.
        UnknownNameError: a kind, file, feature or tagger does not exist.
        UsageError: a feature or an option is malformed.
    """
    draws = Bootstrap(resamples, confidence, seed)
    testset, every = _marks(testset, human, marks, side, allow_code=run.allow_code)
    language = language_of(testset, side)
    words = WordChoice.create(sources, features)
    counted = CHARACTERS if is_unspaced(language) else WORDS
    tables = ErrorTables(testset, every, draws, unit, side, counted)
    batch = testset.batch()
    side_texts = batch.candidates if side == "candidate" else batch.sources
    assert side_texts is not None  # noqa: S101  # refused before
    numbers = np.unique(side_texts).astype(np.intp)
    annotation = words.annotated(batch, language, run.cache, run.progress, numbers=numbers)
    tables.tally(annotation)
    tables.notices += annotation.notices
    finding = tables.finding(examples)
    if fail_if_major is None:
        return finding
    return replace(finding, gate=_gate(testset, every, fail_if_major))


def _marks(
    testset: TestSet, human: Human, marks: Marks, side: str, *, allow_code: bool
) -> tuple[TestSet, list[ErrorMarks]]:
    people = None
    if human or marked_kinds(testset) or not list_marks(marks):
        testset, people = read_people_marks(testset, human, side)
    every = read_every_mark(testset, people, marks, Marking(side, allow_code=allow_code))
    all_marks = every if people is None else [people, *every]
    if not any(mark.judged.any() for mark in all_marks):
        raise DataError(f"no output of test set {testset.name!r} was checked for errors")
    return testset, all_marks


def _gate(testset: TestSet, every: Sequence[ErrorMarks], allowed: int) -> tuple[GateCase, ...]:
    """Decide whether systems have as many major errors, by each of the marks."""
    return tuple(
        GateCase(
            name,
            marks.name,
            "failed",
            f"{name} has {count:g} major errors by {marks.name} ({allowed} fail)",
        )
        if count >= allowed
        else GateCase(name, marks.name)
        for marks in every
        for name, count in major_errors(marks, list(testset.systems)).items()
    )
