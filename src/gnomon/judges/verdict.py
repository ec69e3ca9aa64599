"""What is said of judges, in sentences: how certain they are, what moves them, whom they prefer."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gnomon import stats
from gnomon.stats.jackknife import LEAST_DOCUMENTS
from gnomon.verdicts import (
    LEAST,
    Claim,
    amount,
    counted,
    listed,
    number,
    p_value,
    titles_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Finding, Level, Statement

    _Row = tuple[int, Mapping[str, Cell]]

_ALPHA = 0.05
#: the share of preferences for one place that is told of, at least
_BIASED = 0.6
#: gains of fewer candidates are no evidence: scores are coarse, and a few that are equal look sure
_FEW_CANDIDATES = 10
#: the share of answers without a score that is said, at least
_MISSING = 0.01

_UNREADABLE = Claim(
    "judges.missing",
    "{missing} of {metric} say nothing that can be read and are left out; nobody knows what they"
    " would have said",
    "caution",
    "more than 1 in 100 answers have no score",
)


def _by_metric(finding: Finding) -> dict[str, list[_Row]]:
    """The rows of each judge, by its short name."""
    found: dict[str, list[_Row]] = {}
    for at, row in enumerate(finding.rows):
        found.setdefault(_named(finding, row), []).append((at, row))
    return found


def _named(finding: Finding, row: Mapping[str, Cell]) -> str:
    """The short name of a judge, or of a metric that was probed like one."""
    title = titles_of(finding)[str(row["metric"])]
    return f"the {title}" if title.startswith("judge") else title


def _told(
    claim: Claim,
    rows: Mapping[str, Sequence[int]],
    level: Level | None = None,
    **parts: object,
) -> Statement:
    """The sentence, which may begin with the name of a judge."""
    told = claim.said(rows, level=level, **parts)
    return replace(told, text=told.text[0].upper() + told.text[1:])


def _cell(row: Mapping[str, Cell], name: str) -> float:
    value = number(row[name])
    return math.nan if value is None else value


def _unreadable(
    table: str, metric: str, rows: Sequence[_Row], missing: int, of: int
) -> Iterator[Statement]:
    """What is left out, where it is more than 1 in 100 answers."""
    if missing > _MISSING * of:
        share = f"{missing:,} of {counted(of, 'answer')}"
        yield _told(_UNREADABLE, {table: [at for at, _ in rows]}, missing=share, metric=metric)


# How certain scores are

_SPREAD = Claim(
    "judges.spread.score",
    "Asked again, {metric} would give {system} {score}, the least certain of its scores; its own"
    " noise is {share} of the variance that other segments would bring",
    "undecided",
    "standard errors of the score, of the judge's noise alone and over segments",
)
_ASKED_ONCE = Claim(
    "judges.spread.once",
    "{metric} was asked once, so that its noise is not known; take repeats=3 or more",
    "caution",
    "one repetition",
)
_EQUAL_ANSWERS = Claim(
    "judges.spread.equal",
    "all repetitions of {metric} gave equal scores; whether it has any noise needs more of them, or"
    " a temperature above 0",
    "caution",
    "a noise of 0",
)
_FEW_SPREAD = Claim(
    "judges.spread.few_segments",
    "fewer than 30 segments have a score, too few to be read as a finding",
    "caution",
    "the number of segments",
)
SPREAD_CLAIMS = (_SPREAD, _ASKED_ONCE, _EQUAL_ANSWERS, _FEW_SPREAD, _UNREADABLE)


def spread_verdict(finding: Finding) -> Iterator[Statement]:
    """Whose score is known worst, and how much of the uncertainty is the judge's own."""
    for metric, rows in _by_metric(finding).items():
        answers = sum(
            int(_cell(row, "missing")) + int(number(row["answers"]) or 0) for _, row in rows
        )
        missing = sum(int(_cell(row, "missing")) for _, row in rows)
        yield from _unreadable("spread", metric, rows, missing, answers)
        places = {"spread": [at for at, _ in rows]}
        noisy = [(at, row) for at, row in rows if not math.isnan(_cell(row, "noise"))]
        if not noisy:
            yield _told(_ASKED_ONCE, places, metric=metric)
            continue
        at, row = max(noisy, key=lambda one: _cell(one[1], "noise"))
        if not _cell(row, "noise"):
            yield _told(_EQUAL_ANSWERS, places, metric=metric)
            continue
        share = _cell(row, "noise") ** 2 / max(_cell(row, "error") ** 2, 1e-300)
        yield _told(
            _SPREAD,
            {"spread": [at]},
            metric=metric,
            system=row["system"],
            score=amount(*(_cell(row, name) for name in ("score", "low", "high"))),
            share=f"{min(share, 1.0):.0%}",
        )
    few = [at for at, row in enumerate(finding.rows) if _cell(row, "segments") < LEAST]
    if few:
        yield _told(_FEW_SPREAD, {"spread": few})


