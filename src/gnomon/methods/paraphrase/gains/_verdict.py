"""What paraphrases bring, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gnomon import stats
from gnomon.core.verdicts import (
    CUT,
    LEAST,
    Claim,
    counted,
    cut_texts,
    listed,
    p_value,
    titles_of,
)
from gnomon.methods.paraphrase.gains._tables import GainRow, SegmentGainRow
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding, Statement

_ALPHA = 0.05
#: correlations over so many systems or fewer say little
_FEW_SYSTEMS = 4
_IN_FULL = 3
#: the share of segments without what is compared that is said, at least
_MISSING = 0.01
#: the share of paraphrases that are outputs of judged systems that allow no claim of a gain
_OWN_OUTPUTS = 0.5

R = TypeVar("R", GainRow, SegmentGainRow)

_AGREES = Claim(
    "paraphrase.gain.agrees",
    "With {paraphrases} {metric} agrees {more} with people, by {size} ({facts})",
    None,
    "the interval of the gain in Pearson's r, and Williams's test over systems, two-sided, Holm's"
    " over metrics and methods",
)
_AGREES_ALIKE = Claim(
    "paraphrase.gain.agrees_alike",
    "The data cannot tell whether {metric} agrees {more} with people with {paraphrases}, by {size}"
    " ({facts})",
    "undecided",
    "the interval holds 0, or Williams's test shows no difference",
)
_BY_SEGMENT = Claim(
    "paraphrase.gain.by_segment",
    "Segment by segment {metric} agrees {more} with people with {paraphrases}, by {size} ({facts})",
    None,
    "the interval of the gain over documents, or over segments where these are unknown, and its p,"
    " Holm's over metrics and methods",
)
_BY_SEGMENT_ALIKE = Claim(
    "paraphrase.gain.by_segment_alike",
    "The data cannot tell whether {metric} agrees {more} with people segment by segment with"
    " {paraphrases}, by {size} ({facts})",
    "undecided",
    "the interval holds 0, or p shows no difference, or there are too few documents for either",
)
_NO_PARAPHRASE = Claim(
    "paraphrase.gain.missing",
    "{missing}; these are scored with their references alone",
    "caution",
    "more than 1 in 100 segments have no paraphrase",
)
_OUTPUTS = Claim(
    "paraphrase.gain.own_output",
    "{share} of the paraphrases of {method} are outputs of systems that are judged with them, whose"
    " scores rise by that alone; no gain is claimed for these",
    "caution",
    "half or more of the paraphrases are the outputs of judged systems for their segments",
)
_EDITS = Claim(
    "paraphrase.gain.circular",
    "people's scores of {sets} count edits of the references, or the references are edited outputs;"
    " agreement with them says nothing of a metric, and none is reported",
    "caution",
    "the scores are called so or are those of TER, or the references are called post-edits",
)
_FEW_JUDGED = Claim(
    "paraphrase.gain.few_systems",
    "people judged too few systems for agreement over them to say anything ({of})",
    "caution",
    "the number of judged systems, four at most",
)
_FEW_SEGMENTS = Claim(
    "paraphrase.gain.few_segments",
    "fewer than 30 segments have a paraphrase ({of}), too few to be read as a finding",
    "caution",
    "the number of segments with a paraphrase",
)
GAIN_CLAIMS = (
    *(_AGREES, _AGREES_ALIKE, _BY_SEGMENT, _BY_SEGMENT_ALIKE),
    *(_NO_PARAPHRASE, _OUTPUTS, _EDITS, _FEW_JUDGED, _FEW_SEGMENTS, CUT),
)


# Gains


def gain_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether paraphrases made metrics agree better with people, over systems and segments.

    Of each metric and method the largest number of paraphrases speaks; p-values are Holm's.
    """
    rows = _largest(finding.records(GainRow))
    yield from _left_out(finding, rows)
    unclaimed = [row for row in rows if row.outputs >= _OWN_OUTPUTS or row.edits]
    claimed = [row for row in rows if row.gain is not None and row not in unclaimed]
    few = [row for row in claimed if row.n <= _FEW_SYSTEMS]
    bare = [row for row in claimed if row.segments < LEAST]
    sound = [row for row in claimed if row not in few and row not in bare]
    p = stats.holm([np.nan if row.p is None else 2 * min(row.p, 1 - row.p) for row in sound])
    statements = [
        _gained(finding, row, float(q), several=len(sound) > 1)
        for row, q in zip(sound, p, strict=True)
    ]
    yield from sorted(statements, key=lambda one: one.level == "undecided")
    yield from _over_segments(finding, [*bare, *unclaimed])
    if few:
        yield _FEW_JUDGED.said(finding.positions(few), of=_heads(few))
    if bare:
        yield _FEW_SEGMENTS.said(finding.positions(bare), of=_heads(bare))
    yield from cut_texts(finding.notices)


