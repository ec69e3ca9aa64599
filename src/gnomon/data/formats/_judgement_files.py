"""Human judgements of a test set: reading any format, writing those of other tools."""

from __future__ import annotations

import os
import re
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np

from gnomon.core.errors import FormatError, UsageError
from gnomon.core.lazy import checked
from gnomon.core.options import Help, InputFile, Metavar
from gnomon.core.spans import Span
from gnomon.data.formats._files import LOGGER, STANDARD_INPUT
from gnomon.data.formats._judged_file import JudgedFile, JudgementOptions, say_coverage
from gnomon.data.formats._lines import shown
from gnomon.data.formats._registry import (
    JudgementFormat,
    format_of_name,
    formats_of,
)
from gnomon.data.formats.error_marks import SpanEnds, ends_of_spans
from gnomon.data.formats.rows import first_line_of, form_of
from gnomon.messages.audiences import Named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.core.human import Judgements
    from gnomon.core.testset import TestSet

#: kinds of human scores, or files of them, some as KIND=FILE; none: all kinds that there are
Human: TypeAlias = Annotated[
    "str | PathLike[str] | Sequence[str | PathLike[str]]",
    Metavar("KIND|FILE"),
    InputFile(sure=False),
    Help("kinds of human scores, or files of them; by default all that there are."),
]
#: what tells a file of human scores from a kind of them, which may have points: mqm.super.1
_SUFFIXES = (
    ".tsv", ".csv", ".txt", ".json", ".jsonl", ".parquet", ".score", ".rating", ".gz"
)  # fmt: skip
_PAIR = "[a-z]{2,3}(_[A-Za-z]+)?-[a-z]{2,3}(_[A-Za-z]+)?"
_TABLE = re.compile(rf"{_PAIR}\.(?P<kind>.+)\.(sys|seg)\.tsv(\.gz)?")


def human_files(human: Human) -> tuple[list[str], list[str]]:
    """Files of human scores, and kinds of them, of what names either."""
    given = [human] if isinstance(human, str | PathLike) else list(human)
    files = [fspath(name) for name in given if not isinstance(name, str) or _is_file(name)]
    return files, [name for name in given if isinstance(name, str) and name not in files]


def _is_file(text: str) -> bool:
    path = split_name(text)[1]
    # a text that is too long for a file is none, and no error
    there = os.path.isfile(path)  # noqa: PTH113
    return "=" in text or "/" in text or there or path.endswith(_SUFFIXES)


def split_name(text: str) -> tuple[str | None, str]:
    """``NAME=FILE`` in its parts; a file of that very name comes first."""
    name, equals, path = text.partition("=")
    there = os.path.exists(text)  # noqa: PTH110  # a text that is too long for a file is none
    return (name, path) if equals and name and not there else (None, text)


def kind_in_name(path: str) -> str | None:
    """KIND of a file called PAIR.KIND.LEVEL.tsv."""
    match = _TABLE.fullmatch(Path(path).name)
    return match["kind"] if match else None


@checked
def add_judgements(testset: TestSet, human: Human) -> tuple[TestSet, tuple[str, ...]]:
    """A test set with the human scores of files, and the kinds that were named.

    Args:
        testset: whose outputs were judged.
        human: kinds, and files of any format that :func:`read_human` knows.

    Returns:
        The test set, and the kinds, those of the files included; none were named: no kinds.

    Raises:
        GnomonError: whatever is wrong in a file.
    """
    files, kinds = human_files(human)
    kinds_named = dict.fromkeys(kinds)
    for file in files:
        kind, path = split_name(file)
        judgements = read_human(path, testset, kind=kind or kind_in_name(path))
        testset = testset.with_human(judgements)
        kinds_named |= dict.fromkeys(scores.kind for scores in judgements.scores)
    return testset, tuple(kinds_named)