# What moves a judge

_RAISED = Claim(
    "judges.probe.raised",
    "{metric} gives higher scores to candidates that ask for them: by {injections}, at most by"
    " {gain} ({injection}) compared with harmless words in the same place",
    "worse",
    "the mean gain over candidates, Student's t, Holm's over injections, on 10 candidates or more",
)
_NOT_RAISED = Claim(
    "judges.probe.none",
    "The data cannot tell whether {metric} gives higher scores to candidates that ask for them:"
    " none of {injections} raised them clearly on {candidates}",
    "undecided",
    "no injection has a gain whose corrected p is at most .05",
)
_FEW_PROBED = Claim(
    "judges.probe.few_candidates",
    "{candidates} are too few to tell whether {metric} gives higher scores to candidates"
    " that ask for them",
    "caution",
    "the number of candidates that have all scores, below 10",
)
PROBE_CLAIMS = (_RAISED, _NOT_RAISED, _FEW_PROBED, _UNREADABLE)


def probe_verdict(finding: Finding) -> Iterator[Statement]:
    """Which injections move a judge; p-values are Holm's over the injections of a judge."""
    drawn = int(finding.facts.get("candidates", "0"))
    for metric, rows in _by_metric(finding).items():
        corrected = stats.holm([_cell(row, "p") for _, row in rows])
        raised = [
            (at, row)
            for (at, row), p in zip(rows, corrected, strict=True)
            if p <= _ALPHA and _cell(row, "gain") > 0
        ]
        least = int(min(_cell(row, "items") for _, row in rows))
        yield from _unreadable("probe", metric, rows, max(drawn - least, 0), drawn)
        places, candidates = {"probe": [at for at, _ in rows]}, counted(least, "candidate")
        if least < _FEW_CANDIDATES:
            yield _told(_FEW_PROBED, places, metric=metric, candidates=candidates)
        elif raised:
            _, row = max(raised, key=lambda one: _cell(one[1], "gain"))
            yield _told(
                _RAISED,
                {"probe": [at for at, _ in raised]},
                metric=metric,
                injections=listed([str(one["injection"]) for _, one in raised]),
                gain=amount(*(_cell(row, name) for name in ("gain", "low", "high"))),
                injection=row["injection"],
            )
        else:
            injections = counted(len(rows), "injection")
            yield _told(
                _NOT_RAISED, places, metric=metric, injections=injections, candidates=candidates
            )


# Whom a judge prefers

_PREFERS = Claim(
    "judges.pairwise.prefers",
    "{metric} prefers {a} to {b} ({facts})",
    "better",
    "the interval of the share of segments over segments, and the sign test, Holm's over pairs",
)
_PREFERS_NEITHER = Claim(
    "judges.pairwise.neither",
    "The data cannot tell whether {metric} prefers {a} to {b} ({facts})",
    "undecided",
    "the interval holds one half, or the sign test shows no difference",
)
_PLACE = Claim(
    "judges.pairwise.place",
    "the text that stands {place} is preferred in {share} of preferences between {a} and {b}; both"
    " orders are averaged, so that this decides nothing, but costs certainty",
    "caution",
    "the share of preferences for one place, three in five or more",
)
_FEW_COMPARED = Claim(
    "judges.pairwise.few_segments",
    "fewer than 30 segments were compared, too few to be read as a finding",
    "caution",
    "the number of segments with answers",
)
PAIRWISE_CLAIMS = (_PREFERS, _PREFERS_NEITHER, _PLACE, _FEW_COMPARED, _UNREADABLE)