def _left_out(finding: Finding, rows: Sequence[GainRow]) -> Iterator[Statement]:
    """Segments without a paraphrase, and paraphrases that are outputs of those who are judged."""
    firsts: dict[tuple[str, str], GainRow] = {}
    for row in rows:
        firsts.setdefault((row.test_set, row.method), row)
    missing = [
        f"{row.without:,} of {counted(row.without + row.segments)} have no paraphrase"
        f" ({_heads([row])})"
        for row in firsts.values()
        if row.without > _MISSING * (row.without + row.segments)
    ]
    if missing:
        yield _NO_PARAPHRASE.said(missing=listed(missing))
    edits = dict.fromkeys(row.test_set for row in rows if row.edits)
    if edits:
        yield _EDITS.said(sets=listed(list(edits)))
    for row in firsts.values():
        if row.outputs >= _OWN_OUTPUTS:
            share = f"{row.outputs:.0%}"
            yield _OUTPUTS.said(finding.positions([row]), share=share, method=_heads([row]))


def _largest(rows: Sequence[R]) -> list[R]:
    """The rows of the most paraphrases of each method."""
    most: dict[tuple[str, str], int] = {}
    for row in rows:
        key = row.test_set, row.method
        most[key] = max(most.get(key, 0), row.paraphrases)
    return [row for row in rows if row.paraphrases == most[row.test_set, row.method]]


def _heads(rows: Sequence[GainRow]) -> str:
    return listed(list(dict.fromkeys(f"{row.method} on {row.test_set}" for row in rows)))


def _placeholders(finding: Finding, row: GainRow | SegmentGainRow) -> dict[str, Any]:
    """What a sentence says of a gain whatever it is of."""
    several = len({every.test_set for every in finding.records(GainRow)}) > 1
    number_of = counted(row.paraphrases, "paraphrase")
    on = f" on {row.test_set}" if several else ""
    return {
        "metric": titles_of(finding)[row.metric],
        "more": row.direction,
        "paraphrases": f"{number_of} of each reference ({row.method}){on}",
        "size": row.size,
    }


def _gained(finding: Finding, row: GainRow, p: float, *, several: bool) -> Statement:
    """Over systems; decided where the interval and Williams's test, two-sided, agree."""
    tested = "" if np.isnan(p) else f", {'corrected ' if several else ''}{p_value(p)}"
    parts = _placeholders(finding, row) | {"facts": f"{row.sides}{tested}"}
    position = finding.positions([row])
    if row.excludes_zero and p <= _ALPHA:
        return _AGREES.said(position, level=row.direction, **parts)
    return _AGREES_ALIKE.said(position, **parts)


def _over_segments(finding: Finding, left_out: Sequence[GainRow]) -> Iterator[Statement]:
    """Over segments: by rankings where people ranked, else by Pearson."""
    out = {(row.test_set, row.method) for row in left_out}
    chosen: dict[tuple[str, str, str], SegmentGainRow] = {}
    for row in _largest(finding.records(SegmentGainRow)):
        if (row.test_set, row.method) not in out:
            key = row.test_set, row.metric, row.method
            if key not in chosen or row.statistic == "darr":
                chosen[key] = row
    rows = [row for row in chosen.values() if row.gain is not None]
    corrected = stats.holm([np.nan if row.p is None else row.p for row in rows])
    for row, p in list(zip(rows, corrected.tolist(), strict=True))[:_IN_FULL]:
        over = f"{row.n:,} {'ranked pairs' if row.statistic == 'darr' else 'scores'}"
        tested = "" if np.isnan(p) else f", {'corrected ' if len(rows) > 1 else ''}{p_value(p)}"
        if row.interval == "documents":
            over += f" in {counted(row.drawn or 0, 'document')}"
            if (row.drawn or 0) < LEAST_DOCUMENTS:
                tested = f", too few for an interval: {LEAST_DOCUMENTS} are needed"
        parts = _placeholders(finding, row) | {
            "facts": f"{_STATISTICS[row.statistic]}, {over}{tested}"
        }
        position = finding.positions([row])
        if row.excludes_zero and p <= _ALPHA:
            yield _BY_SEGMENT.said(position, level=row.direction, **parts)
        else:
            yield _BY_SEGMENT_ALIKE.said(position, **parts)


_STATISTICS = {"darr": "DaRR", "pearson": "Pearson", "kendall_b": "Kendall"}
