"""Writing human judgements for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.doors import checked
from gnomon.errors import DataError, UnknownNameError
from gnomon.formats._esa import write_esa
from gnomon.formats._layout import write_ranking, write_scores
from gnomon.formats._lines import write_lines
from gnomon.formats._mqm import write_mqm
from gnomon.formats._mt_metrics_eval import human_lines, require_pair, write_ratings
from gnomon.formats._rankings import write_wmt_darr
from gnomon.formats._rows import form_of
from gnomon.human import HumanScores, only_kind

if TYPE_CHECKING:
    from os import PathLike

    from gnomon.testset import TestSet

WRITTEN = ("table", "mqm", "esa", "darr", "wmt-darr", "mt-metrics-eval", "ratings")
_SUFFIXES = {
    ".score": "mt-metrics-eval",
    ".rating": "ratings",
    ".jsonl": "esa",
    ".tsv": "table",
}


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
        format: "table" (system, seg, rater, score), "mqm", "esa", "darr" (seg, better, worse),
            "wmt-darr", "mt-metrics-eval" (a ``.score`` file, the mean over the raters) or
            "ratings"; by default the suffix tells (``.tsv`` table, ``.score``, ``.rating``,
            ``.jsonl`` ESA).
        level: "segment", "system", "document" or "domain", for table and mt-metrics-eval.

    Raises:
        UnknownNameError: the format, the suffix, the kind or the level is unknown.
        DataError: there is nothing of this kind, or the format cannot hold it.
        DataError: scores have no error spans, and the format holds nothing else.
        UsageError: the format needs a language pair that the test set lacks.
        OutputError: the file cannot be written.
    """
    form = format or form_of(path, _SUFFIXES, "suffix of a file of human judgements")
    if form not in WRITTEN:
        raise UnknownNameError("format to write human judgements in", form, WRITTEN)
    if form in ("darr", "wmt-darr"):
        ranking = testset.ranking(kind)
        if form == "darr":
            write_ranking(Path(path), ranking)
        else:
            write_wmt_darr(path, testset, ranking.kind, require_pair(testset))
    elif form in ("table", "mt-metrics-eval"):
        group = _scores(testset, kind, level)
        if form == "table":
            write_scores(Path(path), group)
        else:
            write_lines(path, human_lines(_together(group, testset), testset))
    else:
        there = dict.fromkeys([h.kind for h in testset.human if h.level == "segment"])
        there |= dict.fromkeys(error.kind for error in testset.errors)
        name = only_kind(kind, tuple(there), "segment scores or error spans")
        if form != "esa":
            _check_spans(testset, name, form)
        {"mqm": write_mqm, "esa": write_esa, "ratings": write_ratings}[form](path, testset, name)


def _check_spans(testset: TestSet, kind: str, form: str) -> None:
    """Refuse scores that the error spans do not account for: the format holds spans alone."""
    marked = {(e.system, e.segment) for e in testset.errors if e.kind == kind}
    lost = sum(
        value < 0 and (system, int(item)) not in marked
        for human in testset.human
        if (human.kind, human.level) == (kind, "segment")
        for system, row in zip(human.systems, human.values, strict=True)
        for item, value in enumerate(row.tolist())
    )
    if lost:
        raise DataError(
            f"format {form} holds error spans and no scores, and {lost} scores of {kind!r} below 0"
            " have no error span: they would be lost; write format 'table' or 'mt-metrics-eval'"
        )


def _scores(testset: TestSet, kind: str | None, level: str) -> list[HumanScores]:
    there = tuple(dict.fromkeys(h.kind for h in testset.human if h.level == level))
    name = only_kind(kind, there, f"human {level} scores")
    return [h for h in testset.human if (h.kind, h.level) == (name, level)]


def _together(group: list[HumanScores], testset: TestSet) -> HumanScores:
    whole = [human for human in group if human.rater is None]
    if whole or group[0].level != "segment":
        return (whole or group)[0]
    names = tuple(dict.fromkeys(name for human in group for name in human.systems))
    values = testset.human_scores(group[0].kind, "segment", systems=names)
    return HumanScores(group[0].kind, "segment", names, values)