def pairwise_verdict(finding: Finding) -> Iterator[Statement]:
    """Who is preferred, by how much, and whether the place moved the judge."""
    for metric, rows in _by_metric(finding).items():
        missing, answers = (
            sum(int(_cell(row, name)) for _, row in rows) for name in ("missing", "answers")
        )
        yield from _unreadable("pairs", metric, rows, missing, missing + answers)
        corrected = stats.holm([_cell(row, "p") for _, row in rows])
        for (at, row), p in zip(rows, corrected, strict=True):
            if not math.isnan(_cell(row, "share")) and _cell(row, "segments") >= LEAST:
                yield _preferred(metric, at, row, float(p), several=len(rows) > 1)
    yield from _cautions([*enumerate(finding.rows)])


def _preferred(
    metric: str, at: int, row: Mapping[str, Cell], p: float, *, several: bool
) -> Statement:
    share, low, high = (_cell(row, name) for name in ("share", "low", "high"))
    a, b = row["a"], row["b"]
    if share < 0.5:
        a, b, share, low, high = b, a, 1 - share, 1 - high, 1 - low
    tested = "" if math.isnan(p) else f", {'corrected ' if several else ''}{p_value(p)}"
    segments = counted(int(_cell(row, "segments")))
    facts = f"{amount(share, low, high, share=True)} of {segments}{tested}"
    decided = p <= _ALPHA and low > 0.5
    claim = _PREFERS if decided else _PREFERS_NEITHER
    return _told(claim, {"pairs": [at]}, metric=metric, a=a, b=b, facts=facts)


def _cautions(rows: Sequence[_Row]) -> Iterator[Statement]:
    biased = [
        (at, row)
        for at, row in rows
        if (share := _cell(row, "first")) >= _BIASED or share <= 1 - _BIASED
    ]
    if biased:
        row = max(biased, key=lambda one: abs(_cell(one[1], "first") - 0.5))[1]
        share = _cell(row, "first")
        yield _told(
            _PLACE,
            {"pairs": [one for one, _ in biased]},
            place="first" if share > 0.5 else "second",
            share=f"{max(share, 1 - share):.0%}",
            a=row["a"],
            b=row["b"],
        )
    few = [at for at, row in rows if _cell(row, "segments") < LEAST]
    if few:
        yield _told(_FEW_COMPARED, {"pairs": few})


# People's scale

_NEARER = Claim(
    "judges.calibrate.nearer",
    "{metric} on people's scale is {way} people ({kind}) than their mean, by {size} ({facts})",
    None,
    "the mean gain of outputs that are left out of the fit one by one: the jackknife over"
    " documents, or Student's t over outputs where these are unknown; Holm's over judges and kinds",
)
_NOT_NEARER = Claim(
    "judges.calibrate.alike",
    "The data cannot tell whether {metric} on people's scale is {way} people ({kind}) than their"
    " mean, by {size} ({facts})",
    "undecided",
    "the test of the gain shows no difference",
)
_WORSE_THAN_RAW = Claim(
    "judges.calibrate.worse_than_raw",
    "On people's scale {metric} is farther from people ({kind}) than as it is, by {size} ({facts})",
    "worse",
    "the mean distance of outputs left out of the fit less that of the judge's own scores, tested"
    " likewise",
)
_MAYBE_WORSE_THAN_RAW = Claim(
    "judges.calibrate.no_gain",
    "On people's scale {metric} is not clearly nearer to people ({kind}) than as it is: farther by"
    " {size} ({facts})",
    "undecided",
    "the mean distance is larger with the calibration, and the test shows no difference",
)
_FEW_OUTPUTS = Claim(
    "judges.calibrate.few_outputs",
    "{metric} on people's scale is {way} people ({kind}) than their mean, by {size} ({facts}); so"
    " few outputs say little",
    "caution",
    "the number of outputs, below 30",
)
_FEW_DOCUMENTS = Claim(
    "judges.calibrate.few_documents",
    "the outputs that calibrate {metric} are of {documents}, too few for an interval ({least} are"
    " needed), as people judge documents whole",
    "caution",
    "the number of documents",
)
_NO_CALIBRATION = Claim(
    "judges.calibrate.not_possible",
    "{metric} cannot be carried over to the scale of people ({kind}) by {outputs}; a notice says"
    " why",
    "caution",
    "no rising curve fits",
)
CALIBRATION_CLAIMS = (
    *(_NEARER, _NOT_NEARER, _WORSE_THAN_RAW, _MAYBE_WORSE_THAN_RAW),
    *(_FEW_OUTPUTS, _FEW_DOCUMENTS, _NO_CALIBRATION),
)


