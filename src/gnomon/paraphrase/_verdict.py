"""What is said of paraphrases, in sentences: what they bring, match, and keep of the meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon import stats
from gnomon.stats.jackknife import LEAST_DOCUMENTS
from gnomon.verdicts import (
    CUT,
    LEAST,
    Claim,
    amount,
    counted,
    cut_texts,
    listed,
    metric_title,
    number,
    p_value,
    titles_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Finding, Level, Statement

_ALPHA = 0.05
#: correlations over so many systems or fewer say little
_FEW_SYSTEMS = 4
_IN_FULL = 3
_GAIN = ("gain", "gain_low", "gain_high")
#: the share of segments without what is compared that is said, at least
_MISSING = 0.01
#: the share of paraphrases that are outputs of judged systems from which no gain is told
_OWN_OUTPUTS = 0.5

_Row = tuple[int, "Mapping[str, Cell]"]

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
    rows = _largest(finding, "gain")
    yield from _left_out(rows)
    own = [
        one for one in rows if (number(one[1]["outputs"]) or 0) >= _OWN_OUTPUTS or one[1]["edits"]
    ]
    known = [one for one in rows if number(one[1]["gain"]) is not None and one not in own]
    few = [one for one in known if (number(one[1]["n"]) or 0) <= _FEW_SYSTEMS]
    bare = [one for one in known if (number(one[1]["segments"]) or 0) < LEAST]
    sound = [one for one in known if one not in few and one not in bare]
    p = [number(row["p"]) for _, row in sound]
    corrected = stats.holm([np.nan if one is None else 2 * min(one, 1 - one) for one in p])
    told = [
        _gained(finding, one, float(q), several=len(sound) > 1)
        for one, q in zip(sound, corrected, strict=True)
    ]
    yield from sorted(told, key=lambda one: one.level == "undecided")
    yield from _over_segments(finding, [*bare, *own])
    if few:
        yield _FEW_JUDGED.said({"gain": [at for at, _ in few]}, of=_heads(few))
    if bare:
        yield _FEW_SEGMENTS.said(_at("gain", bare), of=_heads(bare))
    yield from cut_texts(finding.notices)


def _left_out(rows: Sequence[_Row]) -> Iterator[Statement]:
    """Segments without a paraphrase, and paraphrases that are outputs of those who are judged."""
    seen: dict[tuple[Cell, Cell], _Row] = {}
    for one in rows:
        seen.setdefault((one[1]["test_set"], one[1]["method"]), one)
    missing, shares = [], {}
    for key, (_, row) in seen.items():
        bare, there = (int(number(row[name]) or 0) for name in ("without", "segments"))
        if bare > _MISSING * (bare + there):
            of = f"{bare:,} of {counted(bare + there)}"
            missing.append(f"{of} have no paraphrase ({_heads([seen[key]])})")
        share = number(row["outputs"]) or 0
        if share >= _OWN_OUTPUTS:
            shares[key] = share
    if missing:
        yield _NO_PARAPHRASE.said(missing=listed(missing))
    edits = dict.fromkeys(str(row["test_set"]) for _, row in rows if row["edits"])
    if edits:
        yield _EDITS.said(sets=listed(list(edits)))
    for key, share in shares.items():
        yield _OUTPUTS.said(
            _at("gain", [seen[key]]), share=f"{share:.0%}", method=_heads([seen[key]])
        )


def _largest(finding: Finding, name: str) -> list[_Row]:
    """The rows of the most paraphrases of each method."""
    if all(table.name != name for table in finding.tables):
        return []
    rows = list(enumerate(finding.table(name).rows))
    most: dict[tuple[Cell, Cell], float] = {}
    for _, row in rows:
        key = row["test_set"], row["method"]
        most[key] = max(most.get(key, 0), number(row["paraphrases"]) or 0)
    return [
        (at, row) for at, row in rows if row["paraphrases"] == most[row["test_set"], row["method"]]
    ]


def _head(finding: Finding, row: Mapping[str, Cell]) -> str:
    n = counted(int(number(row["paraphrases"]) or 0), "paraphrase")
    sets = {one["test_set"] for one in finding.rows}
    place = f" on {row['test_set']}" if len(sets) > 1 else ""
    return f"{n} of each reference ({row['method']}){place}"


def _heads(rows: Sequence[_Row]) -> str:
    return listed(list(dict.fromkeys(f"{row['method']} on {row['test_set']}" for _, row in rows)))


def _gained(finding: Finding, one: _Row, p: float, *, several: bool) -> Statement:
    """Over systems; decided where the interval and Williams's test, two-sided, agree."""
    at, row = one
    gain, low, high = (number(row.get(name)) for name in _GAIN)
    gain = gain or 0.0
    tested = "" if np.isnan(p) else f", {'corrected ' if several else ''}{p_value(p)}"
    parts: dict[str, Any] = {
        "metric": titles_of(finding)[str(row["metric"])],
        "more": "better" if gain > 0 else "worse",
        "paraphrases": _head(finding, row),
        "size": _size(gain, low, high),
        "facts": (
            f"r = {amount(number(row['value']) or 0.0, share=True)} against"
            f" {amount(number(row['base']) or 0.0, share=True)} over"
            f" {counted(int(number(row['n']) or 0), 'system')}{tested}"
        ),
    }
    clear = low is not None and high is not None and not low <= 0 <= high
    if clear and p <= _ALPHA:
        return _AGREES.said({"gain": [at]}, level="better" if gain > 0 else "worse", **parts)
    return _AGREES_ALIKE.said({"gain": [at]}, **parts)