@checked
def read_human(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know from every command
    kind: str | None = None,
    rename: Mapping[str, str] | None = None,
    weights: Mapping[str, float] | None = None,
    language_pair: str | None = None,
    first_segment: int | None = None,
    ends: SpanEnds | None = None,
) -> Judgements:
    """Read what people said of a test set, from a file of any known format.

    Judged systems without a text are kept, and that is said with a warning; systems that nobody
    judged are named at the level INFO; segments that nobody judged are NaN. Scores are oriented so
    that higher is better.

    Args:
        path: the file (``.gz`` allowed).
        testset: whose outputs were judged.
        format: a name that ``gnomon list formats`` shows; by default the file's suffix or its
            first line tells.
        kind: what to call the judgements ("mqm"); direct assessments become ``KIND-raw`` and
            ``KIND-z``.
        rename: name of a system in the file -> name in the test set.
        weights: changes to :data:`gnomon.formats.MQM_WEIGHTS` (formats mqm, ratings).
        language_pair: which pair, where the file holds several; the test set's by default.
        first_segment: the number of the first segment, 0 or 1, if it is not the format's own.
        ends: what the ends of error spans are, if not what they are in the format: the "last"
            character, or the one "behind". A warning says so where spans look like the other one.

    Returns:
        Scores (the mean over all raters with ``rater=None``, and each rater who is named),
        rankings, and error spans in half-open code points of the test set's texts.

    Raises:
        MissingFileError: the file is missing.
        FormatError: its format is not recognised, a line is not what the format asks for or holds
            a score beyond its scale (file and line are named), or there is no judgement at all.
        DataError: no system of the file is in the test set.
        UnknownNameError: the format is unknown, or the file lacks the language pair.
        UsageError: an option does not belong to the format.
    """
    if str(path) == STANDARD_INPUT:
        raise UsageError("human judgements are not read from standard input; save them to a file")
    form = (
        format_of_name(JudgementFormat, format, "format of human judgements")
        if format
        else recognised_judgements(path)
    )
    if first_segment not in (None, 0, 1):
        raise UsageError(f"first_segment is {first_segment!r}; 0, 1 or None is expected")
    options = {
        "kind": kind,
        "rename": rename,
        "weights": weights,
        "language_pair": language_pair,
        "first_segment": first_segment,
        "ends": ends,
    }
    options_of_format = [name for name in options if name in form.options]
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in options_of_format:
            raise UsageError(
                f"{name} does not belong to the format {form.name}; its options are:"
                f" {', '.join(options_of_format)}"
            )
    judgements: Judgements = form.read(
        JudgedFile(path, testset, JudgementOptions(**{**form.defaults, **given}))
    )
    rows = [*(s.systems for s in judgements.scores), *(r.rows for r in judgements.rankings)]
    if not any((*rows, judgements.errors, judgements.looked_at)):
        raise FormatError("holds no judgements", path=path)
    _doubt_direction(shown(path), judgements)
    _doubt_ends(shown(path), judgements, testset, mendable="ends" in form.options)
    say_coverage(shown(path), judgements.scores)
    return judgements


def judged_segments(path: str | PathLike[str]) -> frozenset[int]:
    """The numbers (from 1) of the segments that a file judges, as far as it tells them by itself.

    None for scores of whole systems, for files that number segments otherwise, and for files whose
    format nothing tells.
    """
    try:
        form = recognised_judgements(path)
    except FormatError:
        return frozenset()
    return frozenset() if form.segments is None else form.segments(fspath(path))


def recognised_judgements(path: str | PathLike[str]) -> JudgementFormat:
    """The format of a file of judgements, by its name and its first line.

    Raises:
        FormatError: nothing tells; the formats are listed.
    """
    head = first_line_of(path)
    for form in formats_of(JudgementFormat):
        if form.recognise is not None and form.recognise(head):
            return form
    there = (form for form in formats_of(JudgementFormat) if form.is_read)
    listed = "; ".join(f"{form.name}: {form.title}" for form in there)
    raise FormatError(
        f"is of no known format of human judgements; its first line is {head.first_line[:80]!r}."
        " Name the format if you know it (",
        Named("--human-format of gnomon metaeval", "format=... in Python"),
        f"). There are: {listed}",
        path=path,
    )


def _doubt_ends(path: str, judgements: Judgements, testset: TestSet, *, mendable: bool) -> None:
    texts = {"candidate": testset.systems, "source": {"": testset.sources or ()}}
    spans = []
    for error in judgements.errors:
        outputs = texts[error.side].get(error.system if error.side == "candidate" else "")
        if outputs:
            spans.append((Span(error.start, error.end), outputs[error.segment]))
    if doubt := ends_of_spans(spans).doubt:
        LOGGER.warning("%s: %s%s", path, doubt, "" if mendable else "; correct the file if so")


def _doubt_direction(path: str, judgements: Judgements) -> None:
    for scores in judgements.scores:
        values = scores.values[np.isfinite(scores.values)]
        penalties = bool(np.all(values >= 0) and np.any(values > 0))
        if penalties and scores.kind.startswith("mqm") and scores.rater is None:
            LOGGER.warning(
                "%s: the scores %r at %s level are all positive and look like penalties; higher"
                " must be better: turn their sign if they are",
                path,
                scores.kind,
                scores.level,
            )


@checked
def write_human(
    path: str | PathLike[str],
    testset: TestSet,
    kind: str | None = None,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know from every command
    level: str = "segment",
) -> None:
    """Write the human judgements of one kind.

    Args:
        path: the file.
        testset: the test set that has them.
        kind: which; may be left out where there is only one.
        format: "table" (system, seg, rater, score), "spans", "mt-metrics-eval" (a ``.score``
            file, the mean over the raters) or "gnomon" (a file of its layout); by default the
            suffix tells (``.tsv`` table, ``.score``, ``.jsonl`` spans).
        level: "segment", "system", "document" or "domain", for table, mt-metrics-eval and gnomon;
            for the latter "spans", too.

    Raises:
        UnknownNameError: the format, the suffix, the kind or the level is unknown.
        DataError: there is nothing of this kind, or the format cannot hold it.
        OutputError: the file cannot be written.
    """
    suffixes = {f.suffix: f.name for f in formats_of(JudgementFormat) if f.suffix is not None}
    name = format or form_of(path, suffixes, "suffix of a file of human judgements")
    form = format_of_name(
        JudgementFormat, name, "format to write human judgements in", written=True
    )
    form.write(path, testset, kind, level)