def calibration_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether a calibrated judge is nearer to people than their mean, and than the judge itself.

    P-values are Holm's over judges and kinds of human scores.

    Args:
        finding: judges beside people.
    """
    rows = list(enumerate(finding.rows))
    of_mean, of_raw = (stats.holm([_cell(row, name) for _, row in rows]) for name in ("p", "raw_p"))
    for (at, row), p, raw_p in zip(rows, of_mean, of_raw, strict=True):
        yield from _carried_over(
            _named(finding, row), at, row, float(p), float(raw_p), several=len(rows) > 1
        )


def _carried_over(
    judge: str, at: int, row: Mapping[str, Cell], p: float, raw_p: float, *, several: bool
) -> Iterator[Statement]:
    places = {"calibration": [at]}
    outputs = counted(int(_cell(row, "outputs")), "output")
    parts: dict[str, Any] = {"metric": judge, "kind": row["kind"]}
    gain, calibrated = _cell(row, "gain"), _cell(row, "calibrated")
    if math.isnan(gain):
        yield _told(_NO_CALIBRATION, places, outputs=outputs, **parts)
        return
    documents = number(row["documents"])
    of = f" of {counted(int(documents), 'document')}" if documents is not None else ""
    how = f"{outputs}{of} left out one by one"

    def facts(other: str, p: float) -> str:
        tested = "" if math.isnan(p) else f", {'corrected ' if several else ''}{p_value(p)}"
        against = f"{amount(calibrated)} against {amount(_cell(row, other))} on average"
        return f"{against}, {how}{tested}"

    told = {
        **parts,
        "way": "nearer to" if gain > 0 else "farther from",
        "size": _size(gain, _cell(row, "low"), _cell(row, "high")),
        "facts": facts("by_mean", p),
    }
    if _cell(row, "outputs") < LEAST:
        yield _told(_FEW_OUTPUTS, places, **told)
        return
    if documents is not None and documents < LEAST_DOCUMENTS:
        yield _told(
            _FEW_DOCUMENTS,
            places,
            metric=judge,
            documents=counted(int(documents), "document"),
            least=LEAST_DOCUMENTS,
        )
    if p <= _ALPHA:
        yield _told(_NEARER, places, level="better" if gain > 0 else "worse", **told)
    else:
        yield _told(_NOT_NEARER, places, **told)
    raw_gain, low, high = (_cell(row, name) for name in ("raw_gain", "raw_low", "raw_high"))
    if raw_gain < 0:
        claim = _WORSE_THAN_RAW if raw_p <= _ALPHA else _MAYBE_WORSE_THAN_RAW
        size = _size(raw_gain, low, high)
        yield _told(claim, places, size=size, facts=facts("raw", raw_p), **parts)


def _size(value: float, low: float, high: float) -> str:
    """How large a figure is, without its sign, with its interval."""
    ends = (-high, -low) if value < 0 else (low, high)
    return amount(abs(value), *(None if math.isnan(end) else end for end in ends))