def _size(value: float, low: float | None, high: float | None) -> str:
    """How large a figure is, without its sign, with its interval."""
    if value < 0 and low is not None and high is not None:
        low, high = -high, -low
    return amount(abs(value), low, high, share=True)


def _over_segments(finding: Finding, left_out: Sequence[_Row]) -> Iterator[Statement]:
    """Over segments: by rankings where people ranked, else by Pearson."""
    out = {(row["test_set"], row["method"]) for _, row in left_out}
    parts: dict[tuple[Cell, ...], list[_Row]] = {}
    for at, row in _largest(finding, "segments"):
        if (row["test_set"], row["method"]) not in out:
            key = row["test_set"], row["metric"], row["method"]
            parts.setdefault(key, []).append((at, row))
    chosen = [
        next((one for one in rows if one[1]["statistic"] == "darr"), rows[0])
        for rows in parts.values()
    ]
    chosen = [one for one in chosen if number(one[1]["gain"]) is not None]
    p = [number(row["p"]) for _, row in chosen]
    corrected = stats.holm([np.nan if one is None else one for one in p])
    for (at, row), q in list(zip(chosen, corrected.tolist(), strict=True))[:_IN_FULL]:
        gain, low, high = (number(row.get(name)) for name in _GAIN)
        n = int(number(row["n"]) or 0)
        over = f"{n:,} {'ranked pairs' if row['statistic'] == 'darr' else 'scores'}"
        groups = int(number(row["drawn"]) or 0)
        tested = "" if np.isnan(q) else f", {'corrected ' if len(chosen) > 1 else ''}{p_value(q)}"
        if row["interval"] == "documents":
            over += f" in {counted(groups, 'document')}"
            if groups < LEAST_DOCUMENTS:
                tested = f", too few for an interval: {LEAST_DOCUMENTS} are needed"
        told: dict[str, Any] = {
            "metric": titles_of(finding)[str(row["metric"])],
            "more": "better" if (gain or 0) > 0 else "worse",
            "paraphrases": _head(finding, row),
            "size": _size(gain or 0.0, low, high),
            "facts": f"{_STATISTICS[str(row['statistic'])]}, {over}{tested}",
        }
        if low is not None and high is not None and not low <= 0 <= high and q <= _ALPHA:
            level: Level = "better" if low > 0 else "worse"
            yield _BY_SEGMENT.said({"segments": [at]}, level=level, **told)
        else:
            yield _BY_SEGMENT_ALIKE.said({"segments": [at]}, **told)


