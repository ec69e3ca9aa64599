"""The front door to human judgements of any format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gnomon.doors import checked
from gnomon.errors import FormatError, UnknownNameError, UsageError
from gnomon.formats import _direct_assessment, _esa, _mqm, _mt_metrics_eval, _rankings
from gnomon.formats._files import LOGGER, STANDARD_INPUT
from gnomon.formats._human_formats import HUMAN_FORMATS, detect
from gnomon.formats._judgements import SystemNames, say_coverage
from gnomon.formats._layout import LEVELS, is_human_file, read_one
from gnomon.formats._lines import shown
from gnomon.formats._mt_metrics_eval import read_blocks
from gnomon.formats._score_table import read_score_table
from gnomon.human import HumanScores, Judgements

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    from gnomon.testset import TestSet


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
) -> Judgements:
    """Read what people said of a test set, from a file of any known format.

    Judged systems without a text are kept, and that is said with a warning; systems that nobody
    judged are named at the level INFO; segments that nobody judged are NaN. Scores are oriented so
    that higher is better.

    Args:
        path: the file (``.gz`` allowed).
        testset: whose outputs were judged.
        format: a name in :data:`gnomon.formats.HUMAN_FORMATS`; by default the file's suffix or
            first line tells.
        kind: what to call the judgements ("mqm"); direct assessments become ``KIND-raw`` and
            ``KIND-z``.
        rename: name of a system in the file -> name in the test set.
        weights: changes to :data:`gnomon.formats.MQM_WEIGHTS` (formats mqm, ratings).
        language_pair: which pair, where the file holds several; the test set's by default.
        first_segment: the number of the first segment, 0 or 1, if it is not the format's own.

    Returns:
        Scores (the mean over all raters with ``rater=None``, and each rater who is named),
        rankings, and error spans in half-open code points of the test set's texts.

    Raises:
        MissingFileError: the file is missing.
        FormatError: its format cannot be told, a line is not what the format asks for or holds a
            score beyond its scale (file and line are named), or there is no judgement at all.
        DataError: no system of the file is in the test set.
        UnknownNameError: the format is unknown, or the file lacks the language pair.
        UsageError: an option does not belong to the format.
    """
    if str(path) == STANDARD_INPUT:
        raise UsageError("human judgements are not read from standard input; save them to a file")
    form = format or detect(path)
    if form not in HUMAN_FORMATS:
        raise UnknownNameError("format of human judgements", form, HUMAN_FORMATS)
    if first_segment not in (None, 0, 1):
        raise UsageError(f"first_segment is {first_segment!r}; 0, 1 or None is expected")
    options = {
        "kind": kind,
        "rename": rename,
        "weights": weights,
        "language_pair": language_pair,
        "first_segment": first_segment,
    }
    read, known = _READERS[form]
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in known:
            raise UsageError(
                f"{name} does not belong to the format {form}; its options are: {', '.join(known)}"
            )
    found = read(path, testset, **given)
    held = [*(s.systems for s in found.scores), *(r.rows for r in found.rankings), found.errors]
    if not any(held):
        raise FormatError("holds no judgements", path=path)
    _doubt_direction(shown(path), found)
    say_coverage(shown(path), found.scores)
    return found


def _doubt_direction(path: str, found: Judgements) -> None:
    for scores in found.scores:
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


def _read_score_file(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    kind: str | None = None,
    rename: Mapping[str, str] | None = None,
) -> Judgements:
    file = Path(path)
    parts = file.name.removesuffix(".gz").removesuffix(".score").split(".")
    if len(parts) < 2 or parts[-1] not in LEVELS:
        raise FormatError(
            "the name does not tell the level; LP.NAME.LEVEL.score with one of the levels"
            f" {', '.join(LEVELS)} is expected",
            path=file,
        )
    level = LEVELS[parts[-1]]
    name = ".".join(parts[1:-1] if len(parts) > 2 and "-" in parts[0] else parts[:-1])
    documents = tuple(dict.fromkeys(testset.documents or ()))
    if level == "document" and not documents:
        raise FormatError("is of documents, but the test set has none", path=file)
    count = {"segment": testset.segments, "document": len(documents)}.get(level, 1)
    domains, blocks = read_blocks(file, level, count, human=kind or name)
    names = SystemNames(testset, rename)
    rows = {names.of(system): values for system, values in blocks.items()}
    names.report(shown(path))
    systems = names.order(rows)
    items = domains if level == "domain" else documents if level == "document" else ()
    values = np.array([rows[system] for system in systems], dtype=np.float64)
    width = len(items) if items else count
    table = values.reshape(len(systems), width)
    return Judgements((HumanScores(kind or name, level, systems, table, items),))


def _read_table(
    path: str | PathLike[str],
    testset: TestSet,
    *,
    kind: str | None = None,
    rename: Mapping[str, str] | None = None,
    first_segment: int = 1,
) -> Judgements:
    stem, _, level = Path(path).name.removesuffix(".gz").removesuffix(".tsv").rpartition(".")
    if kind is None and stem and level in ("sys", "seg"):
        kind = stem
    return read_score_table(path, testset, kind=kind, rename=rename, first_segment=first_segment)


def _read_own(
    path: str | PathLike[str], testset: TestSet, *, kind: str | None = None
) -> Judgements:
    if not is_human_file(Path(path).name):
        raise FormatError("a file of gnomon's layout is called KIND.LEVEL.tsv", path=path)
    return read_one(Path(path), testset, kind)


_BASIC = ("kind", "rename")
_READERS: dict[str, tuple[Callable[..., Judgements], tuple[str, ...]]] = {
    "mqm": (_mqm.read_mqm, (*_BASIC, "weights", "first_segment")),
    "table": (_read_table, (*_BASIC, "first_segment")),
    "wmt-da": (_direct_assessment.read_hits, (*_BASIC, "language_pair", "first_segment")),
    "wmt-da-seg": (
        _direct_assessment.read_segment_means,
        (*_BASIC, "language_pair", "first_segment"),
    ),
    "wmt-da-sys": (_direct_assessment.read_system_means, (*_BASIC, "language_pair")),
    "appraise": (_direct_assessment.read_appraise, (*_BASIC, "language_pair", "first_segment")),
    "pearmut": (_esa.read_pearmut, _BASIC),
    "esa": (_esa.read_esa, (*_BASIC, "language_pair", "first_segment")),
    "wmt-humeval": (_esa.read_humeval, (*_BASIC, "language_pair")),
    "darr": (_rankings.read_darr, (*_BASIC, "language_pair", "first_segment")),
    "rr": (_rankings.read_rr, (*_BASIC, "language_pair", "first_segment")),
    "mt-metrics-eval": (_read_score_file, _BASIC),
    "ratings": (_mt_metrics_eval.read_ratings, (*_BASIC, "weights")),
    "ratings-json": (_mt_metrics_eval.read_standalone, (*_BASIC, "weights", "first_segment")),
    "gnomon": (_read_own, ("kind",)),
}