_STATISTICS = {"darr": "DaRR", "pearson": "Pearson", "kendall_b": "Kendall"}


# Half splits

_HALF_SPLITS = Claim(
    "paraphrase.half_splits.gain",
    "Paraphrases that other systems ask for change the agreement of {metric} with people by {mean}"
    " in r on average, from {least} to {greatest} over {splits}. Splits share their systems, so"
    " that nothing was tested",
    "undecided",
    "the gains over splits; nothing is tested",
)
HALF_SPLITS_CLAIMS = (_HALF_SPLITS,)


def half_splits_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether paraphrases that some systems ask for help to judge others; nothing is tested."""
    for at, row in enumerate(finding.rows):
        ends = [number(row[name]) for name in ("gain", "least", "greatest")]
        if None in ends:
            continue
        mean, least, greatest = (_signed(one or 0.0) for one in ends)
        yield _HALF_SPLITS.said(
            {finding.tables[0].name: [at]},
            metric=titles_of(finding)[str(row["metric"])],
            mean=mean,
            least=least,
            greatest=greatest,
            splits=counted(int(number(row["splits"]) or 0), "split"),
        )


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{amount(value, share=True)}"


# Coverage, diversity, adequacy

_MATCHES = Claim(
    "paraphrase.coverage.matches",
    "With paraphrases, references match {shares}. More matches need not mean better agreement with"
    " people: gnomon paraphrase gain tests that",
    "undecided",
    "counts of matched n-grams",
)
COVERAGE_CLAIMS = (_MATCHES,)


def coverage_verdict(finding: Finding) -> Iterator[Statement]:
    """How many more of the systems' words references match, and what they miss most."""
    shares = []
    for row in finding.rows:
        before, now = number(row["precision"]), number(row["wider"])
        if before is not None and now is not None and row["n"] in (1, 4):
            of = "words" if row["n"] == 1 else f"sequences of {row['n']} words"
            shares.append(f"{now:.1%} of the {of} of the systems, {before:.1%} without them")
    if shares:
        rows = {finding.tables[0].name: range(len(finding.rows))}
        yield _MATCHES.said(rows, shares="; ".join(shares))


#: what measures of diversity are called in sentences
_DIVERSITY = {
    "lexical": "Diversity of words",
    "lexical-tokens": "Diversity of words, repeated ones counted",
    "syntactic": "Diversity of sentence structures",
}
_DIVERSE = Claim(
    "paraphrase.diversity.sets",
    "{measure} (0: all alike, 1: nothing in common): {sets}. Nothing was tested",
    "undecided",
    "means over segments; nothing is tested",
)
_FEW_DIVERSE = Claim(
    "paraphrase.diversity.few_segments",
    "{measure} (0: all alike, 1: nothing in common): {sets}; so few segments say little",
    "caution",
    "a set has fewer than 30 segments",
)
DIVERSITY_CLAIMS = (_DIVERSE, _FEW_DIVERSE)


def diversity_verdict(finding: Finding) -> Iterator[Statement]:
    """Which set differs most within itself, by each measure."""
    for measure in dict.fromkeys(row["measure"] for row in finding.rows):
        rows = [
            (at, row)
            for at, row in enumerate(finding.rows)
            if row["measure"] == measure and number(row["value"]) is not None
        ]
        rows.sort(key=lambda one: -(number(one[1]["value"]) or 0.0))
        if not rows:
            continue
        told = [
            f"{row['set']} {amount(number(row['value']) or 0.0, share=True)}"
            f" ({counted(int(number(row['n']) or 0))})"
            for _, row in rows
        ]
        few = any((number(row["n"]) or 0) < LEAST for _, row in rows)
        what = _DIVERSITY.get(str(measure), f"Diversity by {measure}")
        yield (_FEW_DIVERSE if few else _DIVERSE).said(
            _at(finding.tables[0].name, rows),
            measure=what[0].lower() + what[1:] if few else what,
            sets=listed(told),
        )


_NEAREST = Claim(
    "paraphrase.adequacy.nearest",
    "Paraphrases by {best} are nearest to the references: {methods} by {measure}, mean over the"
    " paraphrases",
    "better",
    "the intervals of the first two methods over segments do not overlap, and both paraphrase the"
    " same segments",
)
_NEAR_ALIKE = Claim(
    "paraphrase.adequacy.alike",
    "The data cannot tell which paraphrases keep the meaning best: {methods} by {measure}, mean"
    " over the paraphrases",
    "undecided",
    "the intervals of the first two methods overlap",
)
_NEAR = Claim(
    "paraphrase.adequacy.one",
    "How well paraphrases keep the meaning: {methods} by {measure}, mean over the paraphrases."
    " Nothing is there to compare it with",
    "undecided",
    "the mean of the only method",
)
_OTHER_SEGMENTS = Claim(
    "paraphrase.adequacy.other_segments",
    "{methods} by {measure} cannot be compared: {missing}",
    "caution",
    "more than 1 in 100 of the segments that a method paraphrases lack paraphrases of another",
)
_FEW_ADEQUATE = Claim(
    "paraphrase.adequacy.few_segments",
    "{methods}: fewer than 30 segments have a paraphrase, too few to compare",
    "caution",
    "the number of segments with a paraphrase of the method",
)
ADEQUACY_CLAIMS = (_NEAREST, _NEAR_ALIKE, _NEAR, _OTHER_SEGMENTS, _FEW_ADEQUATE)


def adequacy_verdict(finding: Finding) -> Iterator[Statement]:
    """How well the paraphrases of each method keep the meaning, and which are apart."""
    for measure in dict.fromkeys(row["measure"] for row in finding.rows):
        rows = [
            (at, row)
            for at, row in enumerate(finding.rows)
            if row["measure"] == measure and number(row["value"]) is not None
        ]
        few = [one for one in rows if (number(one[1]["segments"]) or 0) < LEAST]
        rows = sorted(
            (one for one in rows if one not in few), key=lambda one: -(number(one[1]["value"]) or 0)
        )
        if rows:
            yield _kept(finding, str(measure), rows)
        if few:
            names = listed([str(row["method"]) for _, row in few])
            yield _FEW_ADEQUATE.said(_at(finding.tables[0].name, few), methods=names)


def _kept(finding: Finding, measure: str, rows: Sequence[_Row]) -> Statement:
    told = [
        f"{row['method']} {amount(*(number(row[name]) or 0.0 for name in _ENDS))}"
        if number(row["low"]) is not None
        else f"{row['method']} {amount(number(row['value']) or 0.0)}"
        for _, row in rows
    ]
    what = "people" if measure == "human" else metric_title(measure)
    parts: dict[str, Any] = {"methods": listed(told), "measure": what}
    places = _at(finding.tables[0].name, rows)
    if len(rows) == 1:
        return _NEAR.said(places, **parts)
    alone = [
        f"{int(number(row['alone']) or 0):,} of {counted(int(number(row['segments']) or 0))} of"
        f" {row['method']} lack paraphrases of another"
        for _, row in rows
        if (number(row["alone"]) or 0) > _MISSING * (number(row["segments"]) or 0)
    ]
    if alone:
        return _OTHER_SEGMENTS.said(places, missing=listed(alone), **parts)
    low, high = number(rows[0][1]["low"]), number(rows[1][1]["high"])
    if low is not None and high is not None and low > high:
        return _NEAREST.said(places, best=rows[0][1]["method"], **parts)
    return _NEAR_ALIKE.said(places, **parts)


_ENDS = ("value", "low", "high")


def _at(name: str, rows: Sequence[_Row]) -> dict[str, list[int]]:
    return {name: [at for at, _ in rows]}
